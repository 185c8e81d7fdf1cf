import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createReplayGuard, type ReplayGuard } from '../../src/lib/fleet/replay-guard.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { folderOfEach } from '../lifecycle/folder.ts';
import { diskSettled } from '../lifecycle/paced-clock.ts';
import { runs } from '../properties.ts';
import { until } from '../waiting.ts';
import { createListLog } from './heartbeats.ts';

const PERIOD_MS = 2000;
const SAVE_EVERY_MS = 10_000;
const AHEAD = 8;
const MAX_COUNTER = 2 ** 32 - 1;

const root = folderOfEach();

interface Counted {
  readonly serial: string;
  readonly bootCounter: number;
  readonly sequence: number;
}
const heartbeat = (sequence: number, bootCounter = 1, serial = 'R-1'): Counted => ({ serial, bootCounter, sequence });

/** Successive guards on one disk. `restart` ends the one before cleanly, `crash` as a power cut would. */
async function world() {
  const clock = createFakeClock();
  const log = createListLog();
  const left: ReplayGuard[] = [];
  let boots = 0;
  let dir = root.at(`disk-${boots}`);
  let guard = createReplayGuard({ stateDir: dir, clock, log });
  await guard.load();

  const file = () => join(dir, 'heartbeat-received.json');
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
    /** Waits until the file on disk rejects this heartbeat; no timer is advanced. */
    kept: (counted: Counted) => until(() => existsSync(file()) && covers(counted), Boolean),
    /** Advances time by 10 s until a write has updated the file: a write in progress replaces the next. */
    async written(expected: [string, number, number][]) {
      const next = async () => {
        await clock.advance(SAVE_EVERY_MS);
        return existsSync(file()) ? rows() : [];
      };
      await expect.poll(next).toEqual(expected);
    },
    async restart() {
      await guard.close();
      await begin();
    },
    /** The new guard continues with the current disk; later writes of the old guard go to another disk. */
    async crash() {
      boots += 1;
      const next = root.at(`disk-${boots}`);
      mkdirSync(next);
      cpSync(file(), join(next, 'heartbeat-received.json'));
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
  it('accepts newer heartbeats and rejects equal and older ones', async () => {
    await using at = await world();
    for (const [sequence, bootCounter, isNew] of [
      [5, 3, true],
      [5, 3, false],
      [4, 3, false],
      [6, 3, true],
      [100, 3, true],
      [7, 3, false],
      [5000, 2, false],
      [MAX_COUNTER, 0, false],
      [0, 4, true],
      [0, 4, false],
      [101, 3, false],
    ] as const) {
      expect(at.accept(heartbeat(sequence, bootCounter)), `${bootCounter}/${sequence}`).toBe(isNew);
    }
    expect(at.accept(heartbeat(0, 0, 'R-2'))).toBe(true);
  });

  it('rejects a boot whose sequence is exhausted, and accepts the next boot', async () => {
    await using at = await world();
    expect(at.accept(heartbeat(MAX_COUNTER - 1))).toBe(true);
    expect(at.accept(heartbeat(MAX_COUNTER))).toBe(true);
    expect(at.accept(heartbeat(0))).toBe(false);
    expect(at.accept(heartbeat(MAX_COUNTER))).toBe(false);
    await at.kept(heartbeat(MAX_COUNTER));
    expect(at.rows()).toEqual([['R-1', 1, MAX_COUNTER]]);
    await at.crash();
    expect(at.accept(heartbeat(MAX_COUNTER))).toBe(false);
    expect(at.accept(heartbeat(0, MAX_COUNTER))).toBe(true);
    expect(at.accept(heartbeat(0, MAX_COUNTER))).toBe(false);
  });

  it('rejects after a clean end all received heartbeats, and accepts the next', async () => {
    await using at = await world();
    for (const sequence of [0, 1, 2, 7]) at.accept(heartbeat(sequence, 3));
    at.accept(heartbeat(40, 1, 'R-2'));
    await at.restart();
    expect(at.rows()).toEqual([
      ['R-1', 3, 7],
      ['R-2', 1, 40],
    ]);
    for (const sequence of [0, 1, 2, 7]) expect(at.accept(heartbeat(sequence, 3))).toBe(false);
    expect(at.accept(heartbeat(8, 3))).toBe(true);
    expect(at.accept(heartbeat(41, 1, 'R-2'))).toBe(true);
  });

  it('rejects after a crash all heartbeats received since the last write, and accepts the robot at most 8 heartbeats later', async () => {
    await using at = await world();
    const received: Counted[] = [];
    const receive = (from: number, to: number) => {
      for (let sequence = from; sequence <= to; sequence += 1) {
        received.push(heartbeat(sequence));
        expect(at.accept(heartbeat(sequence))).toBe(true);
      }
    };
    receive(0, 24);
    await at.written([['R-1', 1, 24 + AHEAD]]);
    receive(25, 28);
    expect(at.rows()).toEqual([['R-1', 1, 24 + AHEAD]]);
    await at.crash();
    for (const recorded of received) expect(at.accept(recorded)).toBe(false);
    const missed = Array.from({ length: 20 }, (_, index) => at.accept(heartbeat(29 + index))).indexOf(true);
    expect(missed).toBe(4);
  });

  it('rejects the heartbeats of a new boot after a crash that followed the first', async () => {
    await using at = await world();
    at.accept(heartbeat(500, 1));
    await at.kept(heartbeat(500, 1));
    at.accept(heartbeat(0, 2));
    await at.kept(heartbeat(0, 2));
    await at.crash();
    expect(at.accept(heartbeat(501, 1))).toBe(false);
    expect(at.accept(heartbeat(0, 2))).toBe(false);
    expect(at.accept(heartbeat(AHEAD + 1, 2))).toBe(true);
  });

  it('rejects after a crash also the heartbeats of a robot that was out of reach for long', async () => {
    await using at = await world();
    at.accept(heartbeat(10));
    await at.kept(heartbeat(10));
    for (const sequence of [2000, 2001, 2002]) expect(at.accept(heartbeat(sequence))).toBe(true);
    await at.kept(heartbeat(2002));
    await at.crash();
    for (const sequence of [10, 11, 1999, 2000, 2001, 2002]) expect(at.accept(heartbeat(sequence))).toBe(false);
  });

  it('accepts every robot again also after repeated crashes', async () => {
    await using at = await world();
    at.accept(heartbeat(0));
    await at.kept(heartbeat(0));
    for (let crash = 0; crash < 5; crash += 1) {
      await at.crash();
      expect(at.accept(heartbeat(AHEAD))).toBe(false);
      at.accept(heartbeat(crash, 1, 'R-2'));
      await at.clock.advance(SAVE_EVERY_MS);
      await at.kept(heartbeat(crash, 1, 'R-2'));
    }
    expect(at.accept(heartbeat(AHEAD + 1))).toBe(true);
  });

  it('writes every 10 s when there are changes', async () => {
    await using at = await world();
    at.accept(heartbeat(0));
    await at.kept(heartbeat(0));
    const first = statSync(at.file()).ino;
    at.accept(heartbeat(1));
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

  it('remembers 4096 robots and evicts none for another', async () => {
    await using at = await world();
    for (let robot = 0; robot < 4096; robot += 1) expect(at.accept(heartbeat(0, 1, `R-${robot}`))).toBe(true);
    expect(at.accept(heartbeat(0, 1, 'R-4096'))).toBe(false);
    await at.kept(heartbeat(0, 1, 'R-4095'));
    await at.restart();
    expect(at.accept(heartbeat(0, 1, 'R-4096'))).toBe(false);
    for (let robot = 0; robot < 4096; robot += 1) {
      expect(at.accept(heartbeat(0, 1, `R-${robot}`))).toBe(false);
      expect(at.accept(heartbeat(1, 1, `R-${robot}`))).toBe(true);
    }
  });

  it('creates its folder again when it was removed', async () => {
    await using at = await world();
    at.accept(heartbeat(0));
    await at.restart();
    rmSync(at.dir(), { recursive: true });
    at.accept(heartbeat(1));
    await at.kept(heartbeat(1));
    expect(at.rows()).toEqual([['R-1', 1, 1 + AHEAD]]);
    expect(at.log.lines).toEqual([]);
  });

  it('continues in memory when it cannot write, reports it once, and retries every 10 s', async () => {
    await using at = await world();
    const failed = 'warn replay guard state could not be saved';
    writeFileSync(at.dir(), 'a file where the folder should be');
    expect(at.accept(heartbeat(0))).toBe(true);
    await expect.poll(() => at.log.lines).toEqual([failed]);
    for (let sequence = 1; sequence < 50; sequence += 1) {
      expect(at.accept(heartbeat(sequence))).toBe(true);
      expect(at.accept(heartbeat(sequence))).toBe(false);
      await at.clock.advance(PERIOD_MS);
    }
    for (let round = 0; round < 3; round += 1) {
      await at.clock.advance(SAVE_EVERY_MS);
      await diskSettled();
    }
    rmSync(at.dir());
    await at.written([['R-1', 1, 49 + AHEAD]]);
    await expect.poll(() => at.log.lines).toEqual([failed, 'info replay guard state is saved again']);
    // The disk is back: state that a crash must not lose is written at once again, and a second failure is reported
    // again.
    expect(at.accept(heartbeat(0, 2))).toBe(true);
    await at.kept(heartbeat(0, 2));
    rmSync(at.dir(), { recursive: true });
    writeFileSync(at.dir(), 'a file where the folder should be');
    expect(at.accept(heartbeat(0, 3))).toBe(true);
    await expect.poll(() => at.log.lines).toHaveLength(3);
    rmSync(at.dir());
    await at.written([['R-1', 3, 0 + AHEAD]]);
    await at.crash();
    for (const received of [heartbeat(49), heartbeat(0, 2), heartbeat(0, 3)]) expect(at.accept(received)).toBe(false);
  });

  it('reports a failure of its last write, and earlier state still rejects', async () => {
    await using at = await world();
    at.accept(heartbeat(0));
    await at.kept(heartbeat(0));
    const kept = readFileSync(at.file(), 'utf8');
    rmSync(at.file());
    mkdirSync(at.file());
    await expect(at.close()).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
    expect(at.clock.pending).toBe(0);
    rmSync(at.file(), { recursive: true });
    writeFileSync(at.file(), kept);
    await at.crash();
    expect(at.accept(heartbeat(0))).toBe(false);
  });

  it('writes nothing after its end, whatever is accepted later', async () => {
    await using at = await world();
    for (let sequence = 0; sequence < 100; sequence += 20) at.accept(heartbeat(sequence));
    const closing = at.close();
    at.accept(heartbeat(1000));
    await closing;
    const last = readFileSync(at.file(), 'utf8');
    at.accept(heartbeat(5000));
    await at.clock.advance(10 * SAVE_EVERY_MS);
    await at.close();
    await diskSettled();
    expect(readFileSync(at.file(), 'utf8')).toBe(last);
    expect(readdirSync(at.dir())).toEqual(['heartbeat-received.json']);
    expect(at.clock.pending).toBe(0);
  });

  it.each([
    ['empty', ''],
    ['cut off', '{"format":"gw/heartbeat-received/1","refused":[["R-'],
    ['of another kind', '{"format":"gw/heartbeat-received/2","refused":[]}'],
    ['wrong in one robot', '{"format":"gw/heartbeat-received/1","refused":[["R-1",1,5],["R-2",1,-1]]}'],
    ['too long', JSON.stringify({ format: 'gw/heartbeat-received/1', refused: Array(4097).fill(['R', 1, 1]) })],
  ])('does not start empty with a file that is %s', async (_, text) => {
    const clock = createFakeClock();
    writeFileSync(root.at('heartbeat-received.json'), text);
    const guard = createReplayGuard({ stateDir: root.path, clock, log: createListLog() });
    const refusal = { code: 'FILE_UNREADABLE', remedy: expect.stringMatching(/move it away/) };
    await expect(guard.load()).rejects.toMatchObject(refusal);
    expect(clock.pending).toBe(0);
    await guard.close();
    expect(readFileSync(root.at('heartbeat-received.json'), 'utf8')).toBe(text);
  });

  it('does not depend on the wall clock', async () => {
    await using at = await world();
    for (const [index, wall] of ['2031-05-01T00:00:00Z', '1970-01-01T00:00:00Z', '2099-12-31T23:59:59Z'].entries()) {
      at.accept(heartbeat(index));
      await at.kept(heartbeat(index));
      at.clock.setWall(new Date(wall));
      expect(at.accept(heartbeat(index))).toBe(false);
      await at.restart();
      expect(at.accept(heartbeat(index))).toBe(false);
    }
    expect(readFileSync(at.file(), 'utf8')).not.toMatch(/19|20/);
    expect(at.accept(heartbeat(3))).toBe(true);
  });

  it('never accepts a heartbeat twice, and accepts newer ones after at most 8, whatever ends occur between', {
    tags: 'property',
  }, async () => {
    type Step = { readonly receive: Counted } | 'restart' | 'crash' | 'wait';
    const counted = fc.record({
      serial: fc.constantFrom('R-1', 'R-2'),
      bootCounter: fc.nat(2),
      sequence: fc.oneof(fc.nat(40), fc.constantFrom(1000, 1005, MAX_COUNTER - 5, MAX_COUNTER)),
    });
    const receipt = { weight: 8, arbitrary: counted.map((receive): Step => ({ receive })) };
    const other = { weight: 3, arbitrary: fc.constantFrom<Step>('restart', 'crash', 'wait') };
    const steps: fc.Arbitrary<Step[]> = fc.array(fc.oneof(receipt, other), { maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        rmSync(root.path, { recursive: true, force: true });
        await using at = await world();
        /** The newest received heartbeat, and whether a crash occurred since. */
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
            const { receive } = step;
            const known = model.get(receive.serial);
            const isAccepted = at.accept(receive);
            if (known === undefined || receive.bootCounter > known.newest.bootCounter) expect(isAccepted).toBe(true);
            else if (receive.bootCounter < known.newest.bootCounter) expect(isAccepted).toBe(false);
            else if (receive.sequence <= known.newest.sequence) expect(isAccepted).toBe(false);
            else if (!known.crashed || receive.sequence > known.newest.sequence + AHEAD) expect(isAccepted).toBe(true);
            if (isAccepted) model.set(receive.serial, { newest: receive, crashed: false });
          }
        }
      }),
      { numRuns: runs(60) },
    );
  });
});
