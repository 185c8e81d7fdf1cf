import { describe, expect, it } from 'vitest';
import { gatewayFeed, withFeed } from '../../../src/lib/toolkit/heartbeat/gateway.ts';
import type { OperatorAccess } from '../../../src/lib/toolkit/operator/access.ts';

/** As a gateway of version 0.2 answers GET /api/nachbarn. */
const robot = {
  serial: 'SN-2',
  address: '192.0.2.2',
  presence: 'alive',
  ageMs: 400,
  upForMs: 50_400,
  moving: false,
  stopped: null,
  batteryPercent: 87,
  pose: { xM: 1, yM: 2, yawDeg: -90 },
  software: '2.12.3',
  heartbeats: 1_000,
  lost: 20,
  conflictWith: null,
};
const rejected = { malformed: 3, otherVersion: 0, otherKey: 1, forged: 0, replayed: 9, tableFull: 0 };
const base = {
  status: 'listening',
  detail: '1 alive, 0 late, 0 gone.',
  robots: [robot],
  rejected,
  isTableFull: false,
  ownSerialFrom: null,
  lastTest: null,
  sending: null,
  dropped: 0,
};

/** Not 0, so that a sum cannot pass for a difference. */
const START_MS = 86_400_000;

/** The view after these answers, a second apart, and `laterMs` after the last one. */
async function viewAfter(answers: readonly object[], laterMs = 0) {
  let nowMs = START_MS;
  const left = [...answers];
  const ask: OperatorAccess['ask'] = async (_method, path, schema) => {
    expect(path).toBe('/api/nachbarn');
    return schema.parse(left.shift());
  };
  const arrivals: unknown[] = [];
  const feed = gatewayFeed({ ask }, { monotonicMs: () => nowMs }, (...arrival) => arrivals.push(arrival));
  const listening: boolean[] = [];
  for (const _ of answers) {
    nowMs += 1_000;
    listening.push(await feed.query());
  }
  nowMs += laterMs;
  return { ...feed.view(), counts: feed.counts(), arrivals, listening };
}

const next = (over: object) => ({ ...base, robots: [{ ...robot, ...over }] });

