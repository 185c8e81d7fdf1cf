import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createReplayGuard, type ReplayGuard } from '../../src/lib/fleet/replay-guard.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { createListLog } from './beats.ts';

const PERIOD_MS = 2000;
const SAVE_EVERY_MS = 10_000;
const AHEAD = 8;
const MOST = 2 ** 32 - 1;

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gw-guard-'));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

interface Counted {
  readonly serial: string;
  readonly bootCounter: number;
  readonly sequence: number;
}
const beat = (sequence: number, bootCounter = 1, serial = 'R-1'): Counted => ({ serial, bootCounter, sequence });

/** Time enough for a write that should not be there. */
const soon = () => new Promise((resolve) => setTimeout(resolve, 30));

/** Guards that follow one another on one disk. `restart` ends the one before in order, `crash` as a power cut would. */
async function world() {
  const clock = createFakeClock();
  const log = createListLog();
  const left: ReplayGuard[] = [];
  let lives = 0;
  let dir = join(root, `disk-${lives}`);
  let guard = createReplayGuard({ stateDir: dir, clock, log });
  await guard.load();

  const file = () => join(dir, 'heartbeat-heard.json');
  const rows = (): [string, number, number][] => JSON.parse(readFileSync(file(), 'utf8')).refused;
  const covers = ({ serial, bootCounter, sequence }: Counted) =>
    rows().some(([name, boots, upTo]) => name === serial && boots === bootCounter && upTo >= sequence);
  const begin = async () => {
    guard = createReplayGuard({ stateDir: dir, clock, log });
    await guard.load();
  };

  return {
    clock,
    log,
    file,
    rows,
    dir: () => dir,
    accept: (counted: Counted) => guard.accept(counted) === 'newer',
    /** Until the file on the disk refuses this beat; no timer is moved. */
    kept: (counted: Counted) => vi.waitFor(() => expect(covers(counted)).toBe(true), { interval: 1, timeout: 5_000 }),
    /** Moves time by 10 s until a write has brought the file here: one that is under way takes the place of the next. */
    written: (expected: [string, number, number][]) =>
      vi.waitFor(
        async () => {
          await clock.advance(SAVE_EVERY_MS);
          expect(rows()).toEqual(expected);
        },
        { interval: 1, timeout: 5_000 },
      ),
    async restart() {
      await guard.close();
      await begin();
    },
    /** What is on the disk now goes on; what the old guard still does happens on another disk. */
    async crash() {
      lives += 1;
      const next = join(root, `disk-${lives}`);
      mkdirSync(next);
      cpSync(file(), join(next, 'heartbeat-heard.json'));
      left.push(guard);
      dir = next;
      await begin();
    },
    close: () => guard.close(),
    async [Symbol.asyncDispose]() {
      for (const each of [...left, guard]) await each.close().catch(() => {});
      expect(clock.pending).toBe(0);
    },
  };
}

