import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeHeartbeat } from '../../src/lib/fleet/datagram.ts';
import { createTableFullCounter } from '../../src/lib/fleet/fleet.ts';
import { createKey, createKeyRing } from '../../src/lib/fleet/keys.ts';
import { createNeighbours } from '../../src/lib/fleet/neighbours.ts';
import { createReplayGuard, MAX_SERIALS } from '../../src/lib/fleet/replay-guard.ts';
import { createSniffer } from '../../src/lib/fleet/sniffer.ts';
import { type Log, silentLog } from '../../src/lib/lifecycle/index.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { folderOfEach } from '../lifecycle/folder.ts';
import { runs } from '../properties.ts';
import { heartbeatOf } from './heartbeats.ts';

const ROBOTS = ['SN0001', 'SN0002', 'SN0003'];
const reserved = new Set(ROBOTS);
const self = { serial: 'SN0000', instance: '0'.repeat(16) };

const root = folderOfEach();

/** A device that has the key and invents serials. */
function invent(accept: ReturnType<typeof createReplayGuard>['accept'], count: number) {
  const verdicts: Record<string, number> = {};
  for (let i = 0; i < count; i += 1) {
    const verdict = accept({ serial: `X-${i}`, bootCounter: 1, sequence: 0 });
    verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
  }
  return verdicts;
}

describe('a table of serials under a flood', () => {
  it('reserves the places of the robots of the site, before and after they were received', async () => {
    const guard = createReplayGuard({ stateDir: root.path, clock: createFakeClock(), log: silentLog, reserved });
    await guard.load();
    expect(guard.accept({ serial: 'SN0001', bootCounter: 1, sequence: 5 })).toBe('newer');
    expect(guard.isFull()).toBe(false);
    expect(invent(guard.accept, MAX_SERIALS + 100)).toEqual({ newer: MAX_SERIALS - 3, 'table-full': 103 });
    for (const serial of ROBOTS) expect(guard.accept({ serial, bootCounter: 1, sequence: 6 })).toBe('newer');
    expect(guard.accept({ serial: 'SN0001', bootCounter: 1, sequence: 6 })).toBe('replayed');
    expect(guard.accept({ serial: 'X-0', bootCounter: 1, sequence: 1 })).toBe('newer');
    expect(guard.accept({ serial: 'SN9999', bootCounter: 1, sequence: 0 })).toBe('table-full');
    expect(guard.isFull()).toBe(true);
    await guard.close();
    expect(JSON.parse(readFileSync(root.at('heartbeat-received.json'), 'utf8')).refused).toHaveLength(MAX_SERIALS);
  });

  it('holds no second place for a robot that was received in an earlier boot', async () => {
    const options = { stateDir: root.path, clock: createFakeClock(), log: silentLog, reserved };
    const before = createReplayGuard(options);
    await before.load();
    for (const serial of ROBOTS) before.accept({ serial, bootCounter: 1, sequence: 0 });
    await before.close();
    const guard = createReplayGuard(options);
    await guard.load();
    expect(invent(guard.accept, MAX_SERIALS)).toEqual({ newer: MAX_SERIALS - 3, 'table-full': 3 });
    await guard.close();
  });

  it('evicts no robot of the site for another', async () => {
    const clock = createFakeClock();
    const before = createReplayGuard({ stateDir: root.path, clock, log: silentLog });
    await before.load();
    before.accept({ serial: 'SN0001', bootCounter: 1, sequence: 9 });
    invent(before.accept, MAX_SERIALS - 1);
    await before.close();
    const guard = createReplayGuard({ stateDir: root.path, clock, log: silentLog, reserved });
    await guard.load();
    for (const serial of ['SN0002', 'SN0003']) {
      expect(guard.accept({ serial, bootCounter: 1, sequence: 0 })).toBe('newer');
    }
    expect(guard.accept({ serial: 'SN0001', bootCounter: 1, sequence: 9 })).toBe('replayed');
    await guard.close();
  });

  it('evicts others for them when it was full before they were named, and the file stays readable', async () => {
    const clock = createFakeClock();
    const before = createReplayGuard({ stateDir: root.path, clock, log: silentLog });
    await before.load();
    expect(invent(before.accept, MAX_SERIALS)).toEqual({ newer: MAX_SERIALS });
    await before.close();
    const guard = createReplayGuard({ stateDir: root.path, clock, log: silentLog, reserved });
    await guard.load();
    for (const serial of ROBOTS) expect(guard.accept({ serial, bootCounter: 1, sequence: 0 })).toBe('newer');
    // The evicted ones are foreign robots from now on: none of their heartbeats is accepted again.
    for (let i = 0; i < 3; i += 1) {
      expect(guard.accept({ serial: `X-${i}`, bootCounter: 1, sequence: 0 })).toBe('table-full');
    }
    await guard.close();
    const after = createReplayGuard({ stateDir: root.path, clock, log: silentLog, reserved });
    await after.load();
    expect(after.isFull()).toBe(true);
    expect(after.accept({ serial: 'SN0002', bootCounter: 1, sequence: 0 })).toBe('replayed');
    await after.close();
  });

  it('rejects no robot of the site and keeps its bound, whatever arrives in whatever order', {
    tags: 'property',
  }, async () => {
    const anyOrder = fc.array(fc.oneof(fc.constantFrom(...ROBOTS), fc.integer({ min: 0, max: 9_000 })), {
      maxLength: 50,
    });
    fc.assert(
      fc.property(anyOrder, (order) => {
        const clock = createFakeClock();
        const guard = createReplayGuard({ stateDir: '/proc/none', clock, log: silentLog, reserved });
        const received = new Set<string>();
        order.forEach((who, sequence) => {
          if (typeof who === 'number') {
            for (let i = 0; i < 400; i += 1) {
              const serial = `X-${who * 400 + i}`;
              if (guard.accept({ serial, bootCounter: 1, sequence }) === 'newer') received.add(serial);
            }
          } else expect(guard.accept({ serial: who, bootCounter: 1, sequence })).toBe('newer');
        });
        expect(received.size).toBeLessThanOrEqual(MAX_SERIALS - ROBOTS.length);
      }),
      { numRuns: runs(20) },
    );
  });
});

