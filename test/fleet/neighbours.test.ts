import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Heartbeat } from '../../src/lib/fleet/datagram.ts';
import { createNeighbours } from '../../src/lib/fleet/neighbours.ts';
import { createReplayGuard } from '../../src/lib/fleet/replay-guard.ts';
import { silentLog } from '../../src/lib/lifecycle/index.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { runs } from '../properties.ts';
import { heartbeatOf } from './heartbeats.ts';

const PERIOD_MS = 2000;
const self = { serial: 'R-0', instance: '0'.repeat(16) };
const [A, B, C] = ['a', 'b', 'c'].map((letter) => letter.repeat(16)) as [string, string, string];

/** The guard is the real one, but not loaded, so it writes nothing. */
function world() {
  const clock = createFakeClock();
  const guard = createReplayGuard({ stateDir: '/proc/none', clock, log: silentLog });
  const neighbours = createNeighbours({ self, guard, clock });
  return {
    clock,
    neighbours,
    receiveFrom: (values: Partial<Heartbeat>, address = '127.0.0.9') =>
      neighbours.receive(heartbeatOf(values), address),
    only: () => {
      const [first, ...others] = neighbours.list();
      expect(others).toEqual([]);
      return first;
    },
  };
}

describe('the neighbours', () => {
  it('are alive, late after 3 missed heartbeats and gone after 15, and alive again with the next', async () => {
    const { clock, receiveFrom, only } = world();
    receiveFrom({ sequence: 0 });
    expect(only()).toMatchObject({ presence: 'alive', ageMs: 0, heartbeats: 1, lost: 0, conflictWith: null });
    for (const [atMs, presence] of [
      [5_999, 'alive'],
      [6_000, 'late'],
      [29_999, 'late'],
      [30_000, 'gone'],
      [86_400_000, 'gone'],
    ] as const) {
      await clock.advance(atMs - (only()?.ageMs ?? 0));
      expect(only()).toMatchObject({ presence, ageMs: atMs });
    }
    receiveFrom({ sequence: 43_200 });
    expect(only()).toMatchObject({ presence: 'alive', ageMs: 0, heartbeats: 2, lost: 43_199 });
  });

  it('do not depend on the wall clock', async () => {
    const { clock, receiveFrom, only } = world();
    receiveFrom({});
    await clock.advance(1_000);
    for (const wall of ['1970-01-01T00:00:00Z', '2099-01-01T00:00:00Z']) {
      clock.setWall(new Date(wall));
      expect(only()).toMatchObject({ presence: 'alive', ageMs: 1_000 });
    }
  });

  it('are shown by serial with their last heartbeat and its source address', () => {
    const { receiveFrom, neighbours } = world();
    receiveFrom({ serial: 'R-9' }, '127.0.0.9');
    receiveFrom({ serial: 'R-10', uptimeS: 7 }, '127.0.0.10');
    receiveFrom({ serial: 'R-9', sequence: 1 }, '127.0.0.19');
    expect(neighbours.list()).toMatchObject([
      { serial: 'R-10', address: '127.0.0.10', heartbeat: { sequence: 0, uptimeS: 7 } },
      { serial: 'R-9', address: '127.0.0.19', heartbeat: { sequence: 1, uptimeS: 0 } },
    ]);
  });

  it('do not include this robot, whose echo is no heartbeat', () => {
    const { receiveFrom, neighbours } = world();
    for (let sequence = 0; sequence < 10; sequence += 1) expect(receiveFrom({ ...self, sequence })).toBe('echo');
    expect(neighbours.list()).toEqual([]);
    expect(neighbours.ownConflict()).toBeNull();
  });

  it('count gaps between two heartbeats of one boot as lost, and none between two boots', () => {
    const { receiveFrom, only } = world();
    receiveFrom({ bootCounter: 1, sequence: 10 });
    receiveFrom({ bootCounter: 1, sequence: 11 });
    expect(only()).toMatchObject({ heartbeats: 2, lost: 0 });
    receiveFrom({ bootCounter: 1, sequence: 15 });
    expect(only()).toMatchObject({ heartbeats: 3, lost: 3 });
    receiveFrom({ bootCounter: 2, instance: B, sequence: 400 });
    expect(only()).toMatchObject({ heartbeats: 4, lost: 3 });
    receiveFrom({ bootCounter: 2, instance: B, sequence: 402 });
    expect(only()).toMatchObject({ heartbeats: 5, lost: 4 });
    receiveFrom({ bootCounter: 2, instance: B, sequence: 2 ** 32 - 1 });
    expect(only()).toMatchObject({ heartbeats: 6, lost: 4 + 2 ** 32 - 1 - 403 });
  });

  it('are limited to 1000, evicting the one that is silent longest', async () => {
    const { clock, receiveFrom, neighbours } = world();
    const serials = Array.from({ length: 1000 }, (_, index) => `R-${1000 + index}`);
    for (const serial of serials) receiveFrom({ serial });
    await clock.advance(1);
    receiveFrom({ serial: 'R-1000', sequence: 1 });
    expect(neighbours.list().map(({ serial }) => serial)).toEqual(serials);
    expect(receiveFrom({ serial: 'R-2000' })).toBe('received');
    const left = serials.filter((serial) => serial !== 'R-1001');
    expect(neighbours.list().map(({ serial }) => serial)).toEqual([...left, 'R-2000']);
  });

  it('stay consistent and bounded, whatever signed heartbeats arrive', { tags: 'property' }, async () => {
    const anyHeartbeat = fc.record({
      serial: fc.constantFrom('R-0', 'R-1', 'R-2', 'r-1', '__proto__', 'constructor'),
      bootCounter: fc.oneof(fc.nat(3), fc.constant(2 ** 32 - 1)),
      sequence: fc.oneof(fc.nat(20), fc.constant(2 ** 32 - 1)),
      instance: fc.constantFrom(A, B, C, self.instance),
    });
    const from = fc.constantFrom('127.0.0.2', '127.0.0.3');
    const heartbeats = fc.array(fc.tuple(anyHeartbeat, from, fc.nat(40_000)), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(heartbeats, async (all) => {
        const { clock, receiveFrom, neighbours } = world();
        const newest = new Map<string, readonly [number, number]>();
        const last = new Map<string, { readonly key: string; readonly atMs: number }>();
        for (const [heartbeat, address, waitMs] of all) {
          const [boots, sequence] = newest.get(heartbeat.serial) ?? [-1, -1];
          const isNew =
            heartbeat.bootCounter > boots || (heartbeat.bootCounter === boots && heartbeat.sequence > sequence);
          const isOwn = heartbeat.serial === self.serial;
          const key = `${heartbeat.instance} ${heartbeat.bootCounter} ${heartbeat.sequence}`;
          const before = last.get(heartbeat.serial);
          const isCopy = before?.key === key && clock.monotonicMs() - before.atMs < PERIOD_MS;
          const refused = isCopy && !isOwn ? 'copy' : 'replayed';
          const expected =
            isOwn && heartbeat.instance === self.instance ? 'echo' : isNew && !isOwn ? 'received' : refused;
          if (expected === 'received') last.set(heartbeat.serial, { key, atMs: clock.monotonicMs() });
          expect(receiveFrom(heartbeat, address)).toBe(expected);
          if (expected === 'received') newest.set(heartbeat.serial, [heartbeat.bootCounter, heartbeat.sequence]);
          const list = neighbours.list();
          const serials = list.map(({ serial }) => serial);
          expect(serials).toEqual([...newest.keys()].sort());
          expect(list.every(({ lost, heartbeats, ageMs }) => lost >= 0 && heartbeats >= 1 && ageMs >= 0)).toBe(true);
          await clock.advance(waitMs);
        }
      }),
      { numRuns: runs(60) },
    );
  });
});

