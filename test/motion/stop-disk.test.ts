import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GwError } from '../../src/lib/error/index.ts';
import { silentLog } from '../../src/lib/lifecycle/index.ts';
import { createLatchDisk, type KeptLatch, type LatchDisk } from '../../src/lib/motion/latch/latch-disk.ts';
import { createStopLatch } from '../../src/lib/motion/latch/stop-latch.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { until as waitUntil } from '../waiting.ts';

const OTHER_UID = 65_534;
const isRoot = process.getuid?.() === 0;

let dir: string;
let stateDir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gw-stop-disk-'));
  stateDir = join(dir, 'state');
  mkdirSync(stateDir, { mode: 0o700 });
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

const latchFile = () => join(stateDir, 'stop-latch.json');
const onDisk = () => JSON.parse(readFileSync(latchFile(), 'utf8'));
const refusal = () => new GwError('FILE_UNWRITABLE', 'ENOSPC: no space left.', { remedy: 'Free disk space.' });

/** A disk whose results the test sets, over the real one. */
function scriptedDisk() {
  const real = createLatchDisk(stateDir);
  const counts = { writes: 0, proofs: 0, checks: 0 };
  const script = {
    counts,
    isFull: false,
    isUnreadable: false,
    /** Number of writes that reach the disk and still fail: the file was renamed, the folder not synced. */
    failsAfter: 0,
    /** Checks read no disk: the clock of a test runs faster than a disk. */
    checksAtOnce: false,
    /** Writes wait for it. */
    gate: Promise.resolve() as Promise<void>,
    /** Retries and checks wait for it. */
    checkGate: Promise.resolve() as Promise<void>,
  };
  const disk: LatchDisk = {
    path: real.path,
    async probe() {
      counts.proofs += 1;
      await script.checkGate;
      if (script.isFull) throw refusal();
      await real.probe();
    },
    async check() {
      counts.checks += 1;
      await script.checkGate;
      if (!script.checksAtOnce) await real.check();
    },
    isThere: async () => script.checksAtOnce || (await real.isThere()),
    read: async () => (script.isUnreadable ? 'EIO' : await real.read()),
    async write(latch: KeptLatch) {
      counts.writes += 1;
      await script.gate;
      if (script.isFull) throw refusal();
      await real.write(latch);
      if (script.failsAfter > 0) {
        script.failsAfter -= 1;
        throw refusal();
      }
    },
  };
  return { disk, script, counts };
}

async function world(found: { readonly isFull?: boolean; readonly isUnreadable?: boolean } = {}) {
  const clock = createFakeClock({ startMs: 1_000_000 });
  const scripted = scriptedDisk();
  Object.assign(scripted.script, found);
  const latch = createStopLatch({ stateDir, clock, log: silentLog, onChange() {}, disk: scripted.disk });
  await latch.load();
  return { ...scripted, clock, latch };
}

/** Waits for the real disk, independent of the clock of the test. */
const until = (holds: () => boolean) => waitUntil(() => null, holds);

