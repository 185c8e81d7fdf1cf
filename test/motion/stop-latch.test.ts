import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GwError } from '../../src/lib/error/index.ts';
import { silentLog } from '../../src/lib/lifecycle/index.ts';
import { type KeptLatch, type LatchDisk, parseLatch, released } from '../../src/lib/motion/latch/latch-disk.ts';
import { createStopLatch } from '../../src/lib/motion/latch/stop-latch.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { isFull } from '../properties.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gw-latch-'));
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

const createLatch = (stateDir = join(dir, 'state'), onChange = () => {}) =>
  createStopLatch({ stateDir, clock: createFakeClock(), log: silentLog, onChange });
/** As after a restart of gw. */
const loaded = async (stateDir?: string, onChange?: () => void) => {
  const latch = createLatch(stateDir, onChange);
  await latch.load();
  return latch;
};
const script = fileURLToPath(new URL('./latch-child.ts', import.meta.url));
const file = () => join(dir, 'state', 'stop-latch.json');

describe('the stop latch', () => {
  it('counts as set until it has been read', () => {
    expect(createLatch().state().latched).toBe(true);
  });

  it('is clear on a gateway that was never stopped, and creates its folder for its owner only', async () => {
    const latch = await loaded(join(dir, 'a', 'b'));
    expect(latch.state()).toEqual({
      ...{ latched: false, reason: null, by: null, since: null },
      ...{ saved: true, unsavedBecause: null, repeated: null },
    });
    expect(statSync(join(dir, 'a', 'b')).mode & 0o777).toBe(0o700);
  });

  it('outlives the process that set it', async () => {
    const first = await loaded();
    await first.set('person in the way', 'tablet');
    const second = await loaded();
    expect(second.state()).toMatchObject({
      saved: true,
      latched: true,
      reason: 'person in the way',
      by: 'tablet',
      since: '2026-01-31T12:00:00.000Z',
    });
    await second.clear();
    const third = await loaded();
    expect(third.state().latched).toBe(false);
    expect(readdirSync(join(dir, 'state'))).toEqual(['stop-latch.json']);
  });

  it.each([false, true])(
    'keeps a stop that was requested before the first read (disk failed: %s)',
    async (isFailed) => {
      if (isFailed) writeFileSync(join(dir, 'state'), 'a file where the folder should be');
      const latch = createLatch();
      await latch.set('early', 'test');
      if (isFailed) rmSync(join(dir, 'state'));
      await latch.load();
      expect(latch.state()).toMatchObject({ latched: true, by: 'test', reason: 'early' });
    },
  );

  it('notifies every change', async () => {
    let changes = 0;
    const latch = createLatch(undefined, () => {
      changes += 1;
    });
    await latch.load();
    await latch.set('a', 'test');
    await latch.clear();
    // Read, set, saved, cleared.
    expect(changes).toBe(4);
  });

  it('counts an unreadable file as set and gives the reason, until it is cleared', async () => {
    mkdirSync(join(dir, 'state'));
    mkdirSync(file());
    const latch = await loaded();
    expect(latch.state()).toMatchObject({ latched: true, by: 'gw' });
    expect(latch.state().reason).toMatch(/cannot be read \(EISDIR\)/);
    await expect(latch.clear()).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
    expect(latch.state().latched).toBe(true);
    rmSync(file(), { recursive: true });
    await latch.clear();
    expect(latch.state().latched).toBe(false);
  });

  it.each([
    ['empty', '', /it is empty/],
    ['cut off', '{"format":"gw/stop-latch/1","latched":fal', /not JSON/],
    ['of another kind', '{"latched":false}', /its content is not a stop latch/],
    ['too long', ' '.repeat(20_000), /more than 16384 bytes/],
  ])('counts a file that is %s as set', async (_, text, why) => {
    mkdirSync(join(dir, 'state'));
    writeFileSync(file(), text);
    const latch = await loaded();
    expect(latch.state().latched).toBe(true);
    expect(latch.state().reason).toMatch(why);
  });

  it('does not accept foreign bytes as cleared', { tags: 'property' }, () => {
    const whole = { format: 'gw/stop-latch/1', latched: false, reason: null, by: null, since: null };
    const text = JSON.stringify(whole);
    expect(parseLatch(text)).toEqual({ latched: false, reason: null, by: null, since: null });
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.uint8Array().map((bytes) => Buffer.from(bytes).toString()),
        ),
        (input) => {
          expect(parseLatch(input)).toBeTypeOf('string');
        },
      ),
    );
    fc.assert(
      fc.property(fc.nat(text.length - 1), (length) => {
        expect(parseLatch(text.slice(0, length))).toBeTypeOf('string');
      }),
    );
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(whole)), fc.jsonValue(), (key, value) => {
        const parsed = parseLatch(JSON.stringify({ ...whole, [key]: value }));
        if (typeof parsed === 'object' && !parsed.latched) expect(key === 'latched' ? value : false).toBe(false);
      }),
    );
  });

  it('is set in memory and reports it when the disk fails, and never throws', async () => {
    writeFileSync(join(dir, 'state'), 'a file where the folder should be');
    const latch = await loaded();
    expect(latch.trouble()).toMatchObject({ reason: expect.stringContaining('it is not a folder') });
    await latch.set('person in the way', 'tablet');
    expect(latch.state()).toMatchObject({
      latched: true,
      reason: 'person in the way',
      saved: false,
      unsavedBecause: expect.stringMatching(/^not saved: a restart of gw would forget this stop/),
    });
    await expect(latch.clear()).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
    expect(latch.state().latched).toBe(true);
  });

  // Lines that the child has printed when it is killed: while it writes, or after it has reported.
  const early = [0, 40, 80, 120, 160, 200].map((delayMs, round) => [1 + (round % 2), delayMs, 'once'] as const);
  const later = Array.from({ length: 8 }, (_, round) => [4 + round * 5, 0, 'loop'] as const);
  it.each(isFull ? [...early, ...later] : [[2, 40, 'once'] as const])(
    'has the last state that a process wrote or was writing, killed after %d lines, on a disk that takes %d ms (%s)',
    { tags: 'property' },
    async (lines, delayMs, how) => {
      const stateDir = join(dir, 'state');
      const child = spawn(process.execPath, [script, stateDir, `${delayMs}`, how], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let printed = '';
      child.stdout.on('data', (chunk) => {
        printed += String(chunk);
        if (printed.split('\n').length > lines) child.kill('SIGKILL');
      });
      expect(await new Promise((resolve) => child.on('close', (_, by) => resolve(by)))).toBe('SIGKILL');

      const latch = await loaded(stateDir);
      const { latched, reason, by } = latch.state();
      const [last, number, saved] = printed.trimEnd().split('\n').at(-1)?.split(' ') ?? [];
      const isStop = latched && reason === `stop ${number}` && by === 'child';
      // A change reported as saved is on disk; one that had begun is complete or absent.
      if (last === 'set') expect({ isStop, saved }).toEqual({ isStop: true, saved: 'true' });
      else if (last === 'cleared') expect(latched).toBe(false);
      else expect({ last, reason, isSound: isStop || !latched }).toMatchObject({ isSound: true });
      expect(['setting', 'set', 'clearing', 'cleared']).toContain(last);
    },
  );
});

