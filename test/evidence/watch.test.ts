import { execFileSync } from 'node:child_process';
import { appendFile, mkdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEvidenceWatch, type EvidenceWatch, readAtStart } from '../../src/lib/evidence/index.ts';
import { silentLog } from '../../src/lib/lifecycle/index.ts';
import { createFakeClock, type FakeClock } from '../lifecycle/fake-clock.ts';
import { folderOfEach } from '../lifecycle/folder.ts';
import { isDiskPending } from '../lifecycle/paced-clock.ts';
import { recordOf } from './record-of.ts';

/** The watch reads real files: a timer is over when what it has set off asks nothing of the disk any more. */
async function settled(): Promise<void> {
  for (let idle = 0; idle < 5; idle = isDiskPending() ? 0 : idle + 1) await nextTurn();
}
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

const line = (...made: Parameters<typeof recordOf>) => `${JSON.stringify(recordOf(...made))}\n`;
const both = line('vendor.move.request') + line('vendor.move.cancel');
const context = { signal: new AbortController().signal, fail: () => {} };

const folder = folderOfEach();
let path: string;
let clock: FakeClock;
let watch: EvidenceWatch;
let calls: number;

beforeEach(async () => {
  path = folder.at('evidence.jsonl');
  await writeFile(path, both);
  await begin();
});

afterEach(async () => {
  await watch.stop();
  expect(clock.pending).toBe(0);
});

async function begin(): Promise<void> {
  clock = createFakeClock({ settled });
  calls = 0;
  watch = createEvidenceWatch({ path, serial: 'SN0001', ...(await readAtStart(path)), clock, log: silentLog });
  watch.subscribe(() => {
    calls += 1;
  });
  await watch.start(context);
  await settled();
}

describe('a file that is unreadable at the start', () => {
  it('counts as empty and is named; once repaired, its contradictions count at once and the rest after an adoption', async () => {
    await watch.stop();
    await writeFile(path, `${both}half a rec\n`);
    await begin();
    expect(watch.records()).toEqual([]);
    expect(watch.trouble()).toContain('evidence.jsonl:3');
    expect(watch.report()).toMatchObject({ status: 'unreadable', detail: expect.stringContaining('evidence.jsonl:3') });
    await writeFile(path, both + line('vendor.move.request', false));
    await within(1_000, () => watch.trouble() === null);
    expect(watch.records().map(({ fact }) => fact)).toEqual(['vendor.move.request']);
    await watch.adoptFile();
    expect(watch.records()).toHaveLength(3);
  });
});

/** Advances the clock until the condition holds, and fails where that takes longer. */
async function within(mostMs: number, holds: () => boolean): Promise<void> {
  for (let ms = 0; ms < mostMs && !holds(); ms += 50) await clock.advance(50);
  expect(holds(), `within ${mostMs} ms: ${holds}`).toBe(true);
}

const counted = () => watch.records().map(({ fact, value }) => [fact, value]);
const revoked = () => watch.report().revoked.map(({ fact, how }) => [fact, how]);

it('a verification whose seal is removed does not count any more, although its file is unchanged', async () => {
  const seal = folder.at('evidence.trials', 't.json.sealed');
  await watch.stop();
  await mkdir(folder.at('evidence.trials'));
  await writeFile(seal, '');
  const attachment = { file: 't.json', sha256: 'a'.repeat(64), needsSeal: true };
  await writeFile(path, `${JSON.stringify({ ...recordOf('vendor.move.request'), attachment })}\n`);
  await begin();
  await clock.advance(5_000);
  expect(counted()).toEqual([['vendor.move.request', true]]);
  await rm(seal);
  await within(1_000, () => counted().length === 0);
  expect(revoked()).toEqual([['vendor.move.request', 'gone']]);
});

describe('an unchanged file', () => {
  it('remains as it was read', async () => {
    await clock.advance(5_000);
    expect(watch.report()).toEqual({
      status: 'as-read',
      detail: '2 records, as read at the start.',
      revoked: [],
      waiting: [],
    });
    expect([calls, watch.trouble(), watch.describe?.()]).toEqual([0, null, '2 records, as read at the start.']);
  });

  it('may be missing, as it was at the start', async () => {
    await watch.stop();
    await rm(path);
    await begin();
    await clock.advance(5_000);
    expect([watch.report().status, watch.trouble(), calls]).toEqual(['as-read', null, 0]);
  });
});

