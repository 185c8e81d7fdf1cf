import { describe, expect, it } from 'vitest';
import { type ChassisView, chassisWatchSchema } from '../../../src/lib/toolkit/chassis/watch.result.ts';
import { watchChassis } from '../../../src/lib/toolkit/chassis/watch.ts';
import { fakeChassis } from '../../chassis/peers.ts';
import { createPacedClock } from '../../lifecycle/paced-clock.ts';
import { until } from '../../waiting.ts';
import { toolkitOf } from '../kit.ts';

describe('watching', () => {
  it('reports the state at once when it changes and steadily otherwise, in the published shape, until interrupted', async () => {
    await using chassis = await fakeChassis();
    const views: ChassisView[] = [];
    const ending = new AbortController();
    const clock = createPacedClock();
    const watching = watchChassis(
      toolkitOf(chassis.endpoint, { clock }),
      { everyMs: 100 },
      { signal: ending.signal },
      (view) => {
        expect(chassisWatchSchema.safeParse(JSON.parse(JSON.stringify(view))).error).toBeUndefined();
        views.push(view);
      },
    );
    await until(
      () => views.at(-1)?.values.pose.status,
      (status) => status === 'received',
    );
    for (const socket of chassis.sockets) socket.destroy();
    await until(
      () => views.at(-1)?.link.kind,
      (kind) => kind === 'not-connected',
    );
    await until(
      () => views.at(-1)?.link.kind,
      (kind) => kind === 'connected',
    );
    ending.abort();
    const end = await watching;
    expect(end).toMatchObject({ event: 'ended', link: { kind: 'connected' } });
    expect(chassisWatchSchema.parse(end)).toEqual(end);
    expect(views[0]?.link.kind).toBe('connecting');
    const count = views.length;
    await clock.sleep(1_000);
    expect(views.length).toBe(count);
    await until(
      () => chassis.sockets.size,
      (size) => size === 0,
    );
  });

  it('shows at once the condition of the robot, and the faults of its messages', async () => {
    await using chassis = await fakeChassis();
    const { latched } = chassis;
    chassis.latched = (topic) => (topic === '/alerts' ? { topic, alerts: [] } : latched(topic));
    const views: ChassisView[] = [];
    const ending = new AbortController();
    const watching = watchChassis(
      toolkitOf(chassis.endpoint, { clock: createPacedClock() }),
      { everyMs: 60_000 },
      { signal: ending.signal },
      (view) => views.push(view),
    );
    await until(
      () => chassis.received.length,
      (count) => count > 0,
    );
    const verdictOf = (id: string) => views.at(-1)?.condition.find((one) => one.id === id)?.verdict;
    const publish = (message: object) => chassis.publish(message);
    publish({ topic: '/alerts', alerts: [{ code: 7005, level: 'error', msg: 'position lost' }] });
    await until(
      () => verdictOf('alerts'),
      (verdict) => verdict === 'wrong',
    );
    publish({ topic: '/wheel_state', control_mode: 'auto', emergency_stop_pressed: true });
    await until(
      () => verdictOf('emergency-stop'),
      (verdict) => verdict === 'wrong',
    );
    const detailOf = (id: string) => views.at(-1)?.condition.find((one) => one.id === id)?.detail;
    // An alert that an unreadable message tells is active too.
    publish({ topic: '/alerts', alerts: [{ code: '7005', level: 'error', msg: 'position lost' }] });
    const malformed = 'is malformed: number sent as text';
    await until(
      () => detailOf('alerts'),
      (detail) => detail?.includes(malformed) === true,
    );
    expect(verdictOf('alerts')).toBe('wrong');
    expect(views.at(-1)?.complaints).toMatchObject([
      { what: 'number sent as text in /alerts.alerts[0].code', count: 1, isLate: false },
    ]);
    ending.abort();
    await watching;
    for (const view of views) expect(chassisWatchSchema.parse(JSON.parse(JSON.stringify(view)))).toEqual(view);
  });

  it('ends by itself after the given time', async () => {
    await using chassis = await fakeChassis();
    const signal = new AbortController().signal;
    const end = await watchChassis(
      toolkitOf(chassis.endpoint, { clock: createPacedClock() }),
      { everyMs: 100, seconds: 0.5 },
      { signal },
      () => {},
    );
    expect(end.event === 'ended' && end.watchedMs).toBeGreaterThanOrEqual(490);
  });

  it('ends at once when it was interrupted before its start', async () => {
    await using chassis = await fakeChassis();
    const end = await watchChassis(
      toolkitOf(chassis.endpoint, { clock: createPacedClock() }),
      { everyMs: 100 },
      { signal: AbortSignal.abort() },
      () => {},
    );
    expect(end.event).toBe('ended');
  });
});
