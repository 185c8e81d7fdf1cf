import { access, appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { printable } from '../../../src/cli/output.ts';
import { renderEvidenceFact, renderEvidenceList, renderEvidenceRecorded } from '../../../src/cli/render/evidence.ts';
import { loadEvidenceFile } from '../../../src/lib/evidence/index.ts';
import { type Sim, startSim } from '../../../src/lib/sim/index.ts';
import {
  evidenceFactSchema,
  evidenceListSchema,
  evidenceRecordedSchema,
} from '../../../src/lib/toolkit/evidence/evidence.result.ts';
import { listEvidence, showEvidence } from '../../../src/lib/toolkit/evidence/list.ts';
import { type RecordOptions, recordEvidence } from '../../../src/lib/toolkit/evidence/record.ts';
import { openToolkit } from '../../../src/lib/toolkit/toolkit.ts';
import { context, ownFolder } from '../kit.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes are escape sequences
const plain = (text: string) => text.replace(/\u001b\[[0-9;]*m/g, '');

let dir = '';
let sitePath = '';
let path = '';
let sim: Sim;
beforeEach(async () => {
  dir = ownFolder();
  sitePath = join(dir, 'site.yaml');
  path = join(dir, 'records', 'evidence.jsonl');
  sim = await startSim({ serial: 'SN0001', software: '2.12.3' });
  await writeSite(sim.chassis.port, 'SN0001');
});
afterEach(async () => {
  await sim[Symbol.asyncDispose]();
});

const writeSite = (port: number, serial: string) =>
  writeFile(
    sitePath,
    `name: x\nchassis: { host: 127.0.0.1, port: ${port}, serial: ${serial} }\nevidenceFile: records/evidence.jsonl\n`,
  );
const live = () => ({ sitePath, siteNamed: true, live: true });

async function record(fact: string, found: RecordOptions['found'], more: Partial<RecordOptions> = {}) {
  const options = { fact, found, how: 'measured with a tape', who: 'J. Doe', ...more };
  const result = evidenceRecordedSchema.parse(await recordEvidence(await openToolkit(sitePath), options, context()));
  return { result, text: plain(renderEvidenceRecorded(result)) };
}
const show = async (id: string) => {
  const result = evidenceFactSchema.parse(await showEvidence(id, live(), context()));
  return { result, text: plain(renderEvidenceFact(result)) };
};

describe('recording a verification', () => {
  it('writes one line with serial and software from the chassis, and raises a HINWEIS', async () => {
    const { result, text } = await record('vendor.move.request', 'holds');
    expect(result).toMatchObject({
      path,
      created: true,
      records: 1,
      record: { fact: 'vendor.move.request', value: true, serial: 'SN0001', software: '2.12.3', who: 'J. Doe' },
      before: { mark: 'HINWEIS', basis: 'vendor', verdict: 'as-marked' },
      now: { mark: 'BELEGT', basis: 'simulated', verdict: 'verified' },
      movement: { before: false, usable: true },
      appliesTo: { display: 'now', gateway: 'next-start' },
    });
    expect(result.movement.orders).toContain('move');
    expect(await loadEvidenceFile(path)).toEqual([result.record]);
    expect(text.split('\n')[0]).toBe(
      'Recorded: vendor.move.request is BELEGT on a simulator on SN0001 with software 2.12.3 (HINWEIS elsewhere).',
    );
    expect(text).toContain('an order may rely on it now');
    expect(text).toContain('in a running `gw serve` it counts after a restart');
  });

  it('compares with the records that count, and `show` says which one has no seal', async () => {
    const attachment = { file: 't.json', sha256: 'a'.repeat(64), needsSeal: true };
    const about = {
      value: true,
      serial: 'SN0001',
      software: '2.12.3',
      how: 'x',
      who: 'x',
      when: '2026-01-31T12:00:00Z',
    };
    const line = JSON.stringify({ fact: 'vendor.move.request', ...about, attachment });
    await mkdir(join(dir, 'records'));
    await writeFile(path, `${line}\n`);
    const unsealed = await show('vendor.move.request');
    expect(unsealed.result).toMatchObject({ here: { verdict: 'as-marked' }, records: [{ unsealed: true }] });
    expect(unsealed.text).toContain('does not count: its trial has no seal here, so run it again');
    const { result } = await record('vendor.move.request', 'holds');
    expect(result).toMatchObject({
      records: 2,
      before: { verdict: 'as-marked' },
      now: { verdict: 'verified' },
      movement: { before: false, usable: true },
    });
    // A record of something else does not make it count either.
    await writeFile(path, `${line}\n`);
    expect((await record('vendor.move.cancel', 'holds')).result.records).toBe(2);
    expect((await show('vendor.move.request')).result.movementHere?.usable).toBe(false);
    await mkdir(join(dir, 'records', 'evidence.trials'));
    await writeFile(join(dir, 'records', 'evidence.trials', 't.json.sealed'), '');
    expect((await record('vendor.move.request', 'holds')).result.movement).toMatchObject({
      before: true,
      usable: true,
    });
    expect((await show('vendor.move.request')).text).not.toContain('does not count');
  });

  it('closes the gate for a contradicted fact, and reports it', async () => {
    const { result, text } = await record('angles.target-ori', { value: 'degrees' });
    expect(result).toMatchObject({
      now: { mark: 'BELEGT', basis: 'stated', verdict: 'contradicted' },
      movement: { before: true, usable: false },
    });
    expect(text.split('\n')[0]).toBe('Recorded: angles.target-ori is contradicted on SN0001 with software 2.12.3.');
    expect(text).toContain('no order may rely on it now');
    expect(result.appliesTo.gateway).toBe('within-a-second');
    expect(text).toContain('a running `gw serve` closes its gate within a second');
    const held = await record('angles.target-ori', 'holds');
    expect(held.result.movement).toMatchObject({ before: false, usable: true });
    expect(held.text.split('\n')[0]).toContain(
      'is BELEGT on a simulator on SN0001 with software 2.12.3, as everywhere',
    );
    expect((await record('vendor.move.request', 'does-not-hold')).result.now.verdict).toBe('contradicted');
  });

  it('raises single entries of a table, and not the rest of it', async () => {
    const { result, text } = await record('vendor.overlays.region-types', { value: '{"1": "no-go zone"}' });
    expect(result.entries).toEqual([
      {
        entry: '1',
        value: 'no-go zone',
        before: { mark: 'HINWEIS', basis: 'vendor', verdict: 'as-marked' },
        now: { mark: 'BELEGT', basis: 'simulated', verdict: 'verified' },
      },
    ]);
    expect(result.now).toEqual({ mark: 'HINWEIS', basis: 'vendor', verdict: 'in-part' });
    expect(result.movement).toMatchObject({ usable: false, why: expect.stringContaining('only part of it') });
    expect(text.split('\n')[0]).toBe(
      'Recorded: vendor.overlays.region-types 1 is BELEGT on a simulator on SN0001 with software 2.12.3 (HINWEIS elsewhere).',
    );
    const shown = await show('vendor.overlays.region-types');
    expect(shown.text).toMatch(
      / 1 {2}no-go zone {2}BELEGT on a simulator: recorded on a simulator, which is no evidence about a real robot\n/,
    );
    expect(shown.text).toMatch(/ 2 {2}slow zone\n/);
  });

  it('raises VORSICHT and OFFEN for display by a measured value, and never for movement', async () => {
    const open = await record('overlays.lane-direction-3', { value: 'driven both ways' });
    expect(open.result).toMatchObject({
      record: { value: 'driven both ways' },
      now: { mark: 'BELEGT', basis: 'simulated', verdict: 'verified' },
      movement: { before: false, usable: false, orders: [] },
    });
    expect(open.text).toContain('no order may rely on it, as before');
    const assumed = await record('overlays.point-type-11', { value: 'Delivery Point' });
    expect(assumed.result).toMatchObject({ now: { mark: 'BELEGT' }, movement: { usable: false } });
  });

  it('parses a value as JSON where it is JSON, and as text otherwise', async () => {
    const written = async (value: string) => (await record('overlays.lane-direction-3', { value })).result.record.value;
    expect(await written('-82')).toBe(-82);
    expect(await written('{"a":[1,null]}')).toEqual({ a: [1, null] });
    expect(await written('"503"')).toBe('503');
    expect(await written('0.9 m')).toBe('0.9 m');
    expect(await written('NaN')).toBe('NaN');
  });
});

describe('a record that is refused', () => {
  const refused = async (
    fact: string,
    found: RecordOptions['found'],
    code: string,
    more: Partial<RecordOptions> = {},
  ) => {
    const { length } = sim.requests();
    await expect(record(fact, found, more)).rejects.toMatchObject({ code });
    await expect(access(path)).rejects.toThrow();
    return sim.requests().length - length;
  };

  it.each(['overlays.point-type-11', 'overlays.lane-direction-3'])(
    'is a yes or no about %s, which is VORSICHT or OFFEN',
    async (id) => {
      for (const found of ['holds', 'does-not-hold', { value: 'true' }, { value: 'null' }] as const) {
        expect(await refused(id, found, 'USAGE')).toBe(0);
      }
    },
  );

  it.each([
    ['{"18":"depot"}', 'an entry that the table does not have'],
    ['{"constructor":"x"}', 'a key that every object has'],
    ['{}', 'nothing'],
    ['no-go zone', 'one word about a whole table'],
    ['["no-go zone"]', 'a list'],
    ['{"1":', 'half a JSON'],
    ['{"1":"a","1":"b"}', 'one key twice'],
  ])('is %s: %s', async (value) => {
    expect(await refused('vendor.overlays.region-types', { value }, 'USAGE')).toBe(0);
  });

  it('is about a disagreement or an unknown fact, or has no text', async () => {
    await refused('disagreement.c1-tracked-pose-unit', 'holds', 'USAGE');
    await refused('vendor.move.requst', 'holds', 'EVIDENCE_UNKNOWN');
    await refused('vendor.move.request', 'holds', 'USAGE', { who: ' ' });
    await refused('vendor.move.request', 'holds', 'USAGE', { how: 'a\nb' });
    await refused('vendor.move.request', { value: '1e999' }, 'USAGE');
  });

  it('is any on a chassis with another serial number, without one, or without an answer', async () => {
    sim.setFault('wrong-serial', true);
    await refused('vendor.move.request', 'holds', 'CHASSIS_WRONG_DEVICE');
    sim.setFault('wrong-serial', false);
    sim.setFault('no-serial', true);
    await refused('vendor.move.request', 'holds', 'CHASSIS_BAD_ANSWER');
    sim.setFault('no-serial', false);
    sim.setFault('booting', true);
    await expect(record('vendor.move.request', 'holds')).rejects.toThrow();
    await sim[Symbol.asyncDispose]();
    await refused('vendor.move.request', 'holds', 'CHASSIS_NOT_CONNECTED');
  });

  it('is any on a chassis without a software version', async () => {
    await using nameless = await startSim({ serial: 'SN0001', software: '' });
    await writeSite(nameless.chassis.port, 'SN0001');
    await refused('vendor.move.request', 'holds', 'CHASSIS_BAD_ANSWER');
  });

  it('is any while the evidence file is broken, which stays unchanged', async () => {
    await record('vendor.move.request', 'holds');
    await appendFile(path, '{"fact":');
    const broken = await readFile(path, 'utf8');
    await expect(record('vendor.move.request', 'holds')).rejects.toMatchObject({ code: 'EVIDENCE_FILE_INVALID' });
    expect(await readFile(path, 'utf8')).toBe(broken);
  });

  it('is any after Ctrl-C', async () => {
    const ending = AbortSignal.abort(new Error('Ctrl-C'));
    const options = { fact: 'vendor.move.request', found: 'holds', how: 'x', who: 'y' } as const;
    await expect(
      recordEvidence(await openToolkit(sitePath), options, { ...context(), signal: ending }),
    ).rejects.toThrow();
    await expect(access(path)).rejects.toThrow();
  });
});

describe('a record after a software change of the chassis', () => {
  it('has expired wherever the fact is shown, and counts again with its own software', async () => {
    await record('vendor.move.request', 'holds');
    expect((await show('vendor.move.request')).text.split('\n')[0]).toBe(
      'vendor.move.request is BELEGT on a simulator and HINWEIS elsewhere: recorded on a simulator, which is no evidence about a real robot.',
    );
    await using updated = await startSim({ serial: 'SN0001', software: '2.13.0' });
    await writeSite(updated.chassis.port, 'SN0001');
    const { result, text } = await show('vendor.move.request');
    expect(result).toMatchObject({
      site: { software: '2.13.0' },
      here: { mark: 'HINWEIS', basis: 'vendor', verdict: 'expired' },
      movementHere: { usable: false },
      records: [{ scope: 'expired', comparison: 'holds' }],
    });
    expect(text.split('\n')[0]).toMatch(/^vendor\.move\.request is HINWEIS: /);
    expect(text).toContain('recorded with another software version, so verify it again');
    expect(text).toContain('expired: the chassis now has another software version');
    const again = await record('vendor.move.request', 'holds');
    expect(again.result).toMatchObject({ before: { verdict: 'expired' }, now: { verdict: 'verified' }, records: 2 });
  });

  it('is in the list too: raised, contradicted, in part', async () => {
    await record('vendor.move.request', 'holds');
    await record('vendor.boot-phase', { value: '404' });
    await record('vendor.overlays.region-types', { value: '{"1":"no-go zone"}' });
    const list = evidenceListSchema.parse(await listEvidence({ mark: 'HINWEIS' }, live(), context()));
    const here = new Map(list.facts.map((fact) => [fact.id, fact.here]));
    expect(here.get('vendor.move.request')).toEqual({ mark: 'BELEGT', basis: 'simulated', verdict: 'verified' });
    expect(here.get('vendor.boot-phase')).toEqual({ mark: 'HINWEIS', basis: 'vendor', verdict: 'contradicted' });
    expect(here.get('vendor.overlays.region-types')).toEqual({ mark: 'HINWEIS', basis: 'vendor', verdict: 'in-part' });
    const text = plain(renderEvidenceList(list));
    expect(text).toContain('Records about 3 of them for chassis SN0001 with software 2.12.3.');
    expect(text).toContain('contradicted on this device with this software');
  });
});

describe('the texts of a record on the terminal', () => {
  it('contain no control characters', async () => {
    const { text } = await record(
      'overlays.lane-direction-3',
      { value: '"\\u001b]0;x\\u0007"' },
      { how: 'x\u202ey', who: 'z\u2028' },
    );
    for (const shown of [text, (await show('overlays.lane-direction-3')).text]) {
      const oneLine = shown.replaceAll('\n', ' ');
      expect(printable(oneLine)).toBe(oneLine);
      expect(shown).toContain('x\ufffdy');
    }
  });
});
