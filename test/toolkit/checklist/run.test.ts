import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { recordSchema, verifyRecordFile } from '../../../src/lib/checklist/index.ts';
import { GwError } from '../../../src/lib/error/index.ts';
import type { Ssh } from '../../../src/lib/net/index.ts';
import { toJUnit, toMarkdown } from '../../../src/lib/report/index.ts';
import { type CertificateAuthority, createCa } from '../../../src/lib/sim/cloud/certificates.ts';
import { checklistRunSchema } from '../../../src/lib/toolkit/checklist/checklist.result.ts';
import type { ChecklistRunOptions } from '../../../src/lib/toolkit/checklist/run-options.ts';
import { runList } from '../../checklist/kit.ts';
import { parseXml } from '../../report/xml.ts';
import { has, ownFolder } from '../kit.ts';

const list = `schema: gw/checklist/1
name: own
title: Own
purpose: To see.
phase: site
sections:
  - id: files
    title: Files
    steps:
      - { id: file, title: File, proves: Device, run: site check, expect: { valid: true }, remedy: Mend. }
  - id: people
    title: People
    needs: [files]
    steps:
      - { id: label, title: Label, proves: Device, confirm: Is it?, remedy: Mend. }
      - { id: door, title: Door, proves: Device, measure: How wide?, unit: m, expect: { value: { at-least: 0.8 } }, remedy: Mend. }
`;
const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1]);

let dir = '';
let authority: CertificateAuthority;
beforeAll(async () => {
  authority = await createCa();
});
beforeEach(async () => {
  dir = ownFolder();
  await writeFile(join(dir, 'own.yaml'), list);
  await writeFile(join(dir, 'photo.png'), png);
});

async function site(serial: string, more = ''): Promise<string> {
  const path = join(dir, `${serial}.yaml`);
  await writeFile(
    path,
    `name: Lobby ${serial}\nchassis: { host: 127.0.0.1, port: 1, serial: ${serial} }\nstateDir: ${serial}\n${more}`,
  );
  return path;
}

/** The identity of an enrolled device, as enrolment leaves it. */
async function enrolled(serial: string, name = serial): Promise<string> {
  const { keyPem, certificatePem } = await authority.issueClientPair(serial);
  const identity = { format: 'gw/identity/1', serial, endpoint: 'mqtt.example.com', region: 'eu-central-1' };
  const file = { ...identity, enrolledAt: '2026-01-02T03:04:05.000Z', keyPem, certificatePem, caPem: authority.caPem };
  await mkdir(join(dir, 'identity'), { mode: 0o700 });
  await writeFile(join(dir, 'identity', 'identity.json'), JSON.stringify(file), { mode: 0o600 });
  return await site(name, 'enrolment: { url: https://enrol.example.com, identityDir: identity }\n');
}

async function answers(text: string): Promise<string> {
  const path = join(dir, 'answers.yaml');
  await writeFile(path, text);
  return path;
}

let warnings: string[] = [];
async function run(sites: readonly [string, ...string[]], more: Partial<ChecklistRunOptions> = {}) {
  warnings = [];
  const result = await runList({
    nameOrFile: join(dir, 'own.yaml'),
    sitePaths: sites,
    onWarning: (text) => warnings.push(text),
    ...more,
  });
  return checklistRunSchema.parse(JSON.parse(JSON.stringify(result)));
}
const recordOf = async ({ record }: { record: { file: string } | null }) =>
  recordSchema.parse(JSON.parse(await readFile(record?.file ?? '', 'utf8')));
const journals = async (serial: string) =>
  (await readdir(join(dir, serial, 'checklist-runs'))).filter((name) => name.endsWith('.jsonl'));
const good = 'label: { answer: yes, initials: KM, photo: photo.png }\ndoor: 0.9\n';