describe('revoked evidence counts within a second, and until a restart', () => {
  const writeOther = async () => {
    await writeFile(`${path}.other`, both + line('vendor.move.request', false));
    return `${path}.other`;
  };
  const ways: readonly (readonly [how: string, change: () => Promise<void>, expected: string])[] = [
    ['a line that contradicts', () => appendFile(path, line('vendor.move.request', false)), 'contradicted'],
    ['another file in its place', () => writeOther().then((other) => rename(other, path)), 'contradicted'],
    [
      'a link in its place',
      async () => {
        await symlink(await writeOther(), `${path}.new`);
        await rename(`${path}.new`, path);
      },
      'contradicted',
    ],
    ['a removed line', () => writeFile(path, line('vendor.move.cancel')), 'gone'],
    ['an emptied file', () => truncate(path, 0), 'gone'],
    ['a deleted file', () => rm(path), 'gone'],
    [
      'the same number of bytes',
      () => writeFile(path, both.replace('"vendor.move.request","value":true', '"vendor.move.request","value":null')),
      'contradicted',
    ],
  ];

  it.each(ways)('%s', async (_how, change, expected) => {
    await change();
    await within(1_000, () => calls > 0);
    expect(revoked()).toContainEqual(['vendor.move.request', expected]);
    expect(watch.report()).toMatchObject({ status: 'revoked', detail: expect.stringContaining('restarted') });
    expect(counted()).not.toContainEqual(['vendor.move.request', true]);
    // Evidence of the start is restored, and counts only after a restart.
    await rm(path, { force: true });
    await writeFile(path, both);
    await within(1_000, () => watch.report().waiting.length > 0);
    expect(watch.report()).toMatchObject({
      status: 'revoked',
      detail: expect.stringContaining('counts after a restart'),
      waiting: expect.arrayContaining([{ fact: 'vendor.move.request', serial: 'SN0001', software: '2.12.3' }]),
    });
    expect(counted()).not.toContainEqual(['vendor.move.request', true]);
  });

  it('of a BELEGT fact without a record', async () => {
    await appendFile(path, line('angles.target-ori', 'degrees'));
    await within(1_000, () => calls > 0);
    expect(revoked()).toEqual([['angles.target-ori', 'contradicted']]);
  });

  it('of another device does not affect this one', async () => {
    await appendFile(path, line('vendor.move.request', false, { serial: 'SN2' }));
    await within(1_000, () => calls > 0);
    expect(watch.report()).toMatchObject({ status: 'as-read', revoked: [], waiting: [] });
  });
});

describe('evidence that is added', () => {
  it('counts after a restart, and is reported as waiting', async () => {
    await appendFile(path, line('vendor.pose.request'));
    await within(1_000, () => watch.report().waiting.length > 0);
    expect(watch.report()).toMatchObject({
      status: 'as-read',
      detail: '2 records, as read at the start. New evidence about vendor.pose.request counts after a restart.',
      waiting: [{ fact: 'vendor.pose.request', serial: 'SN0001', software: '2.12.3' }],
    });
    expect(counted()).toHaveLength(2);
    expect(calls).toBe(0);
  });
});