/** A disk in memory whose next answers the test gives. */
async function memoryDisk(found: KeptLatch | string = released) {
  const written: KeptLatch[] = [];
  const script = { written, content: found, gate: Promise.resolve() as Promise<void>, failures: 0 };
  const disk: LatchDisk = {
    path: '/memory/stop-latch.json',
    probe: async () => {},
    check: async () => {},
    isThere: async () => true,
    read: async () => script.content,
    async write(latch) {
      written.push(latch);
      await script.gate;
      if (script.failures > 0) {
        script.failures -= 1;
        throw new GwError('FILE_UNWRITABLE', 'ENOSPC: no space left.', { remedy: 'Free disk space.' });
      }
      script.content = latch;
    },
  };
  const clock = createFakeClock();
  const latch = createStopLatch({ stateDir: dir, clock, log: silentLog, onChange: () => {}, disk });
  await latch.load();
  return {
    ...{ script, latch, clock },
    /** Writes wait until it is called. */
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      script.gate = promise;
      return resolve;
    },
  };
}
const reasonsOf = (written: readonly KeptLatch[]) => written.map(({ latched, reason }) => (latched ? reason : 'clear'));
/** Lets everything proceed that waits for no gate. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('a cleared latch', () => {
  it('is the saved state, for whoever cleared it and later, and stays so when a second clear of it fails', async () => {
    const { latch, script } = await memoryDisk();
    await latch.set('person in the way', 'tablet');
    const cleared = await latch.clear();
    const expected = { ...released, saved: true, unsavedBecause: null, repeated: null };
    expect([cleared, latch.state()]).toEqual([expected, expected]);
    script.failures = 1;
    await expect(latch.clear()).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
    await settled();
    expect(latch.state()).toMatchObject({ latched: false, saved: true });
    expect(reasonsOf(script.written)).toEqual(['person in the way', 'clear', 'clear']);
  });

  it('is not written any more once the answer has said that the stop holds', async () => {
    const { latch, script, clock, hold } = await memoryDisk();
    const resolve = hold();
    const saving = latch.set('person in the way', 'tablet');
    await settled();
    // It waits behind the write of the stop, and its time passes before its turn.
    const refused = expect(latch.clear()).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
    await clock.advance(5_000);
    await refused;
    resolve();
    await saving;
    await settled();
    expect(reasonsOf(script.written)).toEqual(['person in the way']);
    expect(latch.state()).toMatchObject({ latched: true, saved: true, reason: 'person in the way' });
  });

  it('that reaches the disk too late is replaced there by the stop, which holds', async () => {
    const { latch, script, clock, hold } = await memoryDisk();
    await latch.set('person in the way', 'tablet');
    const resolve = hold();
    const message = expect.stringContaining('timed out');
    const refused = expect(latch.clear()).rejects.toMatchObject({ code: 'FILE_UNWRITABLE', message });
    await clock.advance(5_000);
    await refused;
    expect(latch.state()).toMatchObject({ latched: true });
    resolve();
    await settled();
    expect(reasonsOf(script.written)).toEqual(['person in the way', 'clear', 'person in the way']);
    expect(latch.state()).toMatchObject({ latched: true, saved: true, reason: 'person in the way' });
    expect(script.content).toMatchObject({ latched: true });
  });
});

describe('a save', () => {
  /** A stop whose save failed, a clear of it at the disk, and behind that the next attempt to save it. */
  async function saveBehindClear() {
    const { latch, script, clock, hold } = await memoryDisk();
    script.failures = 1;
    await latch.set('person in the way', 'tablet');
    expect(latch.state().saved).toBe(false);
    const resolve = hold();
    const clearing = latch.clear().then(
      () => 'cleared',
      () => 'failed',
    );
    await settled();
    using _watching = latch.watch();
    await clock.advance(2_000);
    return { latch, script, clearing, resolve };
  }

  // The failed clear asks for a save as well, which finds the stop saved.
  it.each([
    ['saved', 1, 'failed', ['person in the way', 'clear', 'person in the way']],
    ['cleared', 0, 'cleared', ['person in the way', 'clear']],
  ])('is not begun for a stop that was %s while it waited', async (_, failures, result, written) => {
    const { latch, script, clearing, resolve } = await saveBehindClear();
    script.failures = failures;
    resolve();
    expect(await clearing).toBe(result);
    await settled();
    expect(latch.state()).toMatchObject({ latched: result === 'failed', saved: true });
    expect(reasonsOf(script.written)).toEqual(written);
  });

  it('is not begun for a latch that counts as set because it could not be read', async () => {
    const { latch, script, clock } = await memoryDisk('EIO');
    expect(latch.state()).toMatchObject({ latched: true, by: 'gw', saved: false });
    script.failures = 1;
    await expect(latch.clear()).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
    await settled();
    // The reason of gw is no stop of a person: saved, it would outlive the fault that it names.
    expect(reasonsOf(script.written)).toEqual(['clear']);
    expect(latch.state()).toMatchObject({ latched: true, by: 'gw', saved: false });
    using _watching = latch.watch();
    await clock.advance(2_000);
    await settled();
    expect(reasonsOf(script.written)).toEqual(['clear']);
  });
});