describe('a run of a checklist', () => {
  test('ends with a record in the state folder, signed by the device, and leaves no journal when all is ok', async () => {
    const path = await enrolled('SN1');
    const result = await run([path], { answersPath: await answers(good) });
    expect(result).toMatchObject({ ok: true, accepted: true, leftOut: 0, resumed: false });
    expect(result.record).toMatchObject({ edition: 1, signedBy: 'SN1', attachments: 1 });
    expect(result.record?.file).toMatch(/SN1\/records\/own-SN1-\d{8}T\d{6}Z\.json$/);
    expect(warnings).toEqual([]);
    const found = await verifyRecordFile(result.record?.file ?? '', { expectedSerial: 'SN1', caPem: authority.caPem });
    expect(found).toMatchObject({ verified: true, record: { ok: true, technician: { initials: 'KM' } } });
    expect(await journals('SN1')).toEqual([]);
    const attachments = result.record?.file.replace('.json', '.files') ?? '';
    expect(await readFile(join(attachments, '001-label.png'))).toEqual(png);
    await writeFile(join(attachments, '001-label.png'), 'other');
    expect(await verifyRecordFile(result.record?.file ?? '', { caPem: authority.caPem })).toMatchObject({
      verified: false,
      verdict: 'wrong',
    });
  });

  test('without an identity the record is not signed, with a warning', async () => {
    const result = await run([await site('SN1')], { answersPath: await answers(good) });
    expect(result.record?.signedBy).toBeNull();
    expect(warnings.join()).toContain('The record is not signed');
    expect(await verifyRecordFile(result.record?.file ?? '')).toMatchObject({ verdict: 'not-checked' });
  });

  test('an identity that is broken is not reported as missing', async () => {
    const path = await enrolled('SN1');
    await writeFile(join(dir, 'identity', 'identity.json'), '{');
    const result = await run([path], { answersPath: await answers(good) });
    expect(result.record?.signedBy).toBeNull();
    expect(warnings.join()).toMatch(/not signed by SN1: .* is unusable: not valid JSON/);
    expect(warnings.at(-1)).toBe('The record is not signed: no identity on this machine can sign it.');
  });

  test('an unreadable evidence file and an unreadable earlier run are warnings', async () => {
    const path = await site('SN1');
    await writeFile(join(dir, 'evidence.jsonl'), 'none\n');
    await run([path]);
    expect(warnings.join()).toContain('cannot state which facts were verified on SN1');
    const [name = ''] = await journals('SN1');
    await writeFile(join(dir, 'SN1', 'checklist-runs', name), 'none\n');
    await run([path]);
    expect(warnings.join()).toMatch(/An earlier interrupted one could not be looked up: .* line 1 is not JSON/);
    await expect(run([path], { resume: true })).resolves.toMatchObject({ resumed: true });
  });

  test('the identity of another robot signs no record', async () => {
    const result = await run([await enrolled('SN2', 'SN1')], { answersPath: await answers(good) });
    expect(result.record?.signedBy).toBeNull();
    expect(warnings.join()).toContain('belongs to SN2, so it does not sign for SN1');
  });

  test('a resumed run keeps answers, continues open steps, and repeats named ones', async () => {
    const path = await site('SN1');
    const first = await run([path], { answersPath: await answers('label: no\n') });
    expect(first.steps.map(({ verdict }) => verdict)).toEqual(['ok', 'wrong', 'not-checked']);
    const completed: string[] = [];
    const onStep: ChecklistRunOptions['onStep'] = ({ step }) => void completed.push(step.id);
    const second = await run([path], { resume: true, onStep, answersPath: await answers('label: yes\ndoor: 0.9\n') });
    expect(completed).toEqual(['door']);
    expect(second.steps.map(({ verdict }) => verdict)).toEqual(['ok', 'wrong', 'ok']);
    completed.length = 0;
    const third = await run([path], {
      resume: true,
      onStep,
      only: ['label'],
      answersPath: await answers('label: yes\n'),
    });
    expect(completed).toEqual(['label']);
    expect(third).toMatchObject({ ok: true, resumed: true, leftOut: 0, record: { edition: 3 } });
    expect(third.steps[1]?.earlier).toEqual([expect.objectContaining({ verdict: 'wrong' })]);
    const record = await recordOf(third);
    expect(record.id).toBe((await recordOf(first)).id);
    expect(record.resumedAt).toHaveLength(2);
    await expect(run([path], { resume: true })).rejects.toMatchObject({ code: 'NOTHING_TO_RESUME', exitCode: 2 });
  });

  test('an interrupted run writes no record, unless one was named, and a new one lists what was left', async () => {
    const path = await site('SN1');
    const interrupt = new AbortController();
    const cut: Partial<ChecklistRunOptions> = {
      signal: interrupt.signal,
      onResult: ({ id }) => id === 'file' && interrupt.abort(new GwError('INTERRUPTED', 'Interrupted.')),
    };
    const result = await run([path], cut);
    expect(result).toMatchObject({ interrupted: true, ok: false, record: null });
    const named = await run([path], { resume: true, signal: AbortSignal.abort(), recordPath: join(dir, 'p.json') });
    expect(await recordOf(named)).toMatchObject({ interrupted: true, ok: false, counts: { ok: 1, notChecked: 2 } });
    const again = new AbortController();
    const fresh = { ...cut, signal: again.signal, onResult: () => again.abort() };
    await run([path], fresh);
    await run([path]);
    expect(warnings.join()).toMatch(/This is a new run\. The run of .* was interrupted after 1 step;/);
  });

  test('invalid options are reported before any question or writing', async () => {
    const path = await site('SN1');
    const ask = async () => {
      throw new Error('unexpected prompt');
    };
    await writeFile(join(dir, 'p.json'), 'mine');
    const bad = (more: Partial<ChecklistRunOptions>, code: string) =>
      expect(run([path], { ask, ...more })).rejects.toMatchObject({ code });
    await bad({ recordPath: join(dir, 'p.json') }, 'FILE_EXISTS');
    await bad({ only: ['labl'] }, 'STEP_UNKNOWN');
    await bad({ from: 'labl' }, 'STEP_UNKNOWN');
    await bad({ resume: true }, 'NOTHING_TO_RESUME');
    await bad({ answersPath: await answers('label: { answer: yes, photo: none.png }\n') }, 'ATTACHMENT_INVALID');
    await expect(run([path, path], { ask })).rejects.toMatchObject({ code: 'USAGE' });
    expect(await readFile(join(dir, 'p.json'), 'utf8')).toBe('mine');
    expect(await readdir(dir)).not.toContain('SN1');
  });

  test('a run of a changed checklist is not resumed', async () => {
    const path = await site('SN1');
    await run([path]);
    await writeFile(join(dir, 'own.yaml'), list.replace('Is it?', 'Is it not?'));
    await expect(run([path], { resume: true })).rejects.toMatchObject({ code: 'CHECKLIST_CHANGED', exitCode: 4 });
  });

  test('a part of a list is not the whole, and its needs are included', async () => {
    const result = await run([await site('SN1')], { only: ['label'], answersPath: await answers('label: yes\n') });
    expect(result).toMatchObject({ ok: false, accepted: false, leftOut: 1, counts: { ok: 2, notChecked: 1 } });
    expect(await recordOf(result)).toMatchObject({ ok: false, leftOut: true });
  });

  test('a tablet that was left open is a red line whatever the steps report', async () => {
    const path = await site('SN1');
    await mkdir(join(dir, 'SN1'));
    const at = '2026-01-02T03:04:05.000Z';
    const observed = {
      at,
      machine: { bootId: null, uptimeS: null },
      serial: null,
      bootId: null,
      androidId: null,
      mac: null,
    };
    const afterRestart = { verdict: 'not-checked', observed: null };
    const record = {
      schema: 'gw/tablet/2',
      address: { host: '127.0.0.1', port: 5555 },
      tablet: null,
      bridge: { state: 'open', why: 'asked for', isOpenUnresolved: true, isWirelessOn: false, observed, afterRestart },
      reading: null,
    };
    await writeFile(join(dir, 'SN1', 'tablet.json'), JSON.stringify(record));
    const result = await run([path], { answersPath: await answers(good) });
    expect(result).toMatchObject({ ok: false, accepted: false, counts: { ok: 3, wrong: 0 } });
    expect(result.robots[0]?.redLines).toEqual([
      expect.objectContaining({ id: 'tablet-open', detail: has('is open at') }),
    ]);
    expect(await recordOf(result)).toMatchObject({ ok: false, robots: [{ redLines: [{ id: 'tablet-open' }] }] });
  });

  test('a site file that does not exist is an error, for each robot and before the first step', async () => {
    const missing = join(dir, 'nofile.yaml');
    for (const paths of [[missing], [await site('SN1'), missing]] as [string, ...string[]][]) {
      await expect(run(paths, { answersPath: await answers(good) })).rejects.toMatchObject({
        code: 'SITE_FILE_NOT_FOUND',
        exitCode: 2,
        message: has('nofile.yaml'),
      });
    }
  });

  test('an invalid site file yields no record, and the run still reports the fault', async () => {
    const path = join(dir, 'broken.yaml');
    await writeFile(path, 'name: x\n');
    const result = await run([path], { answersPath: await answers(good) });
    expect(result).toMatchObject({ subject: null, record: null, robots: [{ site: null, serial: null, ok: false }] });
    expect(result.steps.map(({ verdict }) => verdict)).toEqual(['wrong', 'skipped', 'skipped']);
    expect(warnings.join()).toContain('No record is written');
  });
});