describe('a file that cannot be read', () => {
  const ways: readonly (readonly [how: string, change: () => Promise<void>, word: RegExp])[] = [
    ['a broken line', () => appendFile(path, 'vendor.move.request does not hold\n'), /not a JSON object/],
    ['a line that stays incomplete', () => appendFile(path, line('vendor.move.request', false).slice(0, 40)), /JSON/],
    ['a folder', () => rm(path).then(() => execFileSync('mkdir', [path]) && undefined), /folder/],
    ['a pipe', () => rm(path).then(() => execFileSync('mkfifo', [path]) && undefined), /regular file/],
    ['a link to itself', () => rm(path).then(() => symlink('evidence.jsonl', path)), /cannot be opened/],
    ['too many bytes', () => truncate(path, 5 * 1024 * 1024), /bytes/],
    ['binary data', () => writeFile(path, Buffer.from([0xff, 0xfe, 0x0a])), /UTF-8/],
  ];

  it.each(ways)(
    '%s: no order relies on it within a second, until it is read again unchanged',
    async (_how, change, word) => {
      await change();
      await within(1_000, () => calls > 0);
      expect(watch.trouble()).toMatch(word);
      expect(watch.report()).toMatchObject({ status: 'unreadable', detail: expect.stringMatching(word) });
      await rm(path, { recursive: true, force: true });
      await writeFile(path, both);
      await within(1_000, () => watch.trouble() === null);
      expect(watch.report()).toMatchObject({ status: 'as-read', revoked: [] });
      expect(calls).toBe(2);
    },
  );

  it('that is being rewritten by a program revokes nothing', async () => {
    for (let i = 0; i < 3; i += 1) {
      await truncate(path, 0);
      await clock.advance(250);
      await writeFile(path, both);
      await clock.advance(250);
    }
    await clock.advance(5_000);
    expect([calls, watch.report().status]).toEqual([0, 'as-read']);
  });
});

describe('evidence that is adopted while the daemon runs', () => {
  const moved = () => recordOf('vendor.move.state');

  it('counts at once when this program has written it, and can be revoked like any other', async () => {
    await appendFile(path, line('vendor.move.state'));
    watch.adopt([moved()]);
    expect(counted()).toContainEqual(['vendor.move.state', true]);
    await clock.advance(5_000);
    expect(calls).toBe(1);
    expect(watch.report()).toMatchObject({ status: 'as-read', waiting: [], revoked: [] });
    await appendFile(path, line('vendor.move.state', false));
    await within(1_000, () => revoked().length > 0);
    expect(revoked()).toEqual([['vendor.move.state', 'contradicted']]);
  });

  it('excludes revoked and pending evidence, also where this program has found a contradiction', async () => {
    const against = recordOf('vendor.move.cancel', false);
    await appendFile(path, line('vendor.move.cancel', false));
    watch.adopt([against]);
    expect(calls).toBe(1);
    expect(counted().at(-1)).toEqual(['vendor.move.cancel', false]);
    const asRead = { status: 'as-read', revoked: [], waiting: [] };
    expect(watch.report()).toMatchObject(asRead);
    await clock.advance(5_000);
    expect(watch.report()).toMatchObject(asRead);
    // Adopted evidence can be lost like evidence that was read.
    await writeFile(path, both);
    await clock.advance(5_000);
    expect(watch.report().waiting).toMatchObject([{ fact: 'vendor.move.cancel' }]);
  });

  it('is reported as removed when its line is deleted', async () => {
    await appendFile(path, line('vendor.move.state'));
    watch.adopt([moved()]);
    await clock.advance(5_000);
    await writeFile(path, both);
    await within(1_000, () => revoked().length > 0);
    expect(revoked()).toEqual([['vendor.move.state', 'gone']]);
  });

  it('raises a fact that was contradicted before', async () => {
    await appendFile(path, line('vendor.move.cancel', false));
    await within(1_000, () => revoked().length > 0);
    await appendFile(path, line('vendor.move.cancel'));
    watch.adopt([recordOf('vendor.move.cancel')]);
    await clock.advance(5_000);
    expect(counted()).toContainEqual(['vendor.move.cancel', true]);
    expect(revoked()).toEqual([]);
  });

  it('as a whole file counts when a person confirms it, with its additions and its revocations', async () => {
    await writeFile(path, line('vendor.move.request') + line('vendor.move.state'));
    expect(counted()).not.toContainEqual(['vendor.move.state', true]);
    expect(await watch.adoptFile()).toEqual({
      records: 2,
      adopted: ['vendor.move.state'],
      revoked: ['vendor.move.cancel'],
    });
    // The current move relied on the revoked evidence.
    expect(calls).toBe(1);
    expect(watch.report()).toMatchObject({ status: 'as-read', waiting: [] });
    await writeFile(path, 'no record\n');
    await expect(watch.adoptFile()).rejects.toMatchObject({ code: 'EVIDENCE_FILE_INVALID' });
    expect(counted()).toContainEqual(['vendor.move.state', true]);
  });
});
