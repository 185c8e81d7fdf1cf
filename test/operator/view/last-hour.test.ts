import { describe, expect, it } from 'vitest';
import type { ChassisSnapshot } from '../../../src/lib/chassis/index.ts';
import { createLastHour } from '../../../src/lib/operator/view/last-hour.ts';
import { lastHourSchema } from '../../../src/lib/pages/last-hour.ts';
import { get, startServer } from '../server.ts';
import { snapshotWith, standInClock, tried } from '../stand-ins.ts';

const S = 1_000;
const connected: ChassisSnapshot = { ...snapshotWith({ kind: 'connected', tried }), linkForMs: 3_600 * S };
const away = (forMs: number): ChassisSnapshot => ({
  ...connected,
  link: { kind: 'not-connected', failure: 'cut', detail: 'x', tried },
  linkForMs: forMs,
});
const withBattery = (change: object): ChassisSnapshot =>
  ({ ...connected, values: { ...connected.values, battery: { ...connected.values.battery, ...change } } }) as never;

function setUp(first: ChassisSnapshot = connected) {
  const clock = standInClock();
  let snapshot = first;
  const hour = createLastHour(() => snapshot, clock);
  return {
    clock,
    hour,
    become(next: ChassisSnapshot, forMs = 10 * S) {
      snapshot = next;
      clock.advance(forMs);
      return hour.view();
    },
  };
}

describe('the last hour', () => {
  it('has a sample every ten seconds by the monotonic clock, and its age', () => {
    const { clock, hour } = setUp();
    expect(hour.view()).toEqual({
      ...{ sampleMs: 10 * S, ageMs: 0, batteryPercent: [87], poseAgeMs: [400], speedMS: [0], roundTripMs: [12] },
      connected: [true],
    });
    clock.advance(25 * S);
    const view = hour.view();
    expect([view.batteryPercent, view.ageMs]).toEqual([[87, 87, 87], 5 * S]);
    expect(lastHourSchema.parse(view)).toEqual(view);
  });

  it('keeps 360 samples, however long it runs', () => {
    const { clock, hour } = setUp();
    clock.advance(26 * 3_600 * S);
    for (const column of ['batteryPercent', 'poseAgeMs', 'speedMS', 'roundTripMs', 'connected'] as const)
      expect(hour.view()[column]).toHaveLength(360);
  });

  it('knows nothing of the time in which the process was suspended', () => {
    const clock = standInClock();
    let due: () => void = () => {};
    const after = (_ms: number, fn: () => void) => {
      due = fn;
      return { [Symbol.dispose]: () => {} };
    };
    const hour = createLastHour(() => connected, { monotonicMs: clock.monotonicMs, after });
    clock.advance(40 * S);
    due();
    expect(hour.view().batteryPercent).toEqual([87, null, null, null, 87]);
    clock.advance(30 * 24 * 3_600 * S);
    due();
    const { batteryPercent } = hour.view();
    expect([batteryPercent.length, batteryPercent.filter((value) => value !== null)]).toEqual([360, [87]]);
  });

  it.each<[string, object]>([
    ['outdated', { stale: true, staleReason: 'too-old' }],
    ['followed by a malformed message', { stale: true, staleReason: 'newer-rejected' }],
    ['of an undecided scale', { value: { percent: 1, orPercent: 100, status: 'full' } }],
    ['never received', { status: 'not-received' }],
  ])('has a gap where the battery was %s', (_what, change) => {
    expect(setUp().become(withBattery(change)).batteryPercent).toEqual([87, null]);
  });

  it('has no age of a pose without a link, nor of one of an earlier connection', () => {
    const { become } = setUp();
    become(away(5 * S));
    const pose = { ...connected.values.pose, stale: true, staleReason: 'not-received-since-reconnect' };
    const back = { ...connected, values: { ...connected.values, pose } } as ChassisSnapshot;
    expect(become(back).poseAgeMs).toEqual([400, null, null]);
  });

  it('has the speed that the poses show, 0 at rest, and a gap where they show none', () => {
    const { become } = setUp();
    const standing = (verdict: 'moves' | 'stands' | 'not-known', speedMS: number | null): ChassisSnapshot => ({
      ...connected,
      standing: { ...connected.standing, verdict, speedMS },
    });
    become(standing('moves', 0.62));
    become(standing('stands', 0.004));
    become(standing('not-known', null));
    expect(become({ ...standing('moves', 0.5), ...away(S) }).speedMS).toEqual([0, 0.62, 0, null, null]);
  });

  it('has a gap where the round trip was not measured, and without a link', () => {
    const { become } = setUp();
    become({ ...connected, roundTripMs: null });
    expect(become(away(S)).roundTripMs).toEqual([12, null, null]);
  });

  it('shows an outage that began and ended between two samples', () => {
    const { become } = setUp();
    expect(become({ ...connected, linkForMs: 4 * S }).connected).toEqual([true, false]);
    expect(become({ ...connected, linkForMs: 14 * S }).connected).toEqual([true, false, true]);
  });

  it('does not know whether it is connected before the first attempt has ended', () => {
    const { become } = setUp(snapshotWith({ kind: 'connecting', tried }));
    expect(become({ ...connected, linkForMs: 2 * S }).connected).toEqual([null, true]);
    expect(become(away(S)).connected).toEqual([null, true, false]);
  });

  it('ends with its owner', () => {
    const { clock, hour } = setUp();
    hour[Symbol.dispose]();
    clock.advance(60 * S);
    expect(hour.view().batteryPercent).toHaveLength(1);
  });

  it('is read on both sockets, without sign-in', async () => {
    await using server = await startServer();
    server.clock.advance(10 * S);
    for (const port of [server.full, server.readOnly]) {
      const { status, body } = await get(port, '/api/verlauf');
      expect([status, lastHourSchema.parse(JSON.parse(body)).batteryPercent]).toEqual([200, [87, 87]]);
    }
  });
});