describe('two devices with one serial', () => {
  it('are shown with the address of the rejected one, after 3 of its heartbeats, and dropped after 30 s', async () => {
    const { clock, receiveFrom, only } = world();
    receiveFrom({ bootCounter: 5, instance: A }, '127.0.0.2');
    for (const [sequence, shown] of [
      [7, null],
      [8, null],
      [9, '127.0.0.3'],
    ] as const) {
      expect(receiveFrom({ bootCounter: 4, instance: B, sequence }, '127.0.0.3')).toBe('replayed');
      expect(only()).toMatchObject({ address: '127.0.0.2', conflictWith: shown });
    }
    await clock.advance(29_999);
    expect(only()?.conflictWith).toBe('127.0.0.3');
    await clock.advance(1);
    expect(only()?.conflictWith).toBeNull();
    receiveFrom({ bootCounter: 4, instance: B, sequence: 10 }, '127.0.0.3');
    expect(only()?.conflictWith).toBeNull();
  });

  it('are shown as long as both send, though the other one uses two addresses', async () => {
    const { clock, receiveFrom, only } = world();
    for (let heartbeat = 0; heartbeat < 30; heartbeat += 1) {
      receiveFrom({ bootCounter: 5, instance: A, sequence: heartbeat }, '127.0.0.2');
      receiveFrom({ bootCounter: 4, instance: B, sequence: heartbeat }, '127.0.0.3');
      receiveFrom({ bootCounter: 4, instance: B, sequence: heartbeat }, '127.0.0.4');
      expect(only()?.conflictWith).toBe(heartbeat < 2 ? null : '127.0.0.3');
      await clock.advance(PERIOD_MS);
    }
  });

  it('are shown also when there are three', async () => {
    const { clock, receiveFrom, only } = world();
    for (let heartbeat = 0; heartbeat < 10; heartbeat += 1) {
      receiveFrom({ bootCounter: 5, instance: A, sequence: heartbeat }, '127.0.0.2');
      receiveFrom({ bootCounter: 4, instance: B, sequence: heartbeat }, '127.0.0.3');
      receiveFrom({ bootCounter: 3, instance: C, sequence: heartbeat }, '127.0.0.4');
      expect(only()?.conflictWith).toBe(heartbeat < 2 ? null : '127.0.0.4');
      await clock.advance(PERIOD_MS);
    }
  });

  it('are shown from the other side when the rejected one overtakes', async () => {
    const { clock, receiveFrom, only } = world();
    for (let heartbeat = 0; heartbeat < 4; heartbeat += 1) {
      receiveFrom({ bootCounter: 5, instance: A, sequence: heartbeat }, '127.0.0.2');
      receiveFrom({ bootCounter: 4, instance: B, sequence: heartbeat }, '127.0.0.3');
      await clock.advance(PERIOD_MS);
    }
    expect(receiveFrom({ bootCounter: 6, instance: C, sequence: 0 }, '127.0.0.3')).toBe('received');
    for (let heartbeat = 4; heartbeat < 7; heartbeat += 1)
      receiveFrom({ bootCounter: 5, instance: A, sequence: heartbeat }, '127.0.0.2');
    expect(only()).toMatchObject({ address: '127.0.0.3', conflictWith: '127.0.0.2' });
  });

  it('cloned with one boot counter are shown whatever heartbeats are lost', { tags: 'property' }, async () => {
    const fates = fc.array(fc.tuple(fc.boolean(), fc.boolean()), { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(fates, fc.nat(3), async (lost, ahead) => {
        const { clock, receiveFrom, only } = world();
        const both = [...lost, ...Array.from({ length: 4 }, () => [false, false] as const)];
        for (const [heartbeat, [isLostA, isLostB]] of both.entries()) {
          if (!isLostA) receiveFrom({ bootCounter: 5, instance: A, sequence: heartbeat }, '127.0.0.2');
          if (!isLostB) receiveFrom({ bootCounter: 5, instance: B, sequence: heartbeat + ahead }, '127.0.0.3');
          await clock.advance(PERIOD_MS);
        }
        const shown = only();
        expect(shown?.conflictWith).toBe(shown?.address === '127.0.0.2' ? '127.0.0.3' : '127.0.0.2');
      }),
      { numRuns: runs(60) },
    );
  });

  it('are not reported for a robot that restarts', async () => {
    const { clock, receiveFrom, only } = world();
    for (let boots = 1; boots < 20; boots += 1) {
      for (let heartbeat = 0; heartbeat < 5; heartbeat += 1) {
        receiveFrom({ bootCounter: boots, instance: boots.toString(16).padStart(16, '0'), sequence: heartbeat });
        expect(only()?.conflictWith).toBeNull();
        await clock.advance(PERIOD_MS);
      }
    }
  });

  it('are not reported for one that replaced another with the same boot counter', async () => {
    const { clock, receiveFrom, only } = world();
    for (let heartbeat = 0; heartbeat < 10; heartbeat += 1) {
      const [instance, address] = heartbeat < 5 ? [A, '127.0.0.2'] : [B, '127.0.0.3'];
      receiveFrom({ bootCounter: 5, instance, sequence: heartbeat }, address);
      expect(only()?.conflictWith).toBeNull();
      await clock.advance(PERIOD_MS);
    }
  });

  it('are not reported for one whose first heartbeats with the same boot counter were rejected', () => {
    const { receiveFrom, only } = world();
    receiveFrom({ bootCounter: 5, instance: A, sequence: 100 }, '127.0.0.2');
    expect(receiveFrom({ bootCounter: 5, instance: B, sequence: 100 }, '127.0.0.3')).toBe('replayed');
    expect(receiveFrom({ bootCounter: 5, instance: B, sequence: 101 }, '127.0.0.3')).toBe('received');
    expect(only()?.conflictWith).toBeNull();
  });

  it('are not reported for one whose heartbeats arrive by several routes, also late', async () => {
    const { clock, receiveFrom, only } = world();
    for (let heartbeat = 0; heartbeat < 10; heartbeat += 1) {
      receiveFrom({ bootCounter: 5, sequence: heartbeat }, '127.0.0.2');
      expect(receiveFrom({ bootCounter: 5, sequence: heartbeat }, '127.0.0.3')).toBe('copy');
      if (heartbeat > 1) expect(receiveFrom({ bootCounter: 5, sequence: heartbeat - 1 }, '127.0.0.4')).toBe('replayed');
      expect(only()).toMatchObject({ address: '127.0.0.2', conflictWith: null });
      await clock.advance(PERIOD_MS);
      // A heartbeat of this age was recorded and replayed.
      expect(receiveFrom({ bootCounter: 5, sequence: heartbeat }, '127.0.0.3')).toBe('replayed');
    }
  });

  it('are not reported for a recording that is replayed repeatedly', async () => {
    const { clock, receiveFrom, only } = world();
    receiveFrom({ bootCounter: 5, instance: A, sequence: 50 }, '127.0.0.2');
    for (let round = 0; round < 30; round += 1) {
      expect(receiveFrom({ bootCounter: 5, instance: A, sequence: 20 }, '127.0.0.6')).toBe('replayed');
      expect(receiveFrom({ bootCounter: 4, instance: B, sequence: 70 }, '127.0.0.6')).toBe('replayed');
      expect(receiveFrom({ bootCounter: 4, instance: B, sequence: 71 }, '127.0.0.6')).toBe('replayed');
      expect(only()).toMatchObject({ address: '127.0.0.2', conflictWith: null });
      await clock.advance(PERIOD_MS);
    }
  });

  it('are reported for this robot when another device uses its serial', async () => {
    const { clock, receiveFrom, neighbours } = world();
    for (let heartbeat = 0; heartbeat < 10; heartbeat += 1) {
      receiveFrom({ ...self, bootCounter: 9, sequence: heartbeat }, '127.0.0.1');
      expect(receiveFrom({ ...self, instance: A, sequence: heartbeat }, '127.0.0.3')).toBe('replayed');
      expect(receiveFrom({ ...self, instance: A, sequence: heartbeat }, '127.0.0.4')).toBe('replayed');
      expect(neighbours.ownConflict()).toBe(heartbeat < 2 ? null : '127.0.0.3');
      await clock.advance(PERIOD_MS);
    }
    expect(neighbours.list()).toEqual([]);
    await clock.advance(30_000 - PERIOD_MS);
    expect(neighbours.ownConflict()).toBeNull();
  });

  it('are not reported for a recording of this robot from before its start', async () => {
    const { clock, receiveFrom, neighbours } = world();
    for (let round = 0; round < 30; round += 1) {
      receiveFrom({ ...self, instance: A, sequence: 5 }, '127.0.0.6');
      expect(neighbours.ownConflict()).toBeNull();
      await clock.advance(PERIOD_MS);
    }
  });
});