describe('the replay guard', () => {
  it('accepts what is newer and refuses the same and what is older', async () => {
    await using at = await world();
    for (const [sequence, bootCounter, isNew] of [
      [5, 3, true],
      [5, 3, false],
      [4, 3, false],
      [6, 3, true],
      [100, 3, true],
      [7, 3, false],
      [5000, 2, false],
      [MOST, 0, false],
      [0, 4, true],
      [0, 4, false],
      [101, 3, false],
    ] as const) {
      expect(at.accept(beat(sequence, bootCounter)), `${bootCounter}/${sequence}`).toBe(isNew);
    }
    expect(at.accept(beat(0, 0, 'R-2'))).toBe(true);
  });

  it('accepts nothing of a life whose sequence is used up, and then the next life', async () => {
    await using at = await world();
    expect(at.accept(beat(MOST - 1))).toBe(true);
    expect(at.accept(beat(MOST))).toBe(true);
    expect(at.accept(beat(0))).toBe(false);
    expect(at.accept(beat(MOST))).toBe(false);
    await at.kept(beat(MOST));
    expect(at.rows()).toEqual([['R-1', 1, MOST]]);
    await at.crash();
    expect(at.accept(beat(MOST))).toBe(false);
    expect(at.accept(beat(0, MOST))).toBe(true);
    expect(at.accept(beat(0, MOST))).toBe(false);
  });

  it('refuses after an orderly end all that was heard, and accepts the next', async () => {
    await using at = await world();
    for (const sequence of [0, 1, 2, 7]) at.accept(beat(sequence, 3));
    at.accept(beat(40, 1, 'R-2'));
    await at.restart();
    expect(at.rows()).toEqual([
      ['R-1', 3, 7],
      ['R-2', 1, 40],
    ]);
    for (const sequence of [0, 1, 2, 7]) expect(at.accept(beat(sequence, 3))).toBe(false);
    expect(at.accept(beat(8, 3))).toBe(true);
    expect(at.accept(beat(41, 1, 'R-2'))).toBe(true);
  });

  it('refuses after a crash all that was heard since the last write, and hears the robot 8 beats later at most', async () => {
    await using at = await world();
    const heard: Counted[] = [];
    const hear = (from: number, to: number) => {
      for (let sequence = from; sequence <= to; sequence += 1) {
        heard.push(beat(sequence));
        expect(at.accept(beat(sequence))).toBe(true);
      }
    };
    hear(0, 24);
    await at.written([['R-1', 1, 24 + AHEAD]]);
    hear(25, 28);
    expect(at.rows()).toEqual([['R-1', 1, 24 + AHEAD]]);
    await at.crash();
    for (const recorded of heard) expect(at.accept(recorded)).toBe(false);
    const missed = Array.from({ length: 20 }, (_, index) => at.accept(beat(29 + index))).indexOf(true);
    expect(missed).toBe(4);
  });

  it('refuses the beats of a new life after a crash that came right after the first', async () => {
    await using at = await world();
    at.accept(beat(500, 1));
    await at.kept(beat(500, 1));
    at.accept(beat(0, 2));
    await at.kept(beat(0, 2));
    await at.crash();
    expect(at.accept(beat(501, 1))).toBe(false);
    expect(at.accept(beat(0, 2))).toBe(false);
    expect(at.accept(beat(AHEAD + 1, 2))).toBe(true);
  });

  it('refuses after a crash also the beats of a robot that was long out of reach', async () => {
    await using at = await world();
    at.accept(beat(10));
    await at.kept(beat(10));
    for (const sequence of [2000, 2001, 2002]) expect(at.accept(beat(sequence))).toBe(true);
    await at.kept(beat(2002));
    await at.crash();
    for (const sequence of [10, 11, 1999, 2000, 2001, 2002]) expect(at.accept(beat(sequence))).toBe(false);
  });

  it('refuses after a crash the beats that were heard since an orderly start', async () => {
    await using at = await world();
    at.accept(beat(10));
    await at.restart();
    at.accept(beat(11));
    await at.kept(beat(11));
    await at.crash();
    expect(at.accept(beat(11))).toBe(false);
  });

  it('keeps no robot unheard when one crash follows the other', async () => {
    await using at = await world();
    at.accept(beat(0));
    await at.kept(beat(0));
    for (let crash = 0; crash < 5; crash += 1) {
      await at.crash();
      expect(at.accept(beat(AHEAD))).toBe(false);
      at.accept(beat(crash, 1, 'R-2'));
      await at.clock.advance(SAVE_EVERY_MS);
      await at.kept(beat(crash, 1, 'R-2'));
    }
    expect(at.accept(beat(AHEAD + 1))).toBe(true);
  });

  it('writes when there is something to write, every 10 s', async () => {
    await using at = await world();
    at.accept(beat(0));
    await at.kept(beat(0));
    const first = statSync(at.file()).ino;
    at.accept(beat(1));
    await at.clock.advance(SAVE_EVERY_MS - 1);
    expect(at.rows()).toEqual([['R-1', 1, AHEAD]]);
    expect(statSync(at.file()).ino).toBe(first);
    await at.written([['R-1', 1, 1 + AHEAD]]);
    const second = readFileSync(at.file(), 'utf8');
    rmSync(at.file());
    await at.clock.advance(10 * SAVE_EVERY_MS);
    expect(readdirSync(at.dir())).toEqual([]);
    await at.close();
    expect(readFileSync(at.file(), 'utf8')).toBe(second.replace(`${1 + AHEAD}`, '1'));
    expect(statSync(at.file()).mode & 0o777).toBe(0o600);
  });

  it('remembers 4096 robots and forgets none of them for another', async () => {
    await using at = await world();
    for (let robot = 0; robot < 4096; robot += 1) expect(at.accept(beat(0, 1, `R-${robot}`))).toBe(true);
    expect(at.accept(beat(0, 1, 'R-4096'))).toBe(false);
    await at.kept(beat(0, 1, 'R-4095'));
    await at.restart();
    expect(at.accept(beat(0, 1, 'R-4096'))).toBe(false);
    for (let robot = 0; robot < 4096; robot += 1) {
      expect(at.accept(beat(0, 1, `R-${robot}`))).toBe(false);
      expect(at.accept(beat(1, 1, `R-${robot}`))).toBe(true);
    }
  });

  it('makes its folder anew when it was removed', async () => {
    await using at = await world();
    at.accept(beat(0));
    await at.restart();
    rmSync(at.dir(), { recursive: true });
    at.accept(beat(1));
    await at.kept(beat(1));
    expect(at.rows()).toEqual([['R-1', 1, 1 + AHEAD]]);
    expect(at.log.lines).toEqual([]);
  });

  it('goes on in memory when it cannot write, says so once, and tries again every 10 s', async () => {
    await using at = await world();
    writeFileSync(at.dir(), 'a file where the folder should be');
    expect(at.accept(beat(0))).toBe(true);
    await vi.waitFor(() => expect(at.log.lines).toEqual(['warn which beats were heard could not be saved']));
    for (let sequence = 1; sequence < 50; sequence += 1) {
      expect(at.accept(beat(sequence))).toBe(true);
      expect(at.accept(beat(sequence))).toBe(false);
      await at.clock.advance(PERIOD_MS);
    }
    for (let round = 0; round < 3; round += 1) {
      await at.clock.advance(SAVE_EVERY_MS);
      await soon();
    }
    rmSync(at.dir());
    await at.written([['R-1', 1, 49 + AHEAD]]);
    await vi.waitFor(() => {
      expect(at.log.lines).toEqual([
        'warn which beats were heard could not be saved',
        'info which beats were heard is saved again',
      ]);
    });
    // The disk is back: what a crash must not forget is written at once again, and a second failure is said again.
    expect(at.accept(beat(0, 2))).toBe(true);
    await at.kept(beat(0, 2));
    rmSync(at.dir(), { recursive: true });
    writeFileSync(at.dir(), 'a file where the folder should be');
    expect(at.accept(beat(0, 3))).toBe(true);
    await vi.waitFor(() => expect(at.log.lines).toHaveLength(3));
    rmSync(at.dir());
    await at.written([['R-1', 3, 0 + AHEAD]]);
    await at.crash();
    for (const heard of [beat(49), beat(0, 2), beat(0, 3)]) expect(at.accept(heard)).toBe(false);
  });

  it('tells who ends it when the last write fails, and what was kept before still refuses', async () => {
    await using at = await world();
    at.accept(beat(0));
    await at.kept(beat(0));
    const kept = readFileSync(at.file(), 'utf8');
    rmSync(at.file());
    mkdirSync(at.file());
    await expect(at.close()).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
    expect(at.clock.pending).toBe(0);
    rmSync(at.file(), { recursive: true });
    writeFileSync(at.file(), kept);
    await at.crash();
    expect(at.accept(beat(0))).toBe(false);
  });

  it('writes nothing after its end, whatever is still accepted', async () => {
    await using at = await world();
    for (let sequence = 0; sequence < 100; sequence += 20) at.accept(beat(sequence));
    const closing = at.close();
    at.accept(beat(1000));
    await closing;
    const last = readFileSync(at.file(), 'utf8');
    at.accept(beat(5000));
    await at.clock.advance(10 * SAVE_EVERY_MS);
    await at.close();
    await soon();
    expect(readFileSync(at.file(), 'utf8')).toBe(last);
    expect(readdirSync(at.dir())).toEqual(['heartbeat-heard.json']);
    expect(at.clock.pending).toBe(0);
  });

  it.each([
    ['empty', ''],
    ['cut off', '{"format":"gw/heartbeat-heard/1","refused":[["R-'],
    ['of another kind', '{"format":"gw/heartbeat-heard/2","refused":[]}'],
    ['wrong in one robot', '{"format":"gw/heartbeat-heard/1","refused":[["R-1",1,5],["R-2",1,-1]]}'],
    ['too long', JSON.stringify({ format: 'gw/heartbeat-heard/1', refused: Array(4097).fill(['R', 1, 1]) })],
  ])('does not begin anew with a file that is %s', async (_, text) => {
    const clock = createFakeClock();
    writeFileSync(join(root, 'heartbeat-heard.json'), text);
    const guard = createReplayGuard({ stateDir: root, clock, log: createListLog() });
    await expect(guard.load()).rejects.toMatchObject({
      code: 'FILE_UNWRITABLE',
      remedy: expect.stringMatching(/move it away/),
    });
    expect(clock.pending).toBe(0);
    await guard.close();
    expect(readFileSync(join(root, 'heartbeat-heard.json'), 'utf8')).toBe(text);
  });

  it('does not look at the clock of the wall', async () => {
    await using at = await world();
    for (const [index, wall] of ['2031-05-01T00:00:00Z', '1970-01-01T00:00:00Z', '2099-12-31T23:59:59Z'].entries()) {
      at.accept(beat(index));
      await at.kept(beat(index));
      at.clock.setWall(new Date(wall));
      expect(at.accept(beat(index))).toBe(false);
      await at.restart();
      expect(at.accept(beat(index))).toBe(false);
    }
    expect(readFileSync(at.file(), 'utf8')).not.toMatch(/19|20/);
    expect(at.accept(beat(3))).toBe(true);
  });

  it('never accepts what was heard before, and accepts what is newer beyond 8 beats, whatever ends come between', async () => {
    type Step = { readonly hear: Counted } | 'restart' | 'crash' | 'wait';
    const counted = fc.record({
      serial: fc.constantFrom('R-1', 'R-2'),
      bootCounter: fc.nat(2),
      sequence: fc.oneof(fc.nat(40), fc.constantFrom(1000, 1005, MOST - 5, MOST)),
    });
    const steps: fc.Arbitrary<Step[]> = fc.array(
      fc.oneof(
        { weight: 8, arbitrary: counted.map((hear): Step => ({ hear })) },
        { weight: 3, arbitrary: fc.constantFrom<Step>('restart', 'crash', 'wait') },
      ),
      { maxLength: 25 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        rmSync(root, { recursive: true, force: true });
        await using at = await world();
        /** The newest that was heard, and whether a crash came since. */
        const model = new Map<string, { newest: Counted; crashed: boolean }>();
        for (const step of all) {
          if (step === 'restart') await at.restart();
          else if (step === 'wait') await at.clock.advance(SAVE_EVERY_MS);
          else if (step === 'crash') {
            if (model.size === 0) continue;
            for (const { newest } of model.values()) await at.kept(newest);
            await at.crash();
            for (const known of model.values()) known.crashed = true;
          } else {
            const { hear } = step;
            const known = model.get(hear.serial);
            const isAccepted = at.accept(hear);
            if (known === undefined || hear.bootCounter > known.newest.bootCounter) expect(isAccepted).toBe(true);
            else if (hear.bootCounter < known.newest.bootCounter) expect(isAccepted).toBe(false);
            else if (hear.sequence <= known.newest.sequence) expect(isAccepted).toBe(false);
            else if (!known.crashed || hear.sequence > known.newest.sequence + AHEAD) expect(isAccepted).toBe(true);
            if (isAccepted) model.set(hear.serial, { newest: hear, crashed: false });
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});
