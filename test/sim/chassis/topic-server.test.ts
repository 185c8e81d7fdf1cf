import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { dock, startSim } from '../../../src/lib/sim/index.ts';
import { shared } from '../../lifecycle/shared.ts';
import { type Listener, listen, type Message, startWorld } from '../raw-client.ts';

const isAck = (message: Message) => Array.isArray(message.enabled_topics);
const count = ({ received }: Listener, name: string) => received.filter(({ topic }) => topic === name).length;
const acked = (it: Listener, text: string) =>
  it.next((message) => isAck(message) && `${message.enabled_topics}` === text);

describe('the minimum interval between two poses', () => {
  it.each([100, 1000])('holds at rest and while it drives: %i ms', async (poseMs) => {
    await using w = await startWorld({ poseMs });
    w.listener.enable('/tracked_pose', '/planning_state');
    const isOften = poseMs === 100;
    await w.seconds(3);
    expect(count(w.listener, '/tracked_pose')).toBe(isOften ? 31 : 4);
    await w.order({ type: 'standard', target_x: 1.4, target_y: 1 });
    w.listener.forget();
    await w.seconds(2);
    expect(w.sim.state().moving).toBe(true);
    expect(count(w.listener, '/tracked_pose')).toBe(isOften ? 20 : 2);
  });

  it.each([{ poseMs: 99 }, { poseMs: 10_001 }, { speedMS: 0.01 }, { speedMS: 1.1 }, { speedMS: Number.NaN }])(
    'and the speed are checked: %o',
    (options) => expect(startSim(options)).rejects.toThrow(RangeError),
  );
});

const w = shared(await startWorld());
describe('/ws/v2/topics (vendor facts 2)', () => {
  let listener: Listener;
  const topic = async (name: string) => {
    listener = await w.listen();
    listener.enable(name);
    return listener.next((message) => message.topic === name);
  };

  it('acknowledges with the full set of this connection, newest first, and without a topic key', async () => {
    listener = await w.listen();
    for (const name of ['/tracked_pose', '/alerts', '/tracked_pose']) listener.enable(name);
    listener.send({ disable_topic: '/alerts' });
    await w.until(() => listener.received.filter(isAck).length === 4);
    expect(listener.received.filter(isAck)).toEqual([
      { enabled_topics: ['/tracked_pose'] },
      { enabled_topics: ['/alerts', '/tracked_pose'] },
      { enabled_topics: ['/tracked_pose', '/alerts'] },
      { enabled_topics: ['/tracked_pose'] },
    ]);
    const other = await w.listen();
    other.enable('/alerts', '/map/info');
    expect(await other.next(isAck)).toEqual({ enabled_topics: ['/map/info', '/alerts'] });
    await other.next((message) => message.topic === '/map/info');
  });

  it('ignores a list without the capability: none of it is in the acknowledgement', async () => {
    await using it = await startWorld({ capabilities: { supportsEnableTopicList: false } });
    expect(await it.json('/device/info')).toMatchObject({ caps: { supportsEnableTopicList: false } });
    it.listener.enable('/alerts', '/map/info');
    expect(await it.listener.next(isAck)).toEqual({ enabled_topics: [] });
    it.listener.enable('/alerts');
    await acked(it.listener, '/alerts');
  });

  it('omits an unknown topic from the acknowledgement and ignores text that is not JSON', async () => {
    listener = await w.listen();
    for (const sent of ['{"enable_topic":', '5', Buffer.from([1, 2, 3])]) listener.ws.send(sent);
    listener.enable('/weather');
    expect(await listener.next(isAck)).toEqual({ enabled_topics: [] });
    expect(listener.ws.readyState).toBe(WebSocket.OPEN);
  });

  it('sends latched topics again to every client that enables them', async () => {
    const latched = ['/tracked_pose', '/planning_state', '/alerts', '/map/info', '/map', '/path'];
    for (let round = 0; round < 2; round += 1) {
      const late = await w.listen();
      late.enable(...latched);
      for (const name of latched) await late.next((message) => message.topic === name);
    }
  });

  it('keeps its rates: the pose at 10 Hz, the states at 1 Hz, alerts and map once; and none once disabled', async () => {
    listener = await w.listen();
    const enabled = ['/tracked_pose', '/battery_state', '/wheel_state', '/slam/state', '/alerts', '/map/info'];
    listener.enable(...enabled);
    await listener.next(isAck);
    listener.forget();
    await w.seconds(3);
    expect(enabled.slice(1, 4).map((name) => count(listener, name))).toEqual([3, 3, 3]);
    expect(Math.abs(count(listener, '/tracked_pose') - 30)).toBeLessThanOrEqual(1);
    await w.seconds(10);
    expect([count(listener, '/alerts'), count(listener, '/map/info')]).toEqual([0, 0]);
    listener.send({ disable_topic: '/tracked_pose' });
    await w.until(() => listener.received.filter(isAck).length === 1);
    listener.forget();
    await w.seconds(1);
    expect(count(listener, '/tracked_pose')).toBe(0);
  });

  it('reports an idle robot, then a move: first moving, then 2 messages per second, finally its result', async () => {
    await using it = await startWorld();
    it.listener.enable('/planning_state');
    expect(await it.listener.next((message) => message.topic === '/planning_state')).toMatchObject({
      move_state: 'none',
      move_intent: 'none',
      intent_target_pose: { pos: [0, 0], ori: 0 },
      action_id: 0,
      target_poses: [],
      // In radians, as every other ori than that of the pose.
      charger_pose: { ori: expect.closeTo(Math.PI / 2, 5) },
    });
    const id = await it.order({ type: 'standard', target_x: 1.4, target_y: 0 });
    await it.listener.next(({ action_id, move_state }) => action_id === id && move_state === 'succeeded');
    const reported = it.listener.received.filter(({ action_id }) => action_id === id);
    expect(reported.length).toBeGreaterThan(4);
    expect(reported[0]).toMatchObject({ move_state: 'moving', action_type: 'standard', fail_reason: 0 });
    const distances = reported.map(({ remaining_distance }) => remaining_distance);
    expect(distances[0]).toBeGreaterThan(2);
    expect(distances).toEqual(distances.toSorted((a, b) => b - a));
  });

  it('reports the pose in degrees, as measured', async () => {
    expect(await topic('/tracked_pose')).toMatchObject({ ori: 90, pos: [0, -2] });
  });

  it('publishes the active map with its overlays as an object and no numeric id, and its picture', async () => {
    const info = await topic('/map/info');
    expect(info).toMatchObject({ name: expect.any(String), uid: expect.any(String), overlays_version: 4 });
    expect(info.overlays.type).toBe('FeatureCollection');
    expect(info).not.toHaveProperty('id');
    const { data, size, origin } = await topic('/map');
    expect([size, origin]).toEqual([
      [320, 180],
      [-3, -3],
    ]);
    expect(Buffer.from(await (await w.fetch('/maps/1.png')).arrayBuffer()).toString('base64')).toBe(data);
  });

  it('reports positioning as in 2.12, with the progress of a loss only during one', async () => {
    const whole = expect.toSatisfy((value: unknown) => Number.isInteger(value));
    const sound = await topic('/slam/state');
    expect(sound).toMatchObject({
      reliable: true,
      lidar_reliable: true,
      wheel_slipping: false,
      inter_constraint_count: whole,
      good_constraint_count: whole,
    });
    expect(sound).not.toHaveProperty('position_loss_progress');
    w.sim.setFault('localisation-lost', true);
    const lost = await listener.next(({ reliable }) => reliable === false);
    expect(lost).toMatchObject({ lidar_reliable: false, position_loss_progress: 1 });
    w.sim.setFault('localisation-lost', false);
  });

  it('reports a path with the heading as third value', async () => {
    await topic('/path');
    await w.order({ type: 'standard', target_x: 1.4, target_y: 0 });
    const { positions } = await listener.next((message) => message.topic === '/path' && message.positions.length > 1);
    // The path out of the dock points straight up.
    expect(positions[0]).toEqual([dock.xM, dock.yM, expect.closeTo(Math.PI / 2, 5)]);
    const [[x1, y1], [x2, y2]] = positions.slice(-2);
    expect(positions.at(-1)[2]).toBeCloseTo(Math.atan2(y2 - y1, x2 - x1), 5);
  });

  it('answers pings, does not compress, and is available at its path only', async () => {
    expect([w.listener.ws.extensions, await w.listener.pong('are you there')]).toEqual(['', 'are you there']);
    const ws = new WebSocket(`ws://127.0.0.1:${w.sim.chassis.port}/ws/topics`).on('error', () => {});
    const status = await new Promise((resolve) =>
      ws.once('unexpected-response', (_, { statusCode }) => resolve(statusCode)),
    );
    ws.terminate();
    expect(status).toBe(404);
  });
});