describe('the feed of gw serve', () => {
  it('counts from the first query on, not what the gateway received before', async () => {
    expect(await viewAfter([base])).toMatchObject({ datagrams: 0, senders: [{ heartbeats: 0, lost: 0 }], noise: [] });
    const { datagrams, senders, noise, otherHeartbeats, gateway } = await viewAfter([
      base,
      {
        ...next({ heartbeats: 1_002, lost: 21 }),
        rejected: { malformed: 4, otherVersion: 0, otherKey: 3, forged: 0, replayed: 11, tableFull: 5 },
      },
    ]);
    expect(senders).toMatchObject([{ serial: 'SN-2', heartbeats: 2, lost: 1, verified: true, test: false }]);
    expect(noise).toEqual([{ address: null, malformed: 1, otherVersion: 0, otherKey: 2, forged: 0 }]);
    expect([datagrams, otherHeartbeats, gateway?.replayed]).toEqual([2 + 1 + 2 + 2 + 5, 5, 2]);
  });

  it('shows a robot that appears with all of its heartbeats, and its state as reported', async () => {
    const { senders } = await viewAfter([{ ...base, robots: [] }, next({ heartbeats: 3, lost: 0 })]);
    expect(senders).toEqual([
      {
        ...{ serial: 'SN-2', address: '192.0.2.2', test: false, verified: true, presence: 'alive', ageMs: 400 },
        ...{ heartbeats: 3, lost: 0, copies: null, replayed: null, periodMs: null, jitterMs: null },
        ...{ alsoFrom: [], conflictWith: [], bootCounter: null, sequence: null, uptimeS: 50 },
        ...{ moving: false, stopped: null, batteryPercent: 87, map: null, software: '2.12.3' },
        pose: { xM: 1, yM: 2, yawDeg: -90 },
      },
    ]);
  });

  it('gives the period from two of them on, over gaps and not across a boot', async () => {
    // Two heartbeats in 4 s, one of them lost.
    const two = next({ heartbeats: 1_001, lost: 21, ageMs: 400 - 4_000 + 4_000, upForMs: 54_400 });
    const later = [base, base, base, base, two].map((view, n) =>
      n === 0 || n === 4 ? view : next({ ageMs: 400 + n * 1_000 }),
    );
    expect((await viewAfter(later)).senders[0]?.periodMs).toBe(2_000);
    expect((await viewAfter([base, next({ heartbeats: 1_001 })])).senders[0]?.periodMs).toBeNull();
    const rebooted = next({ heartbeats: 1_002, upForMs: 400 });
    expect((await viewAfter([base, rebooted])).senders[0]?.periodMs).toBeNull();
  });

  it('ages while no answer comes, so that a silent robot does not stay alive', async () => {
    const at = async (ms: number) => (await viewAfter([base], ms)).senders[0];
    expect(await at(5_599)).toMatchObject({ presence: 'alive', ageMs: 5_999 });
    expect(await at(5_600)).toMatchObject({ presence: 'late', ageMs: 6_000 });
    expect(await at(29_600)).toMatchObject({ presence: 'gone' });
  });

  it('continues its counts over a restart of the gateway, which begins at 0', async () => {
    const fresh = {
      ...next({ heartbeats: 2, lost: 0 }),
      rejected: { ...rejected, malformed: 1, otherKey: 0, replayed: 0 },
    };
    const { senders, noise, gateway } = await viewAfter([base, next({ heartbeats: 1_001 }), fresh]);
    expect(senders[0]).toMatchObject({ heartbeats: 3, lost: 0, periodMs: null });
    expect(noise).toEqual([{ address: null, malformed: 1, otherVersion: 0, otherKey: 0, forged: 0 }]);
    expect(gateway?.replayed).toBe(0);
  });

  it('names the other device of a serial conflict, the last test, and a gateway that does not listen', async () => {
    const lastTest = { serial: 'SN-9', address: '192.0.2.9', ageMs: 700 };
    const view = { ...next({ conflictWith: '192.0.2.3' }), lastTest };
    const { senders, gateway } = await viewAfter([view], 300);
    expect(senders[0]).toMatchObject({ alsoFrom: ['192.0.2.3'], conflictWith: ['192.0.2.3'] });
    expect(gateway?.lastTest).toEqual({ ...lastTest, ageMs: 1_000 });
    const none = { ...base, status: 'not-checked', robots: [], rejected: null, isTableFull: null };
    expect((await viewAfter([base, none])).listening).toEqual([true, false]);
  });
});

describe('the counters of the running gateway', () => {
  const sending = {
    serial: 'SN-1',
    heartbeats: 30,
    lastAgeMs: 900,
    ways: [{ to: '192.0.2.2', from: null, accepted: 29, failure: null }],
  };
  const first = { ...base, sending };

  it('date each heartbeat once, and count only heartbeats received during the query', async () => {
    const { counts, arrivals } = await viewAfter([
      first,
      { ...next({ ageMs: 1_400 }), sending },
      {
        ...next({ ageMs: 420, heartbeats: 1_001, upForMs: 52_400 }),
        rejected: { ...rejected, replayed: 11 },
        sending: { ...sending, heartbeats: 31, lastAgeMs: 890, ways: [{ ...sending.ways[0], accepted: 30 }] },
      },
    ]);
    expect(arrivals).toEqual([
      ['SN-2', { atMs: START_MS + 600, sequence: 1_020, uptimeS: 50.4, boot: 'SN-2' }],
      [null, { atMs: START_MS + 100, sequence: 30, uptimeS: null, boot: 'own' }],
      ['SN-2', { atMs: START_MS + 2_580, sequence: 1_021, uptimeS: 52.4, boot: 'SN-2' }],
      [null, { atMs: START_MS + 2_110, sequence: 31, uptimeS: null, boot: 'own' }],
    ]);
    const nothing = { malformed: 0, otherVersion: 0, otherKey: 0, forged: 0, tableFull: 0 };
    expect(counts?.rejected).toEqual({ ...nothing, replayed: 2 });
    expect(counts?.accepted.get('192.0.2.2')).toBe(1);
  });

  it('are discarded when the gateway was restarted meanwhile', async () => {
    for (const anew of [
      { ...first, sending: { ...sending, heartbeats: 1 } },
      { ...first, rejected: { ...rejected, replayed: 0 } },
      { ...first, robots: [{ ...robot, heartbeats: 1, lost: 0 }] },
    ]) {
      expect((await viewAfter([first, anew])).counts).toBeNull();
    }
  });
});