describe('a run through SSH', () => {
  const ssh = { where: 'technician@192.0.2.2:22' } as Ssh;

  test('does not check on this machine what only the gateway can show, and does not blame the network for it', async () => {
    const checks = ['network check', 'heartbeat check', 'enrol status', 'tunnel rehearsal'];
    const steps = checks.map((run, index) => {
      const expect = '{ verdict: ok }';
      return `  - { id: s${index}, title: T, proves: Device, run: ${run}, expect: ${expect}, remedy: Ask the IT to open 443. }`;
    });
    await writeFile(
      join(dir, 'own.yaml'),
      ['schema: gw/checklist/1', 'name: own', 'title: Own', 'purpose: To see.', 'steps:', ...steps, ''].join('\n'),
    );
    const path = await site('SN1', 'enrolment: { url: https://enrol.example.com }\n');
    const result = await run([path], { checks: { ssh, password: 'x' } });
    expect(result.steps.map(({ verdict }) => verdict)).toEqual(checks.map(() => 'not-checked'));
    for (const step of result.steps) {
      expect(step).toMatchObject({ error: { code: 'NEEDS_GATEWAY' } });
      expect(step.why).toMatch(/^Not checked: run it on the gateway\. .*not through technician@192\.0\.2\.2:22/);
      expect(step.remedy).toContain('on the gateway');
      expect(step.remedy).not.toContain('443');
    }
    expect(result.ok).toBe(false);
    const suite = parseXml(toJUnit(result)).children[0];
    expect(suite?.attributes).toMatchObject({ errors: String(checks.length), skipped: '0', failures: '0' });
  });

  test('lets a named person accept such a step', async () => {
    await writeFile(
      join(dir, 'own.yaml'),
      'schema: gw/checklist/1\nname: own\ntitle: Own\npurpose: To see.\nsteps:\n  - { id: net, title: T, proves: Device, run: network check, expect: { verdict: ok }, remedy: Ask the IT. }\n',
    );
    const asked: string[] = [];
    const result = await run([await site('SN1')], {
      checks: { ssh },
      decide: async ({ id }) => {
        asked.push(id);
        return { kind: 'accept', reason: 'checked on the gateway by hand', approvedBy: 'K. Muster' };
      },
    });
    expect(asked).toEqual(['net']);
    expect(result).toMatchObject({ ok: false, accepted: true });
  });
});