describe('the saved state of a stop', () => {
  it('is pending until the write completes, and saved only then', async () => {
    const { latch, script, counts } = await world();
    const { promise, resolve } = Promise.withResolvers<void>();
    script.gate = promise;
    const saving = latch.set('person in the way', 'tablet');
    expect(latch.state()).toMatchObject({ latched: true, saved: 'pending' });
    await until(() => counts.writes === 1);
    expect(latch.state().saved).toBe('pending');
    resolve();
    await saving;
    expect(latch.state()).toMatchObject({ latched: true, saved: true, unsavedBecause: null });
    expect(onDisk()).toMatchObject({ latched: true });
  });

  it('resolves those who wait for it once it is on the disk, for each stop anew', async () => {
    const { latch, script, clock } = await world();
    using _watching = latch.watch();
    await latch.untilSaved();
    script.isFull = true;
    const resolved: string[] = [];
    const wait = (name: string) => void latch.untilSaved().then(() => resolved.push(name));
    await latch.set('fire alarm', 'cloud');
    wait('stop');
    // Repeated: counted in memory, and no more saved than the first.
    await latch.set('fire alarm', 'cloud');
    wait('repeated');
    await clock.advance(2_000);
    expect([latch.state().saved, resolved]).toEqual([false, []]);
    script.isFull = false;
    await clock.advance(2_000);
    await until(() => latch.state().saved === true);
    await until(() => resolved.length === 2);
    await latch.clear();
    script.isFull = true;
    await latch.set('again', 'cloud');
    wait('next');
    await clock.advance(10);
    expect(resolved).toEqual(['stop', 'repeated']);
  });

  it('is lost at a restart while the disk fails; once saved by a retry, it is saved', async () => {
    const { latch, script, clock, counts } = await world();
    using _watching = latch.watch();
    script.isFull = true;
    await latch.set('person in the way', 'tablet');
    expect(latch.state()).toMatchObject({
      latched: true,
      saved: false,
      unsavedBecause: expect.stringMatching(/^not saved: a restart of gw would forget this stop\. ENOSPC/),
    });
    expect(latch.trouble()).toEqual({ reason: 'ENOSPC: no space left.', remedy: 'Free disk space.' });
    await clock.advance(2_000);
    expect(counts.writes).toBe(2);
    script.isFull = false;
    await clock.advance(2_000);
    await until(() => latch.state().saved === true);
    expect(latch.trouble()).toBeNull();
    expect(onDisk()).toMatchObject({ latched: true, by: 'tablet' });
  });

  it('is no more where its file or folder was removed, until it is saved again', async () => {
    const { latch, script, clock, counts } = await world();
    using _watching = latch.watch();
    await latch.set('person in the way', 'tablet');
    const { promise, resolve } = Promise.withResolvers<void>();
    for (const [path, writes] of [
      [latchFile(), 2],
      [stateDir, 3],
    ] as const) {
      script.gate = promise;
      rmSync(path, { recursive: true });
      await clock.advance(2_000);
      await until(() => counts.writes === writes);
      if (writes === 2) expect(latch.state()).toMatchObject({ latched: true, saved: 'pending' });
      resolve();
      await until(() => latch.state().saved === true);
      expect(onDisk()).toMatchObject({ latched: true, reason: 'person in the way', by: 'tablet' });
    }
  });

  it('is no more where a file has taken the place of its folder', async () => {
    const { latch, clock } = await world();
    using _watching = latch.watch();
    await latch.set('person in the way', 'tablet');
    rmSync(stateDir, { recursive: true });
    writeFileSync(stateDir, 'in the way');
    await clock.advance(2_000);
    await until(() => latch.state().saved === false);
  });

  it('is true again only for what was written: a half-failed clear is reverted', async () => {
    const { latch, script } = await world();
    await latch.set('person in the way', 'tablet');
    script.failsAfter = 1;
    await expect(latch.clear()).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
    expect(latch.state()).toMatchObject({ latched: true, saved: 'pending' });
    await until(() => latch.state().saved === true);
    expect(onDisk()).toMatchObject({ latched: true, reason: 'person in the way' });
  });
});

describe('a stop after another', () => {
  it('is not reported as saved when the one before is saved', async () => {
    const { latch, script, counts } = await world();
    const [first, rest] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    script.gate = first.promise;
    const saving = latch.set('first', 'tablet 1');
    await until(() => counts.writes === 1);
    script.gate = rest.promise;
    const clearing = latch.clear();
    const second = latch.set('second', 'tablet 2');
    first.resolve();
    await saving;
    expect(latch.state()).toMatchObject({ reason: 'second', saved: 'pending' });
    rest.resolve();
    await Promise.all([clearing, second]);
    expect(latch.state()).toMatchObject({ latched: true, reason: 'second', saved: true });
    expect(readFileSync(latchFile(), 'utf8')).toContain('second');
  });
});

