import { describe, expect, it } from 'vitest';
import { watchGateway } from '../../../src/lib/toolkit/heartbeat/gateway.ts';
import type { OperatorAccess } from '../../../src/lib/toolkit/operator/access.ts';

const rejected = { malformed: 3, otherVersion: 0, otherKey: 1, forged: 0, replayed: 9, tableFull: 0 };
const robot = {
  serial: 'SN-2',
  address: '192.0.2.2',
  presence: 'alive',
  ageMs: 400,
  upForMs: 50_000,
  heartbeats: 10,
  lost: 2,
  conflictWith: null,
};
const sending = {
  serial: 'SN-1',
  heartbeats: 30,
  lastAgeMs: 900,
  ways: [{ to: '192.0.2.2', from: null, accepted: 29, failure: null }],
};
const base = { robots: [robot], rejected, isTableFull: false, ownSerialFrom: null, sending };

/** Not 0, so that a sum cannot pass for a difference. */
const START_MS = 86_400_000;

/** Answers one after the other, a second apart. */
function watch(...answers: readonly object[]) {
  const left = [...answers];
  let nowMs = START_MS;
  const ask: OperatorAccess['ask'] = async (_method, _path, schema) => schema.parse(left.shift());
  const gateway = watchGateway({ ask }, () => {
    nowMs += 1_000;
    return nowMs;
  });
  return {
    gateway,
    all: async () => {
      for (const _ of answers) await gateway.query();
    },
  };
}

describe('the counters of the running gateway', () => {
  it('date each heartbeat once, and count only heartbeats received during the query', async () => {
    const { gateway, all } = watch(
      base,
      { ...base, robots: [{ ...robot, ageMs: 1_400 }] },
      {
        ...base,
        robots: [{ ...robot, ageMs: 420, heartbeats: 11, upForMs: 52_000 }],
        rejected: { ...rejected, replayed: 11 },
        sending: { ...sending, heartbeats: 31, lastAgeMs: 890, ways: [{ ...sending.ways[0], accepted: 30 }] },
      },
    );
    await all();
    const counts = gateway.counts();
    expect(counts.arrivals.get('SN-2')).toEqual([
      { atMs: START_MS + 600, sequence: 12, uptimeS: 50, boot: 'SN-2' },
      { atMs: START_MS + 2_580, sequence: 13, uptimeS: 52, boot: 'SN-2' },
    ]);
    expect(counts.sent.map(({ atMs, sequence }) => [atMs, sequence])).toEqual([
      [START_MS + 100, 30],
      [START_MS + 2_110, 31],
    ]);
    expect(counts.rejected).toEqual({
      malformed: 0,
      otherVersion: 0,
      otherKey: 0,
      forged: 0,
      replayed: 2,
      tableFull: 0,
    });
    expect(counts.accepted.get('192.0.2.2')).toBe(1);
  });

  it('are discarded when the gateway was restarted meanwhile', async () => {
    const anew = [
      { ...base, sending: { ...sending, heartbeats: 1 } },
      { ...base, rejected: { ...rejected, replayed: 0 } },
      { ...base, robots: [{ ...robot, heartbeats: 1, lost: 0 }] },
    ];
    for (const after of anew) {
      const { gateway, all } = watch(base, after);
      await all();
      expect(() => gateway.counts()).toThrow('restarted');
    }
  });
});