describe('several robots in one run', () => {
  test('are processed one after the other into one record, signed by the device of this gateway', async () => {
    const [one, two] = [await site('SN1'), await enrolled('SN2')];
    const questions: string[] = [];
    const result = await run([one, two], {
      onRobot: ({ serial }) => void questions.push(serial),
      answersPath: await answers(good),
      outDir: join(dir, 'out'),
    });
    expect(questions).toEqual(['SN1', 'SN2']);
    expect(result.steps.map(({ id }) => id)).toEqual([
      'SN1/file',
      'SN1/label',
      'SN1/door',
      'SN2/file',
      'SN2/label',
      'SN2/door',
    ]);
    expect(result).toMatchObject({ ok: true, subject: { site: 'Lobby SN1, Lobby SN2', serial: 'SN1, SN2' } });
    expect(result.robots.map(({ serial, ok }) => [serial, ok])).toEqual([
      ['SN1', true],
      ['SN2', true],
    ]);
    expect(result.record?.file).toMatch(/SN1\/records\/own-2-robots-/);
    const found = await verifyRecordFile(result.record?.file ?? '', { caPem: authority.caPem });
    expect(found).toMatchObject({ verified: true, record: { robots: [{ serial: 'SN1' }, { serial: 'SN2' }] } });
    expect(found.record?.attachments.map(({ name }) => name)).toEqual(['001-label.png', '002-label.png']);
    expect(result.written).toHaveLength(3);
    expect(() => parseXml(toJUnit(result))).not.toThrow();
    expect(toMarkdown(result)).toContain('SN1, SN2');
  });

  test('a run of two is resumed only with the same two', async () => {
    const [one, two] = [await site('SN1'), await site('SN2')];
    await run([one, two]);
    await expect(run([one], { resume: true })).rejects.toMatchObject({ code: 'NOTHING_TO_RESUME' });
    const result = await run([one, two], { resume: true, answersPath: await answers(good) });
    expect(result).toMatchObject({ ok: true, resumed: true });
  });
});

test('a run knows how long its rest takes once a record of this robot has every step', async () => {
  const path = await site('SN1');
  const left: (number | null)[] = [];
  const onStep: ChecklistRunOptions['onStep'] = ({ leftMs }) => void left.push(leftMs);
  // The last step was skipped in the first record, so nothing is known of it.
  await run([path], { answersPath: await answers('label: yes\n'), onStep });
  await run([path], { answersPath: await answers('label: yes\ndoor: 0.9\n'), onStep });
  expect(left).toEqual(Array(6).fill(null));
  left.length = 0;
  await run([path], { onStep });
  expect(left.every((ms) => typeof ms === 'number')).toBe(true);
  expect(left).toEqual((left as number[]).toSorted((a, b) => b - a));
  // That of another robot is not its own.
  left.length = 0;
  await run([await site('SN2', 'operator: {}\n')], { onStep });
  expect(left).toEqual([null, null, null]);
});
