import { mkdtempSync, rmSync } from 'node:fs';
import { copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  appendRecord,
  attachmentFolder,
  type EvidenceRecord,
  loadEvidenceFile,
} from '../../../src/lib/evidence/index.ts';
import { silentLog } from '../../../src/lib/lifecycle/index.ts';
import { createTrialStore } from '../../../src/lib/motion/index.ts';
import type { TrialReport } from '../../../src/lib/motion/trial/store.ts';
import { onSite, startSupervised } from './supervised.ts';

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gw-store-'));
  path = join(dir, 'evidence.jsonl');
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

const report = {
  ...{ id: 't-1', kind: 'stop', who: 'J. Doe', when: '2026-02-01T12:00:00Z', serial: 'SN1', software: '2.12.3' },
  simulated: false,
  facts: [
    { fact: 'vendor.move.cancel', verdict: 'holds', why: 'it came to rest', value: true },
    { fact: 'vendor.move.state', verdict: 'differs', why: 'it said otherwise', value: false },
    { fact: 'vendor.move.request', verdict: 'not-decided', why: 'it was not seen', value: null },
  ],
} as const;

const spoiled = {
  ...report,
  facts: [{ fact: 'vendor.move.cancel', verdict: 'not-decided', why: 'PRESS THE EMERGENCY STOP', value: null }],
} as const;

function store(append?: typeof appendRecord) {
  const adopted: (readonly EvidenceRecord[])[] = [];
  const ledger = {
    adopt: (records: readonly EvidenceRecord[]) => void adopted.push(records),
    adoptFile: async () => ({ records: 0, adopted: [], revoked: [] }),
  };
  return { adopted, store: createTrialStore({ path, log: silentLog, ledger, ...(append && { append }) }) };
}

const verified = { ...report, facts: report.facts.filter(({ verdict }) => verdict === 'holds') };
const readReport = async (file = 't-1.json') => JSON.parse(await readFile(join(attachmentFolder(path), file), 'utf8'));

it('an alarm while a record is being written: no record counts, and the report says that it is not verified', async () => {
  let now: typeof verified | typeof spoiled = verified;
  const made = store(async (...record) => {
    const appended = await appendRecord(...record);
    now = spoiled;
    return appended;
  });
  const kept = await made.store.keep(() => now);
  expect(kept).toMatchObject({ recorded: [], problems: [] });
  expect([made.adopted.flat(), await loadEvidenceFile(path)]).toEqual([[], []]);
  expect(await readReport()).toMatchObject({ facts: spoiled.facts });
  // The next trial is recorded beside it.
  const next = store();
  expect(await next.store.keep(() => ({ ...verified, id: 't-2' }))).toMatchObject({ recorded: ['vendor.move.cancel'] });
  expect(await loadEvidenceFile(path)).toEqual(next.adopted.flat());
});

it('an alarm while a contradiction is being written is in the report, and the facts that held do not count', async () => {
  const alarm = 'PRESS THE EMERGENCY STOP';
  let now: TrialReport = { ...report, alarm: null, outcome: 'contradicted' };
  const alarmed: TrialReport = { ...now, alarm, facts: [spoiled.facts[0], report.facts[1]] };
  for (const at of [1, 2]) {
    now = { ...report, id: `t-${at}`, alarm: null, outcome: 'contradicted' };
    let count = 0;
    const made = store(async (...record) => {
      const appended = await appendRecord(...record);
      count += 1;
      if (count === at) now = { ...alarmed, id: `t-${at}` };
      return appended;
    });
    const kept = await made.store.keep(() => now);
    expect(kept).toMatchObject({ said: { alarm }, recorded: ['vendor.move.state'], problems: [] });
    expect(await readReport(`t-${at}.json`)).toMatchObject({ alarm });
    expect(made.adopted.flat().map(({ fact }) => fact)).not.toContain('vendor.move.cancel');
    // The newest line has the hash of the report with the alarm.
    expect((await loadEvidenceFile(path)).at(-1)).toMatchObject({ value: false, attachment: kept.report });
  }
});

it('an alarm is in the report also where no fact holds, and where the outcome stays as it was', async () => {
  const facts = [report.facts[2]];
  let now: TrialReport = { ...report, facts, alarm: null, outcome: 'not-decided' };
  const made = store();
  const keeping = made.store.keep(() => now);
  now = { ...now, alarm: 'PRESS THE EMERGENCY STOP' };
  expect((await keeping).said).toBe(now);
  expect(await readReport()).toMatchObject({ alarm: now.alarm });
});