describe('a stop that is latched already', () => {
  it('is counted with its sender, and writes nothing', async () => {
    const { latch, counts } = await world();
    await latch.set('first', 'tablet 1');
    const before = { ...counts };
    const { mtimeMs } = statSync(latchFile());
    for (let count = 0; count < 1_000; count += 1) void latch.set('again', `tablet ${2 + (count % 40)}`);
    await latch.set('last', 'tablet 1');
    expect(counts).toEqual(before);
    expect(statSync(latchFile()).mtimeMs).toBe(mtimeMs);
    const { repeated, ...state } = latch.state();
    expect(state).toMatchObject({ reason: 'first', by: 'tablet 1', saved: true });
    expect(repeated).toMatchObject({ count: 1_001, last: { reason: 'last', by: 'tablet 1' } });
    // Bounded, whatever the sender.
    expect(repeated?.by).toHaveLength(16);
    expect(repeated?.by.slice(0, 2)).toEqual(['tablet 2', 'tablet 3']);
  });

  it('is so for a stop of an earlier run too', async () => {
    const first = await world();
    await first.latch.set('first', 'tablet 1');
    const { latch, counts } = await world();
    await latch.set('again', 'tablet 2');
    expect(counts.writes).toBe(0);
    expect(latch.state()).toMatchObject({ by: 'tablet 1', saved: true, repeated: { count: 1, by: ['tablet 2'] } });
  });

  it('by gw because of an unreadable file is replaced by the stop of a person, which is written', async () => {
    writeFileSync(latchFile(), 'garbage');
    const { latch, counts } = await world();
    expect(latch.state()).toMatchObject({ latched: true, by: 'gw', saved: false });
    await latch.set('person in the way', 'tablet');
    expect(counts.writes).toBe(1);
    expect(latch.state()).toMatchObject({ by: 'tablet', saved: true });
  });

  it('is a stop of its own when requested while it is being cleared', async () => {
    const { latch } = await world();
    await latch.set('first', 'tablet 1');
    const clearing = latch.clear();
    const setting = latch.set('second', 'tablet 2');
    await Promise.all([clearing, setting]);
    expect(latch.state()).toMatchObject({ latched: true, reason: 'second', saved: true, repeated: null });
    expect(readFileSync(latchFile(), 'utf8')).toContain('second');
  });
});

describe('monitoring the disk', () => {
  it('writes nothing while all writes succeed', async () => {
    const { latch, script, clock, counts } = await world();
    script.checksAtOnce = true;
    using _watching = latch.watch();
    await clock.advance(100_000);
    expect(counts).toEqual({ proofs: 1, writes: 0, checks: 50 });
    expect(latch.trouble()).toBeNull();
    const before = statSync(stateDir).mtimeMs;
    await createLatchDisk(stateDir).check();
    expect(statSync(stateDir).mtimeMs).toBe(before);
  });

  it('retries a failed disk at most every 10 s, and reads a file that was unreadable', async () => {
    const first = await world();
    await first.latch.set('first', 'tablet 1');
    const { latch, script, clock, counts } = await world();
    script.isFull = true;
    await latch.load();
    expect(latch.trouble()).not.toBeNull();
    using _watching = latch.watch();
    const before = counts.proofs;
    await clock.advance(60_000);
    expect(counts.proofs - before).toBeLessThanOrEqual(6);
    script.isFull = false;
    await clock.advance(12_000);
    await until(() => latch.trouble() === null);
    expect(latch.state()).toMatchObject({ latched: true, by: 'tablet 1' });
  });

  it('reads the file once the disk works again, and counts as stopped until then', async () => {
    const { latch, script, clock } = await world({ isFull: true, isUnreadable: true });
    using _watching = latch.watch();
    expect(latch.state()).toMatchObject({ latched: true, by: 'gw', reason: expect.stringContaining('EIO') });
    await clock.advance(20_000);
    expect(latch.state().latched).toBe(true);
    script.isFull = false;
    script.isUnreadable = false;
    await clock.advance(12_000);
    await until(() => !latch.state().latched);
    expect(latch.trouble()).toBeNull();
  });

  it('treats a disk that hangs as failed, and sends it one request', async () => {
    const { latch, script, clock, counts } = await world();
    using _watching = latch.watch();
    const { promise, resolve } = Promise.withResolvers<void>();
    script.checkGate = promise;
    await clock.advance(8_000);
    expect(latch.trouble()?.reason).toContain('timed out');
    expect(counts.checks).toBe(1);
    await clock.advance(60_000);
    expect(counts.checks).toBe(1);
    resolve();
    script.checksAtOnce = true;
    const troubleLater = async () => {
      await clock.advance(2_000);
      return latch.trouble();
    };
    await waitUntil(troubleLater, (trouble) => trouble === null);
  });
});

