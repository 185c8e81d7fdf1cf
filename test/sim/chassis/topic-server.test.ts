import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type SimOptions, startSim } from '../../../src/lib/sim/index.ts';
import { createPacedClock } from '../../lifecycle/paced-clock.ts';
import { call, fastClock, listen, type Message, until } from '../raw-client.ts';

const isAck = (message: Message) => Array.isArray(message.enabled_topics);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function open(options: SimOptions = {}) {
  const stack = new AsyncDisposableStack();
  const sim = stack.use(await startSim(options));
  const listener = stack.use(await listen(sim));
  return { sim, listener, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

describe('the minimum interval between two poses', () => {
  it.each([100, 1000])('holds at rest and while it drives: %i ms', async (poseMs) => {
    await using it = await open({ poseMs, clock: createPacedClock() });
    const { sim, listener } = it;
    const poses = () => listener.received.filter(({ topic }) => topic === '/tracked_pose').length;
    const planning = () => listener.received.filter(({ topic }) => topic === '/planning_state').length;
    listener.send({ enable_topic: ['/tracked_pose', '/planning_state', '/battery_state'] });
    const batteries = () => listener.received.filter(({ topic }) => topic === '/battery_state').length;
    await until(() => batteries() >= 4);
    // Three intervals of 1 s, and the message on enabling.
    expect(poses()).toBeGreaterThanOrEqual(poseMs === 100 ? 15 : 3);
    expect(poses()).toBeLessThanOrEqual(poseMs === 100 ? 60 : 5);
    await call(sim, 'POST', '/chassis/moves', { type: 'standard', target_x: 1.4, target_y: 1 });
    listener.forget();
    await until(() => planning() >= 6, 10_000);
    expect(sim.state().moving).toBe(true);
    expect(poses() / planning()).toBeGreaterThan(poseMs === 100 ? 2.5 : 0.2);
    expect(poses() / planning()).toBeLessThan(poseMs === 100 ? 8 : 1);
  });

  it('and the speed are checked', async () => {
    for (const options of [
      { poseMs: 99 },
      { poseMs: 10_001 },
      { speedMS: 0.01 },
      { speedMS: 1.1 },
      { speedMS: Number.NaN },
    ]) {
      await expect(startSim(options), JSON.stringify(options)).rejects.toThrow(RangeError);
    }
  });
});

describe('/ws/v2/topics (vendor facts 2)', () => {
  it('acknowledges with the full set of this connection, newest first, and without a topic key', async () => {
    await using it = await open();
    const { sim, listener } = it;
    listener.send({ enable_topic: '/tracked_pose' });
    listener.send({ enable_topic: '/alerts' });
    listener.send({ enable_topic: '/tracked_pose' });
    listener.send({ disable_topic: '/alerts' });
    await listener.next((message) => isAck(message) && message.enabled_topics.join() === '/tracked_pose,/alerts');
    await until(() => listener.received.filter(isAck).length === 4);
    expect(listener.received.filter(isAck)).toEqual([
      { enabled_topics: ['/tracked_pose'] },
      { enabled_topics: ['/alerts', '/tracked_pose'] },
      { enabled_topics: ['/tracked_pose', '/alerts'] },
      { enabled_topics: ['/tracked_pose'] },
    ]);
    await using other = await listen(sim);
    other.send({ enable_topic: '/slam/state' });
    expect(await other.next(isAck)).toEqual({ enabled_topics: ['/slam/state'] });
  });

  it('accepts a list if the capability is announced', async () => {
    await using it = await open();
    it.listener.send({ enable_topic: ['/alerts', '/map/info'] });
    expect(await it.listener.next(isAck)).toEqual({ enabled_topics: ['/map/info', '/alerts'] });
    await it.listener.next(({ topic }) => topic === '/map/info');
  });

  it('ignores a list without the capability: none of it is in the acknowledgement', async () => {
    await using it = await open({ capabilities: { supportsEnableTopicList: false } });
    const info = (await call(it.sim, 'GET', '/device/info')).json as { caps: Record<string, boolean> };
    expect(info.caps.supportsEnableTopicList).toBe(false);
    it.listener.send({ enable_topic: ['/alerts', '/map/info'] });
    expect(await it.listener.next(isAck)).toEqual({ enabled_topics: [] });
    it.listener.send({ enable_topic: '/alerts' });
    await it.listener.next((message) => isAck(message) && message.enabled_topics.join() === '/alerts');
  });

  it('omits an unknown topic from the acknowledgement and ignores text that is not JSON', async () => {
    await using it = await open();
    it.listener.ws.send('{"enable_topic":');
    it.listener.ws.send('5');
    it.listener.ws.send(Buffer.from([1, 2, 3]));
    it.listener.send({ enable_topic: '/weather' });
    expect(await it.listener.next(isAck)).toEqual({ enabled_topics: [] });
    expect(it.listener.ws.readyState).toBe(WebSocket.OPEN);
  });

  it('sends latched topics again to every client that enables them', async () => {
    await using it = await open();
    const latched = ['/tracked_pose', '/planning_state', '/alerts', '/map/info', '/map', '/path'];
    for (let round = 0; round < 2; round += 1) {
      await using late = await listen(it.sim);
      late.send({ enable_topic: latched });
      for (const topic of latched) await late.next((message) => message.topic === topic, 1000);
    }
  });

  it('sends enabled topics only, and none after they are disabled', async () => {
    await using it = await open();
    it.listener.send({ enable_topic: '/tracked_pose' });
    await it.listener.next(({ topic }) => topic === '/tracked_pose');
    it.listener.send({ disable_topic: '/tracked_pose' });
    await it.listener.next((message) => isAck(message) && message.enabled_topics.length === 0);
    it.listener.forget();
    await pause(400);
    expect(it.listener.received).toEqual([]);
  });

  it('keeps its rates: the pose at 10 Hz, the states at 1 Hz, alerts and map once', async () => {
    await using it = await open();
    const topics = ['/tracked_pose', '/battery_state', '/wheel_state', '/slam/state', '/alerts', '/map/info'];
    it.listener.send({ enable_topic: topics });
    await it.listener.next(isAck);
    await pause(2500);
    const count = (name: string) => it.listener.received.filter(({ topic }) => topic === name).length;
    expect(count('/tracked_pose')).toBeGreaterThanOrEqual(18);
    expect(count('/tracked_pose')).toBeLessThanOrEqual(52);
    for (const name of ['/battery_state', '/wheel_state', '/slam/state']) {
      expect(count(name), name).toBeGreaterThanOrEqual(2);
      expect(count(name), name).toBeLessThanOrEqual(4);
    }
    expect([count('/alerts'), count('/map/info')]).toEqual([1, 1]);
  });

  it('reports a move: first moving, then 2 messages per second, finally its result', async () => {
    await using it = await open({ clock: fastClock(5) });
    it.listener.send({ enable_topic: '/planning_state' });
    expect(await it.listener.next(({ topic }) => topic === '/planning_state')).toMatchObject({
      move_state: 'none',
      action_id: 0,
      target_poses: [],
    });
    const { json } = await call(it.sim, 'POST', '/chassis/moves', { type: 'standard', target_x: 1.4, target_y: 0 });
    const { id } = json as { id: number };
    await it.listener.next(({ action_id, move_state }) => action_id === id && move_state === 'succeeded');
    const reported = it.listener.received.filter(({ action_id }) => action_id === id);
    expect(reported.length).toBeGreaterThan(4);
    expect(reported[0]).toMatchObject({ move_state: 'moving', action_type: 'standard', fail_reason: 0 });
    expect(reported[0]?.remaining_distance).toBeGreaterThan(2);
    const distances = reported.map(({ remaining_distance }) => remaining_distance);
    expect(distances).toEqual(distances.toSorted((a, b) => b - a));
  });

  it('reports every other ori in radians', async () => {
    await using it = await open();
    it.listener.send({ enable_topic: ['/planning_state', '/tracked_pose'] });
    const planning = await it.listener.next(({ topic }) => topic === '/planning_state');
    expect(planning.charger_pose.ori).toBeCloseTo(Math.PI / 2, 5);
    // The pose is in degrees, as measured.
    expect((await it.listener.next(({ topic }) => topic === '/tracked_pose')).ori).toBe(90);
  });

  it('publishes the active map with its overlays as an object and no numeric id', async () => {
    await using it = await open();
    it.listener.send({ enable_topic: '/map/info' });
    const info = await it.listener.next(({ topic }) => topic === '/map/info');
    expect(info).toMatchObject({ name: expect.any(String), uid: expect.any(String), overlays_version: 4 });
    expect(info.overlays.type).toBe('FeatureCollection');
    expect(info).not.toHaveProperty('id');
  });

  it('publishes the picture of the map', async () => {
    await using it = await open();
    it.listener.send({ enable_topic: '/map' });
    const { data, size, origin } = await it.listener.next(({ topic }) => topic === '/map');
    expect([size, origin]).toEqual([
      [320, 180],
      [-3, -3],
    ]);
    const reply = await fetch(`http://127.0.0.1:${it.sim.chassis.port}/maps/1.png`);
    expect(Buffer.from(await reply.arrayBuffer()).toString('base64')).toBe(data);
  });

  it('answers pings and does not compress', async () => {
    await using it = await open();
    expect(it.listener.ws.extensions).toBe('');
    const pong = new Promise((resolve) => it.listener.ws.once('pong', (data) => resolve(String(data))));
    it.listener.ws.ping('are you there');
    expect(await pong).toBe('are you there');
  });

  it('is available at its path only', async () => {
    await using sim = await startSim();
    const ws = new WebSocket(`ws://127.0.0.1:${sim.chassis.port}/ws/topics`);
    const status = await new Promise((resolve) =>
      ws.once('unexpected-response', (_, { statusCode }) => resolve(statusCode)),
    );
    ws.on('error', () => {});
    ws.terminate();
    expect(status).toBe(404);
  });
});

describe('the start of the robot (vendor facts 1.1)', () => {
  it('returns 503 for everything except the boot progress, then works', async () => {
    await using sim = await startSim({ bootMs: 5000, clock: fastClock(5) });
    const progress: number[] = [];
    for (const path of ['/device/info', '/maps/', '/chassis/moves', '/nothing']) {
      expect((await call(sim, 'GET', path)).status, path).toBe(503);
    }
    await expect(listen(sim)).rejects.toThrow('503');
    await until(async () => {
      const { status, json } = await call(sim, 'GET', '/device/boot_progress');
      expect(status).toBe(200);
      const { progress: now, logs } = json as { progress: number; logs: { msg: string }[] };
      progress.push(now);
      expect(logs.length).toBeGreaterThan(0);
      return now === 1;
    });
    expect(progress[0]).toBeLessThan(1);
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
    expect((await call(sim, 'GET', '/device/info')).status).toBe(200);
  });

  it('repeats with restart_service, which closes the connections', async () => {
    await using it = await open({ clock: fastClock(5) });
    const closed = new Promise((resolve) => it.listener.ws.once('close', resolve));
    expect((await call(it.sim, 'POST', '/services/restart_service')).status).toBe(201);
    expect((await call(it.sim, 'GET', '/device/info')).status).toBe(503);
    await closed;
    await until(async () => (await call(it.sim, 'GET', '/device/info')).status === 200);
    expect((await call(it.sim, 'GET', '/maps/')).json).toHaveLength(3);
    expect((await call(it.sim, 'GET', '/chassis/current-map')).json).toMatchObject({ id: 1 });
  });

  it('reports a new start time after a restart only', async () => {
    await using sim = await startSim({ clock: fastClock(5) });
    const startTime = async () =>
      ((await call(sim, 'GET', '/device/boot_progress')).json as { start_time: number }).start_time;
    const first = await startTime();
    await pause(20);
    expect(await startTime()).toBe(first);
    await call(sim, 'POST', '/services/restart_service');
    const second = await startTime();
    expect(second).toBeGreaterThan(first);
    await until(async () => (await call(sim, 'GET', '/device/info')).status === 200);
    expect(await startTime()).toBe(second);
  });
});
