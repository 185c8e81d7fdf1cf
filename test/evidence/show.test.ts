import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { renderEvidenceFact, renderEvidenceList } from '../../src/cli/render/evidence.ts';
import { type FactFilter, facts, markText } from '../../src/lib/evidence/index.ts';
import { evidenceFactSchema, evidenceListSchema } from '../../src/lib/toolkit/evidence/evidence.result.ts';
import { listEvidence, showEvidence } from '../../src/lib/toolkit/evidence/list.ts';
import type { EvidenceSiteOptions } from '../../src/lib/toolkit/evidence/site.ts';
import { folderOfFile } from '../lifecycle/folder.ts';
import { recordOf } from './record-of.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes are escape sequences
const plain = (text: string) => text.replace(/\u001b\[[0-9;]*m/g, '');

const dir = folderOfFile();
beforeAll(async () => {
  await writeFile(join(dir, 'site.yaml'), 'name: x\nchassis: { host: robot, serial: SN0001 }\n');
  const record = recordOf('vendor.move.request', true, { how: 'tape\u2028' });
  const records = [
    record,
    { ...record, serial: 'SN0002' },
    { ...record, value: false },
    { ...record, fact: 'vendor.overlays.line-types', value: { 2: 'virtual wall', 3: 'rail' } },
    { ...record, fact: 'vendor.overlays.region-types', value: { 1: 'no-go zone' } },
    { ...record, fact: 'vendor.boot-phase', value: 503 },
  ];
  await writeFile(join(dir, 'evidence.jsonl'), records.map((line) => JSON.stringify(line)).join('\n'));
});

const nowhere = { sitePath: '/nonexistent/site.yaml', siteNamed: false, live: false };
const here = () => ({ sitePath: join(dir, 'site.yaml'), siteNamed: true, live: false });
const context = { signal: new AbortController().signal, onProgress: () => {} };
const list = (filter: FactFilter, options: EvidenceSiteOptions = nowhere) => listEvidence(filter, options, context);
const show = (id: string, options: EvidenceSiteOptions = nowhere) => showEvidence(id, options, context);

describe('listing', () => {
  it('has the published shape, and counts what it lists', async () => {
    const all = evidenceListSchema.parse(await list({}));
    expect(all.facts).toHaveLength(facts.length);
    expect(Object.values(all.counts).reduce((a, b) => a + b)).toBe(facts.length);
    expect((await list({ mark: 'VORSICHT' })).counts).toEqual({ BELEGT: 0, HINWEIS: 0, VORSICHT: 5, OFFEN: 0 });
  });

  it('states the count first, then each with mark, value, statement and source', async () => {
    const text = plain(renderEvidenceList(await list({ about: 'four times gave 0.899 m' })));
    expect(text.split('\n')[0]).toBe(`1 of ${facts.length} facts: 1 BELEGT.`);
    expect(text).toContain('BELEGT measured  overlays.charging-pair-distance = 0.899 m\n');
    expect(text).toContain("specification, 'Map and overlays'");
    expect(renderEvidenceList(await list({ about: 'nothing like this' }))).toContain('No match');
  });

  it('shows the records of each fact, and that the software was not queried', async () => {
    const listed = evidenceListSchema.parse(await list({ mark: 'HINWEIS' }, here()));
    const verdicts = new Map(listed.facts.map(({ id, here }) => [id, here?.verdict]));
    expect(verdicts.get('vendor.move.request')).toBe('not-checked');
    expect(verdicts.get('vendor.overlays.region-types')).toBe('not-checked');
    expect(verdicts.get('vendor.move.cancel')).toBe('as-marked');
    const text = plain(renderEvidenceList(listed));
    expect(text.split('\n')[1]).toBe('Records about 4 of them for chassis SN0001, software not read.');
    expect(text).toContain('HINWEIS: recorded on this device; its present software was not read (--live)');
    expect((await list({})).facts.every((fact) => fact.here === null)).toBe(true);
  });
});

describe('showing', () => {
  it.each(facts.map(({ id }) => id))('%s has the published shape and shows its mark first', async (id) => {
    const shown = evidenceFactSchema.parse(await show(id));
    const text = plain(renderEvidenceFact(shown));
    expect(text.split('\n')[0]).toMatch(new RegExp(`^${id.replaceAll('.', '\\.')} is ${markText(shown.fact)}: `));
    expect(text).toContain('there is no site file here');
    expect(text).not.toMatch(/(^|[ =])undefined($|\n)/);
  });

  it('states whether a movement may rely on it', async () => {
    for (const [id, movement] of Object.entries({
      'angles.target-ori': 'may-carry',
      'vendor.move.request': 'only-where-verified',
      'vendor.topic.tracked-pose-ori': 'never',
      'overlays.point-type-11': 'never',
      'overlays.lane-direction-3': 'never',
      'disagreement.c1-tracked-pose-unit': 'never',
    })) {
      expect((await show(id)).movement, id).toBe(movement);
    }
  });

  it('shows both sides of a disagreement and which one applies', async () => {
    const text = plain(renderEvidenceFact(await show('angles.tracked-pose-ori')));
    expect(text).toContain('Disagreement disagreement.c1-tracked-pose-unit');
    expect(text).toContain('angles.tracked-pose-ori  holds');
    expect(text).toContain('vendor.topic.tracked-pose-ori\n');
  });

  it('shows what was recorded on this site, and on which device', async () => {
    const shown = evidenceFactSchema.parse(await show('vendor.move.request', here()));
    expect(shown.records.map(({ scope, comparison }) => [scope, comparison])).toEqual([
      ['not-checked', 'holds'],
      ['foreign', 'holds'],
      ['not-checked', 'differs'],
    ]);
    expect(shown).toMatchObject({ here: { mark: 'HINWEIS', verdict: 'not-checked' }, movementHere: null });
    const text = plain(renderEvidenceFact(shown));
    expect(text).toContain('verified on SN0001 with software 2.12.3: true');
    expect(text).toContain('verified on SN0002');
    expect(text).toContain('of another device');
    expect(text).toContain('contradicted on SN0001');
    expect(text).toContain('present software not read (--live)');
    expect(text).not.toContain('\u2028');
  });

  it('shows which entries of a table were recorded', async () => {
    const shown = evidenceFactSchema.parse(await show('vendor.overlays.line-types', here()));
    expect(shown.entries).toEqual([
      { entry: '2', value: 'virtual wall', here: { mark: 'HINWEIS', basis: 'vendor', verdict: 'not-checked' } },
      { entry: '3', value: 'guide line', here: { mark: 'HINWEIS', basis: 'vendor', verdict: 'not-checked' } },
    ]);
    expect(plain(renderEvidenceFact(shown))).toMatch(/ 2 {2}virtual wall {2}HINWEIS: recorded on this device/);
  });

  it('states that nothing was recorded', async () => {
    const text = plain(renderEvidenceFact(await show('angles.pose-ori', here())));
    expect(text).toContain('No records for chassis SN0001');
  });

  it('a site file that was named must exist', async () => {
    const named = show('angles.pose-ori', { ...nowhere, siteNamed: true });
    await expect(named).rejects.toMatchObject({ code: 'SITE_FILE_NOT_FOUND' });
    const shown = show('angles.pose-ori', { ...nowhere, live: true });
    await expect(shown).rejects.toMatchObject({ code: 'SITE_FILE_NOT_FOUND' });
  });

  it.each([
    ['angles.target-orri', 'angles.target-ori'],
    ['tracked-pose-ori', 'angles.tracked-pose-ori'],
    ['__proto__', undefined],
  ])('an unknown id %s is rejected with the closest ones', async (id, near) => {
    const refused = show(id);
    await expect(refused).rejects.toMatchObject({ code: 'EVIDENCE_UNKNOWN', exitCode: 2 });
    if (near !== undefined) await expect(refused).rejects.toMatchObject({ remedy: expect.stringContaining(near) });
  });
});