describe('the folder of the stop latch', () => {
  const loaded = async () => {
    const clock = createFakeClock({ startMs: 1_000_000 });
    const latch = createStopLatch({ stateDir, clock, log: silentLog, onChange() {} });
    await latch.load();
    return latch;
  };

  it('does not follow a symbolic link or a second hard link', async () => {
    const victims = ['victim-a', 'victim-b', 'victim-c'].map((name) => join(dir, name));
    for (const victim of victims) writeFileSync(victim, 'precious');
    symlinkSync(victims[0] ?? '', `${latchFile()}.probe`);
    symlinkSync(victims[1] ?? '', `${latchFile()}.new`);
    linkSync(victims[2] ?? '', join(stateDir, 'stop-latch.json'));
    const latch = await loaded();
    await latch.set('person in the way', 'tablet');
    expect(latch.state().saved).toBe(true);
    await latch.clear();
    for (const victim of victims) expect(readFileSync(victim, 'utf8')).toBe('precious');
  });

  it('with a pipe in place of the file does not block reading', async () => {
    execFileSync('mkfifo', [latchFile()]);
    const latch = await loaded();
    expect(latch.state()).toMatchObject({ latched: true, by: 'gw', reason: expect.stringContaining('regular file') });
  });

  it.runIf(isRoot)('of another user is neither written nor trusted, and the remedy names its owner', async () => {
    writeFileSync(latchFile(), '{"format":"gw/stop-latch/1","latched":false,"reason":null,"by":null,"since":null}\n');
    chownSync(stateDir, OTHER_UID, OTHER_UID);
    const before = readFileSync(latchFile(), 'utf8');
    const latch = await loaded();
    expect(latch.trouble()).toMatchObject({
      reason: expect.stringContaining(`belongs to user ${OTHER_UID}`),
      remedy: expect.stringContaining(`chown -R 0 ${stateDir}`),
    });
    expect(latch.state()).toMatchObject({ latched: true, by: 'gw' });
    await latch.set('person in the way', 'tablet');
    expect(latch.state()).toMatchObject({ latched: true, saved: false });
    expect(readdirSync(stateDir)).toEqual(['stop-latch.json']);
    expect(readFileSync(latchFile(), 'utf8')).toBe(before);
  });

  it('that others may write to is not trusted either', async () => {
    chmodSync(stateDir, 0o777);
    const latch = await loaded();
    expect(latch.trouble()).toMatchObject({
      reason: expect.stringContaining('other users may write to it (mode 777)'),
      remedy: expect.stringContaining('chmod go-w'),
    });
    chmodSync(stateDir, 0o755);
    await latch.load();
    expect(latch.trouble()).toBeNull();
    expect(latch.state().latched).toBe(false);
  });

  it('is cleaned of drafts of a crash, and of no other file', async () => {
    const draft = (age: number, name: string) => {
      writeFileSync(join(stateDir, name), 'x');
      const at = new Date(Date.parse('2026-01-31T12:00:00Z') - age);
      utimesSync(join(stateDir, name), at, at);
    };
    const id = crypto.randomUUID();
    draft(3_600_000, `.stop-latch.json.${id}`);
    draft(1_000, `.heartbeat-received.json.${id}`);
    draft(3_600_000, '.hidden');
    draft(3_600_000, 'tablet.json');
    await loaded();
    expect(readdirSync(stateDir).sort()).toEqual([`.heartbeat-received.json.${id}`, '.hidden', 'tablet.json']);
  });
});