describe('broadcasts beside the feed of gw serve', () => {
  type Feed = Parameters<typeof withFeed>[0];
  const counts = { malformed: 0, otherVersion: 0, otherKey: 0, forged: 0 };
  const gateway = { replayed: 0, lastTest: null };

  /** Two robots of the feed, with these as received by broadcast. */
  async function beside(own: Partial<Feed>, feed: Partial<Feed> = {}) {
    const robots = ['SN-2', 'SN-3'].map((serial) => ({ ...robot, serial }));
    const grown = robots.map((one) => ({ ...one, heartbeats: 1_004 }));
    const view = await viewAfter([
      { ...base, robots },
      { ...base, robots: grown },
    ]);
    const empty = { datagrams: 0, senders: [], otherHeartbeats: 0, noise: [], gateway: null };
    const sender = view.senders[0];
    if (sender === undefined) throw new Error('no sender');
    const of = (over: Partial<Feed['senders'][number]>) => ({ ...sender, heartbeats: 7, replayed: 1, ...over });
    const { listening: _listening, counts: _counts, arrivals: _arrivals, ...rest } = view;
    return { of, joined: (senders: Feed['senders']) => withFeed({ ...empty, ...own, senders }, { ...rest, ...feed }) };
  }
  const shown = ({ senders }: Feed) => senders.map(({ serial, heartbeats, test }) => [serial, heartbeats, test]);

  it('show a robot as received here, and one that only the gateway receives as it reports it', async () => {
    const { of, joined } = await beside({ datagrams: 9 });
    const both = joined([of({ serial: 'SN-3' }), of({ serial: 'SN-1' })]);
    expect(shown(both)).toEqual([
      ['SN-1', 7, false],
      ['SN-2', 4, false],
      ['SN-3', 7, false],
    ]);
    expect([both.datagrams, both.gateway]).toEqual([9 + 4, gateway]);
  });

  it('do not call a robot late that is alive by unicast, nor show a test as a robot', async () => {
    const { of, joined } = await beside({});
    const view = joined([of({ serial: 'SN-2', presence: 'late' }), of({ serial: 'SN-3', test: true })]);
    expect(shown(view)).toEqual([
      ['SN-2', 4, false],
      ['SN-3', 7, true],
      ['SN-3', 4, false],
    ]);
  });

  it('count a rejected datagram once, by its address where that is known', async () => {
    const own = [{ address: '192.0.2.9', ...counts, otherKey: 4 }];
    const { joined } = await beside({ noise: own }, { noise: [{ address: null, ...counts, otherKey: 4 }] });
    expect(joined([]).noise).toEqual(own);
    const more = await beside({ noise: own }, { noise: [{ address: null, ...counts, otherKey: 6, forged: 1 }] });
    expect(more.joined([]).noise).toEqual([...own, { address: null, ...counts, otherKey: 2, forged: 1 }]);
    expect(more.joined([]).datagrams).toBe(8 + 3);
  });
});