it('a contradiction is written first, and ends what relies on its fact only when all of the trial is written', async () => {
  const counted: (readonly string[])[] = [];
  const made = store(async (...record) => {
    counted.push(made.adopted.flat().map(({ fact }) => fact));
    return await appendRecord(...record);
  });
  await made.store.keep(() => report);
  expect(counted).toEqual([[], []]);
  expect((await loadEvidenceFile(path)).map(({ fact }) => fact)).toEqual(['vendor.move.state', 'vendor.move.cancel']);
});

it('an evidence file without the seal of a trial verifies nothing, and its contradictions count', async () => {
  const counting = async (file: string) => (await loadEvidenceFile(file)).map(({ fact }) => fact);
  await store().store.keep(() => report);
  expect(await counting(path)).toEqual(['vendor.move.state', 'vendor.move.cancel']);
  const copy = join(dir, 'copy.jsonl');
  await copyFile(path, copy);
  expect(await counting(copy)).toEqual(['vendor.move.state']);
  await rm(join(attachmentFolder(path), 't-1.json.sealed'));
  expect(await counting(path)).toEqual(['vendor.move.state']);
  await rm(attachmentFolder(path), { recursive: true });
  expect(await counting(path)).toEqual(['vendor.move.state']);
});

it('a gateway that is killed while a record is being written has recorded no verification', async () => {
  const never = Promise.withResolvers<never>();
  const written = Promise.withResolvers<void>();
  const made = store(async (...record) => {
    await appendRecord(...record);
    written.resolve();
    return never.promise;
  });
  void made.store.keep(() => verified);
  await written.promise;
  expect(await readFile(path, 'utf8')).toContain('"vendor.move.cancel"');
  expect(await loadEvidenceFile(path)).toEqual([]);
});

it('a decided fact is in the file before it counts; an undecided one is not recorded', async () => {
  const made = store();
  const kept = await made.store.keep(() => report);
  expect(kept).toMatchObject({ recorded: ['vendor.move.cancel', 'vendor.move.state'], problems: [] });
  const written = await loadEvidenceFile(path);
  expect(made.adopted.flat()).toEqual(written.toReversed());
  expect(written.map(({ fact, value, simulated }) => [fact, value, simulated])).toEqual([
    ['vendor.move.state', false, undefined],
    ['vendor.move.cancel', true, undefined],
  ]);
  expect(written.map(({ attachment }) => attachment)).toEqual([kept.report, { ...kept.report, needsSeal: true }]);
});

it('a fact that cannot be written to the file does not count', async () => {
  await writeFile(path, 'not a record\n');
  const made = store();
  const kept = await made.store.keep(() => report);
  expect(kept.recorded).toEqual([]);
  expect(kept.problems).toEqual([expect.stringContaining('vendor.move.state could not be recorded')]);
  expect(made.adopted.flat()).toEqual([]);
  expect(await readFile(path, 'utf8')).toBe('not a record\n');
});

it('without its samples no fact is verified, and a contradicted one stays contradicted', async () => {
  await writeFile(attachmentFolder(path), 'a file where the folder should be');
  const made = store();
  const kept = await made.store.keep(() => report);
  expect(kept).toMatchObject({ report: null, recorded: ['vendor.move.state'] });
  expect(kept.problems).toEqual([expect.stringContaining('samples of the trial could not be saved')]);
  expect(made.adopted.flat()).toMatchObject([{ fact: 'vendor.move.state', value: false }]);
});

it('a trial whose samples cannot be kept is not verified', async () => {
  await using robot = await startSupervised();
  await writeFile(attachmentFolder(robot.site.evidenceFile), 'a file where the folder should be');
  const { trials } = robot.motion;
  const began = await trials.start({ kind: 'stop', who: 'J. Doe', conditions: onSite });
  // Only the client that started it can keep it alive.
  expect(trials.keepAlive(`${began.id}0`)).toBeNull();
  const ended = await robot.follow(began);
  expect(ended).toMatchObject({
    outcome: 'not-decided',
    reason: expect.stringContaining('does not count'),
    report: null,
  });
  expect([ended.recorded, robot.evidence.records()]).toEqual([[], []]);
  expect(ended.notes).toContainEqual(expect.stringContaining('samples of the trial could not be saved'));
});