it('a list of neighbours under a flood keeps the robots of the site with their counts, silent ones too', async () => {
  const clock = createFakeClock();
  const guard = createReplayGuard({ stateDir: '/proc/none', clock, log: silentLog, reserved });
  const neighbours = createNeighbours({ self, guard, clock, reserved });
  const receive = (serial: string, sequence: number) =>
    neighbours.receive(heartbeatOf({ serial, sequence }), '127.0.0.9');
  for (const serial of ROBOTS) for (const sequence of [0, 1, 4]) receive(serial, sequence);
  await clock.advance(60_000);
  receive('SN0001', 34);
  for (let i = 0; i < MAX_SERIALS + 10; i += 1) receive(`X-${i}`, 0);
  expect(receive('X-unknown', 0)).toBe('table-full');
  const list = neighbours.list();
  expect(list).toHaveLength(1_000);
  const known = list.filter(({ serial }) => reserved.has(serial));
  expect(known.map(({ serial, presence, heartbeats, lost }) => [serial, presence, heartbeats, lost])).toEqual([
    ['SN0001', 'alive', 4, 31],
    ['SN0002', 'gone', 3, 2],
    ['SN0003', 'gone', 3, 2],
  ]);
});

it('a sniffer under a flood shows each robot of the site, once, and counts the others', () => {
  const key = createKey(Buffer.alloc(32, 7));
  const sniffer = createSniffer({ keys: createKeyRing([key]), clock: createFakeClock(), reserved });
  const receiveFrom = (serial: string, address: string, sequence = 0) => {
    const { state, ...heartbeat } = heartbeatOf({ serial, sequence });
    sniffer.receive(encodeHeartbeat({ ...heartbeat, state }, key), address);
  };
  sniffer.receive(encodeHeartbeat(heartbeatOf({ serial: 'SN0001' }), key, 'test'), '192.0.2.66');
  for (let i = 0; i < 600; i += 1) receiveFrom(`X-${i}`, '192.0.2.66');
  for (const serial of ROBOTS) receiveFrom(serial, '192.0.2.1');
  for (let i = 0; i < 50; i += 1) receiveFrom('SN0001', `198.51.100.${i}`, 1);
  const { senders, otherHeartbeats } = sniffer.view();
  const robots = senders.filter(({ serial, test }) => !test && reserved.has(serial));
  expect(robots.map(({ serial }) => serial)).toEqual(ROBOTS);
  expect([senders.length, otherHeartbeats]).toEqual([503, 151]);
});

it('the log of a full table is one line, and another every ten minutes while it continues', async () => {
  const clock = createFakeClock();
  const lines: object[] = [];
  const log: Pick<Log, 'warn'> = { warn: (fields) => void lines.push(fields) };
  const tableFull = createTableFullCounter(clock, log);
  for (let i = 0; i < 5_000; i += 1) tableFull.refused('192.0.2.66');
  expect(lines).toEqual([{ serials: MAX_SERIALS, refused: 1, address: '192.0.2.66' }]);
  await clock.advance(10 * 60_000 - 1);
  tableFull.refused('192.0.2.66');
  await clock.advance(1);
  tableFull.refused('192.0.2.67');
  tableFull.refused('192.0.2.67');
  expect(lines.slice(1)).toEqual([{ serials: MAX_SERIALS, refused: 5_002, address: '192.0.2.67' }]);
  expect(tableFull.count()).toBe(5_003);
});