describe('the start of the robot (vendor facts 1.1)', () => {
  it('returns 503 for everything except the boot progress, then works', async () => {
    await using w = await startWorld();
    await using sim = await startSim({ bootMs: 5000, clock: w.clock });
    const own = { ...w, sim };
    const at = (path: string) => fetch(`http://127.0.0.1:${sim.chassis.port}${path}`);
    for (const path of ['/device/info', '/maps/', '/chassis/moves', '/nothing']) {
      expect((await at(path)).status, path).toBe(503);
    }
    await expect(listen(own.sim)).rejects.toThrow('503');
    const progress: number[] = [];
    await w.until(async () => {
      const reply = await at('/device/boot_progress');
      const { progress: now, logs } = (await reply.json()) as { progress: number; logs: { msg: string }[] };
      expect([reply.status, logs.length > 0]).toEqual([200, true]);
      return progress.push(now) > 0 && now === 1;
    });
    expect(progress[0]).toBeLessThan(1);
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
    expect((await at('/device/info')).status).toBe(200);
  });

  it('repeats with restart_service, which closes the connections, with a new start time', async () => {
    await using w = await startWorld();
    const startTime = async () => (await w.json('/device/boot_progress')).start_time;
    const first = await startTime();
    await w.seconds(1);
    expect(await startTime()).toBe(first);
    expect((await w.post('/services/restart_service')).status).toBe(201);
    expect((await w.info()).status).toBe(503);
    const second = await startTime();
    expect(second).toBeGreaterThan(first);
    await w.during(w.listener.closed);
    await w.until(async () => (await w.info()).status === 200);
    expect(await startTime()).toBe(second);
    expect(await w.json('/maps/')).toHaveLength(3);
    expect(await w.json('/chassis/current-map')).toMatchObject({ id: 1 });
  });
});
