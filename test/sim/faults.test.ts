import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type FaultName, faultNames, faultTable, startSim } from '../../src/lib/sim/index.ts';
import { isFull } from '../properties.ts';
import { call, listen, type Message, parse, startWorld, until, type World } from './raw-client.ts';

// Every fault as observed by a client, on a clock that the test advances.

const HUGE_BYTES = 50 * 1024 * 1024;
const isPose = ({ topic }: Message) => topic === '/tracked_pose';
const oris = ({ received }: World['listener']) => received.filter(isPose).map(({ ori }) => ori as number);
const codes = ({ alerts }: Message) => alerts?.map(({ code }: { code: number }) => code).join();
const order = { type: 'standard', target_x: 1.4, target_y: 0.6 };
const goalM = ({ awayM }: World) => awayM(1.4, 0.6);
const isMoving = ({ move_state }: Message) => move_state === 'moving';

/** A move of 3 m that is under way; its id. */
async function underWay(w: World): Promise<number> {
  const id = await w.order(order);
  const { xM, yM } = w.sim.state();
  await w.until(() => w.awayM(xM, yM) > 0.4);
  return id;
}

/** Reads a body piece by piece; the number of bytes, and whether its end was reached. */
async function read(reply: Response, mayGoOn: (bytes: number) => boolean = () => true) {
  let bytes = 0;
  try {
    for await (const piece of reply.body ?? []) {
      bytes += piece.length;
      if (!mayGoOn(bytes)) return { bytes, isWhole: false };
    }
  } catch {
    return { bytes, isWhole: false };
  }
  return { bytes, isWhole: true };
}

/** Overlays with an undocumented property and a reference by id. */
const sent = {
  type: 'FeatureCollection',
  features: [
    {
      id: 'p1',
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [0, 0] },
      properties: { type: '9', name: 'Lader', dockingPointId: 'p2', house: { keeps: ['this', 1] }, iconYaw: '8' },
    },
    { id: 'p2', type: 'Feature', geometry: { type: 'Point', coordinates: [0, 1] }, properties: { type: 36 } },
    null,
    { id: 'p3', type: 'Feature', geometry: null, properties: null },
  ],
  top: 'level',
};

/** Patches these overlays onto map 1; returns the answer and the stored overlays. */
async function patched(w: World) {
  const text = JSON.stringify(sent);
  const before = await w.json('/maps/1');
  const { status, json } = await w.patch('/maps/1', { overlays: text });
  return { status, reply: json as Message, text, before, after: await w.json('/maps/1') };
}

const network: Partial<Record<FaultName, (w: World) => Promise<unknown>>> = {
  async cut(w) {
    await w.listener.closed;
    await expect(w.info()).rejects.toThrow('ECONNREFUSED');
    await expect(listen(w.sim)).rejects.toThrow('ECONNREFUSED');
  },
  async silent(w) {
    const events: string[] = [];
    void w.listener.pong().then(() => events.push('pong'));
    w.listener.enable('/map/info');
    w.info().then(
      () => events.push('answer'),
      () => {},
    );
    await w.seconds(5);
    expect([events, w.listener.texts]).toEqual([[], []]);
    expect(w.listener.ws.readyState).toBe(WebSocket.OPEN);
  },
  async slow(w) {
    await w.listener.next(isPose);
    const beganMs = w.clock.monotonicMs();
    const [{ status }] = await w.during(Promise.all([w.info(), w.listener.pong()]));
    expect(status).toBe(200);
    expect(w.clock.monotonicMs() - beganMs).toBeGreaterThanOrEqual(3_000);
  },
  async flapping(w) {
    await w.during(w.listener.closed);
    await w.during((await w.listen()).closed);
  },
  async stale(w) {
    await w.seconds(1);
    w.listener.forget();
    await w.listener.pong();
    await w.seconds(5);
    expect(w.listener.received).toEqual([]);
    expect((await w.info()).status).toBe(200);
  },
};

const answers: typeof network = {
  async 'wrong-serial'(w) {
    await w.listener.closed;
    expect(((await w.info()).json as Message).device.sn).not.toBe(w.sim.chassis.serial);
    const next = await w.listen();
    next.enable('/tracked_pose');
    await next.next(isPose);
  },
  async 'no-serial'(w) {
    expect(((await w.info()).json as Message).device).not.toHaveProperty('sn');
  },
  async html(w) {
    await w.listener.closed;
    const { status, headers, text } = await w.info();
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(text).toContain('<html>');
    await expect(listen(w.sim)).rejects.toThrow('200');
  },
  async truncated(w) {
    const { text, json, headers } = await w.info();
    expect(json).toBeUndefined();
    expect(text.startsWith('{"')).toBe(true);
    expect(Number(headers['content-length'])).toBe(Buffer.byteLength(text));
    await w.until(() => w.listener.texts.length > 2);
    expect(w.listener.texts.every((message) => parse(message) === undefined)).toBe(true);
  },
  async 'wrong-types'(w) {
    const typed = { device: { sn: expect.any(Number) }, caps: { supportsWsV2: 'yes' } };
    expect((await w.info()).json).toMatchObject(typed);
    expect(await w.listener.next(isPose)).toMatchObject({ ori: '90', pos: { 0: '0' } });
  },
  async nan(w) {
    const { text, json } = await w.info();
    expect(json).toBeUndefined();
    expect(text).toMatch(/:NaN/);
    await w.until(() => w.listener.texts.some((message) => message.includes('"ori":NaN')));
    expect(w.listener.received).toEqual([]);
  },
  async 'duplicate-keys'(w) {
    const { text, json } = await w.info();
    expect(text.match(/"sn":/g)?.length).toBeGreaterThan(1);
    expect((json as Message).device.sn).not.toBe(w.sim.chassis.serial);
    expect((await w.listener.next(isPose)).ori).not.toBe(90);
  },
  async huge(w) {
    const reply = await w.fetch('/device/info');
    expect(Number(reply.headers.get('content-length'))).toBe(HUGE_BYTES);
    if (!isFull) return;
    expect(await read(reply)).toEqual({ bytes: HUGE_BYTES, isWhole: true });
    w.listener.enable('/map/info');
    await until(() => w.listener.texts.some((message) => message.length === HUGE_BYTES));
  },
  async endless(w) {
    const reply = await w.fetch('/device/info');
    expect(reply.status).toBe(200);
    const result = read(reply, (bytes) => bytes < 1_000_000);
    expect((await w.during(result)).isWhole).toBe(false);
    expect((await result).bytes).toBeGreaterThanOrEqual(1_000_000);
  },
  async redirect(w) {
    await w.listener.closed;
    const { status, headers } = await w.info();
    const target = new URL(String(headers.location));
    expect([status, target.hostname]).toEqual([302, '127.0.0.1']);
    await expect(fetch(target)).rejects.toThrow();
    await expect(listen(w.sim)).rejects.toThrow('302');
  },
  async 'server-error'(w) {
    expect(await w.info()).toMatchObject({ status: 500, json: { detail: 'internal error' } });
    await expect(listen(w.sim)).rejects.toThrow('500');
  },
  async 'garbage-frames'(w) {
    const found = new Set<string>();
    let foreignTexts = 0;
    for (let connection = 0; connection < 12; connection += 1) {
      await using listener = await w.listen();
      listener.ws.on('error', (error) => found.add((error as { code?: string }).code ?? error.message));
      await w.during(listener.closed);
      foreignTexts += listener.texts.filter((text) => typeof parse(text) !== 'object').length;
    }
    expect([...found]).toEqual(expect.arrayContaining(['WS_ERR_INVALID_UTF8', 'WS_ERR_INVALID_OPCODE']));
    expect(foreignTexts).toBeGreaterThan(0);
  },
  async 'unknown-state'(w) {
    const id = await w.order({ type: 'standard', target_x: 0, target_y: -1 });
    await w.listener.next(({ move_state }) => move_state === 'finished');
    expect(await w.move(id)).toMatchObject({ state: 'finished' });
  },
  async 'numbers-as-text'(w) {
    const pose = await w.listener.next(({ topic, ori }) => topic === '/tracked_pose' && typeof ori === 'string');
    expect(pose).toMatchObject({ pos: [expect.any(String), expect.any(String)] });
    expect(Number.isFinite(Number(pose.ori))).toBe(true);
    const battery = await w.listener.next(({ percentage }) => typeof percentage === 'string');
    expect(Number(battery.percentage)).toBeGreaterThan(0);
    // REST is unchanged.
    expect(await w.json('/maps/1')).toMatchObject({ grid_resolution: expect.any(Number) });
  },
  async 'half-readable'(w) {
    const others = ['emergency-stop', 'localisation-lost', 'alert-active'] as const;
    for (const name of others) w.sim.setFault(name, true);
    w.listener.enable('/wheel_state');
    const wheels = await w.listener.next(({ emergency_stop_pressed: is }) => is === true);
    expect(wheels).toMatchObject({ control_mode: 0 });
    expect(await w.listener.next(({ reliable }) => reliable === false)).toMatchObject({ state: 0 });
    const { alerts } = await w.listener.next(({ alerts: all }) => all?.length > 2);
    expect(alerts).toContainEqual(expect.objectContaining({ code: 8004, level: 2 }));
    for (const name of others) w.sim.setFault(name, false);
  },
};

const robot: typeof network = {
  async booting(w) {
    await w.listener.closed;
    expect((await w.info()).status).toBe(503);
    const { progress } = await w.json('/device/boot_progress');
    expect(progress).toBeLessThan(1);
    await w.seconds(60);
    expect(await w.json('/device/boot_progress')).toMatchObject({ progress });
  },
  async 'map-loss'(w) {
    await w.post('/services/restart_service');
    await w.until(async () => (await w.info()).status === 200);
    expect(await w.json('/maps/')).toEqual([]);
    expect((await w.get('/chassis/current-map')).status).toBe(404);
    expect((await w.post('/chassis/moves', order)).status).toBe(400);
    const listener = await w.listen();
    listener.enable('/slam/state', '/map/info', '/tracked_pose');
    const state = await listener.next(({ topic }) => topic === '/slam/state');
    expect(state).toMatchObject({ state: 'inactive', reliable: false });
    expect(listener.received.some(({ topic }) => topic === '/map/info')).toBe(false);
    return 'no pose afterwards';
  },
  async radians(w) {
    const turned = () => {
      const all = oris(w.listener);
      // Steps are short, so each is the shorter rotation.
      const steps = all.slice(1).map((ori, i) => ori - (all[i] ?? 0));
      return steps.reduce((sum, step) => sum + step - 2 * Math.PI * Math.round(step / (2 * Math.PI)), 0);
    };
    await w.until(() => turned() > 2 * Math.PI);
    const largest = Math.max(...oris(w.listener).map(Math.abs));
    expect(largest).toBeLessThanOrEqual(Math.PI + 1e-6);
    expect(largest).toBeGreaterThan(2.8);
    expect(w.sim.state().moving).toBe(false);
  },
  async 'radians-0-2pi'(w) {
    await w.until(() => oris(w.listener).some((ori, i, all) => (all[i - 1] ?? 0) - ori > 5.5));
    const shown = oris(w.listener).slice(1);
    expect(Math.min(...shown)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...shown)).toBeLessThan(2 * Math.PI);
  },
  async 'radians-unwrapped'(w) {
    const shown = () => oris(w.listener).filter((ori) => ori > 35 && ori < 80);
    await w.until(() => (shown().at(-1) ?? 0) - (shown()[0] ?? 0) > 2.5 * Math.PI);
    const steps = shown().map((ori, i, all) => ori - (all[i - 1] ?? ori));
    expect(Math.max(...steps.map(Math.abs))).toBeLessThan(1);
  },
  'turned-by-hand': (w) => w.until(() => oris(w.listener).some((ori) => ori < -90)),
  async 'degrees-0-360'(w) {
    w.sim.setFault('turned-by-hand', true);
    await w.until(() => oris(w.listener).some((ori) => ori > 190));
    const before = oris(w.listener).length;
    await w.until(() => oris(w.listener).length > before + 30);
    const shown = oris(w.listener);
    expect(Math.min(...shown)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...shown)).toBeLessThanOrEqual(360);
    w.sim.setFault('turned-by-hand', false);
  },
  async 'emergency-stop'(w) {
    w.listener.enable('/wheel_state');
    await w.listener.next((message) => message.emergency_stop_pressed === true);
    const { xM, yM } = w.sim.state();
    await w.order(order);
    await w.listener.next(({ stuck_state }) => stuck_state === 'move_stucked');
    expect(w.sim.state()).toMatchObject({ xM, yM, moving: true });
  },
  async 'localisation-lost'(w) {
    await w.listener.next(({ topic, reliable }) => topic === '/slam/state' && reliable === false);
    await w.listener.next((message) => codes(message) === '7005');
    await w.order(order);
    await w.listener.next(({ move_state, fail_reason }) => move_state === 'failed' && fail_reason === 1000);
  },
  async blocked(w) {
    await w.order(order);
    await w.listener.next((message) => codes(message) === '1008');
    await w.listener.next(({ move_state, fail_reason }) => move_state === 'failed' && fail_reason === 15);
  },
  async 'battery-unsure'(w) {
    const low = await w.listener.next(({ percentage }) => percentage === 0.41);
    expect(low).toMatchObject({ power_supply_status: 'full' });
  },
  async 'manual-control'(w) {
    w.listener.enable('/wheel_state');
    const state = await w.listener.next(({ control_mode }) => control_mode === 'manual');
    expect(state).toMatchObject({ wheels_released: true, emergency_stop_pressed: false });
    const { xM, yM } = w.sim.state();
    await w.order(order);
    await w.listener.next(({ stuck_state }) => stuck_state === 'move_stucked');
    expect(w.sim.state()).toMatchObject({ xM, yM });
  },
  async 'alert-active'(w) {
    const { alerts } = await w.listener.next((message) => codes(message) === '8004,1012');
    expect(alerts).toMatchObject([{ level: 'error' }, { level: 'error' }]);
    expect(await w.listener.next(({ topic }) => topic === '/slam/state')).toMatchObject({ reliable: true });
  },
  async 'position-poor'(w) {
    const state = await w.listener.next(({ position_quality }) => position_quality === 3);
    expect(state).toMatchObject({ topic: '/slam/state', state: 'positioning', reliable: true });
  },
  async 'battery-low'(w) {
    await w.listener.next(({ topic, percentage }) => topic === '/battery_state' && percentage === 0.06);
    await w.listener.next((message) => codes(message) === '8501');
  },
  async 'battery-to-100'(w) {
    await w.listener.next(({ percentage }) => percentage === 1);
    await w.listener.next((message) => codes(message) === '8501');
    w.sim.setFault('battery-low', true);
    await w.listener.next(({ percentage }) => percentage === 6);
    w.sim.setFault('battery-low', false);
  },
  async 'wheel-error'(w) {
    const clear = () => w.post('/services/wheel_control/clear_errors');
    await w.listener.next((message) => codes(message) === '2006');
    const { xM, yM } = w.sim.state();
    await w.order(order);
    expect((await clear()).status).toBe(201);
    await w.seconds(1);
    expect(w.sim.state()).toMatchObject({ xM, yM, moving: true });
    // The error stays until it is cleared after its cause is removed.
    w.sim.setFault('wheel-error', false);
    await w.seconds(1);
    expect(w.sim.state()).toMatchObject({ xM, yM, moving: true });
    w.listener.forget();
    await clear();
    await w.listener.next((message) => codes(message) === '');
    await w.until(() => !w.sim.state().moving);
    expect(goalM(w)).toBeLessThan(0.1);
  },
  async 'rest-rates'(w) {
    await using listener = await w.listen();
    listener.enable('/tracked_pose', '/wheel_state', '/slam/state', '/battery_state');
    const counts = () =>
      ['/tracked_pose', '/wheel_state', '/slam/state', '/battery_state'].map(
        (topic) => listener.received.filter((message) => message.topic === topic).length,
      );
    await w.seconds(0.1);
    expect(counts()).toEqual([1, 1, 1, 1]);
    await w.seconds(10);
    expect(counts()).toEqual([11, 6, 6, 3]);
    await w.order(order);
    listener.forget();
    await w.until(() => !w.sim.state().moving);
    // A move of at least 3 s: at the rate of rest it would be 4.
    expect(counts()[0]).toBeGreaterThan(8);
  },
};

const orders: typeof network = {
  async 'pose-in-degrees'(w) {
    const body = { position: [0, 0, 0], ori: 1.5708, adjust_position: false };
    expect((await w.post('/chassis/pose', body)).status).toBe(201);
    await w.listener.next(({ ori }) => Math.abs(ori - 1.5708) < 0.05);
  },
  async 'target-in-degrees'(w) {
    const { xM, yM } = w.sim.state();
    await w.finish({ type: 'standard', target_x: xM, target_y: yM + 0.5, target_ori: 1.5708 });
    w.listener.forget();
    expect((await w.listener.next(isPose)).ori).toBeCloseTo(1.5708, 1);
  },
  async 'drifting-pose'(w) {
    const { xM, yM } = w.sim.state();
    await w.until(() => oris(w.listener).length >= 160);
    const range = (values: number[]) => Math.max(...values) - Math.min(...values);
    expect(range(w.listener.received.filter(isPose).map(({ pos }) => pos[0]))).toBeGreaterThan(0.2);
    expect(range(oris(w.listener))).toBeGreaterThan(6);
    expect(w.sim.state()).toMatchObject({ xM, yM, moving: false });
  },
  async 'cancel-ignored'(w) {
    const id = await w.order(order);
    expect((await w.cancel()).status).toBe(200);
    expect(await w.move(id)).toMatchObject({ state: 'moving' });
    w.sim.setFault('cancel-ignored', false);
    expect((await w.cancel()).status).toBe(200);
    expect(await w.move(id)).toMatchObject({ state: 'cancelled' });
  },
  async 'cancel-lies'(w) {
    const id = await underWay(w);
    expect((await w.cancel()).status).toBe(200);
    await w.listener.next(({ action_id, move_state }) => action_id === id && move_state === 'cancelled');
    expect(w.sim.state()).toMatchObject({ moving: false });
    await w.until(() => goalM(w) < 0.03);
    expect(await w.move(id)).toMatchObject({ state: 'cancelled' });
  },
  async 'cancel-refused'(w) {
    expect((await w.cancel()).status).toBe(404);
    const id = await underWay(w);
    expect(await w.cancel()).toMatchObject({ status: 500, json: { detail: expect.any(String) } });
    expect(await w.move(id)).toMatchObject({ state: 'moving' });
    await w.until(() => !w.sim.state().moving);
    expect(await w.move(id)).toMatchObject({ state: 'succeeded' });
  },
  async coasting(w) {
    const id = await underWay(w);
    expect((await w.cancel()).status).toBe(200);
    expect(await w.move(id)).toMatchObject({ state: 'cancelled' });
    const [{ xM, yM }, began] = [w.sim.state(), w.clock.monotonicMs()];
    await w.until(() => w.sim.state().speedMS === 0);
    expect(w.clock.monotonicMs() - began).toBeGreaterThan(3_000);
    expect(w.awayM(xM, yM)).toBeGreaterThan(0.8);
  },
  async creeping(w) {
    await w.until(() => w.awayM(0, -2) > 0.5);
    expect(w.sim.state().moving).toBe(false);
    await w.listener.next(({ topic, pos }) => topic === '/tracked_pose' && pos[1] > -1.6);
    expect(w.listener.received.filter(isMoving)).toEqual([]);
  },
  async spinning(w) {
    await w.listener.next(({ topic, ori }) => topic === '/tracked_pose' && ori > 130);
    expect(w.sim.state()).toMatchObject({ moving: false, xM: 0, yM: -2 });
    expect(w.listener.received.filter(isMoving)).toEqual([]);
  },
  async misses(w) {
    const id = await underWay(w);
    await w.until(() => !w.sim.state().moving);
    expect(await w.move(id)).toMatchObject({ state: 'succeeded' });
    expect(Math.abs(goalM(w) - 0.95)).toBeLessThan(0.1);
  },
  async 'succeeds-early'(w) {
    const id = await underWay(w);
    await w.listener.next(({ action_id, move_state }) => action_id === id && move_state === 'succeeded');
    expect(goalM(w)).toBeGreaterThan(0.5);
    await w.until(() => goalM(w) < 0.03);
  },
  async clockwise(w) {
    const pose = await w.listener.next(({ topic, ori }) => topic === '/tracked_pose' && ori < 0);
    expect([pose.ori, pose.pos]).toEqual([-90, [0, -2]]);
    expect(w.sim.state().yawRad).toBeCloseTo(Math.PI / 2, 6);
    w.sim.setFault('degrees-0-360', true);
    await w.listener.next(({ ori }) => ori === 270);
    w.sim.setFault('degrees-0-360', false);
    w.sim.setFault('radians-unwrapped', true);
    // Seven full turns before the start, and turning.
    await w.listener.next(({ ori }) => ori < -45 && ori > -80);
    w.sim.setFault('radians-unwrapped', false);
  },
  async 'noisy-pose'(w) {
    const poses = async (world: World, count: number) => {
      const all = () => world.listener.received.filter((message) => isPose(message) && message.ori !== 90);
      await world.until(() => all().length >= count);
      return all().slice(0, count);
    };
    const first = await poses(w, 300);
    for (const values of [
      first.map(({ pos }) => pos[0] / 0.01),
      first.map(({ pos }) => (pos[1] + 2) / 0.01),
      first.map(({ ori }) => (ori - 90) / 0.5),
    ]) {
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
      const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
      expect(Math.abs(mean)).toBeLessThan(0.2);
      expect(Math.abs(deviation - 1)).toBeLessThan(0.15);
    }
    expect(w.sim.state()).toMatchObject({ xM: 0, yM: -2, speedMS: 0 });
    // The same in every run.
    await using again = await startWorld();
    again.listener.enable('/tracked_pose');
    again.sim.setFault('noisy-pose', true);
    const shown = (all: Message[]) => all.slice(0, 20).map(({ pos, ori }) => [pos, ori]);
    expect(shown(await poses(again, 20))).toEqual(shown(first));
  },
};

const maps: typeof network = {
  async 'overlays-version-stuck'(w) {
    const { status, reply, text, before, after } = await patched(w);
    const { overlays, overlays_version } = before;
    expect([status, reply.overlays_version]).toEqual([200, overlays_version]);
    expect(after).toMatchObject({ overlays: text, overlays_version });
    // Also when one is sent.
    await w.patch('/maps/1', { overlays, overlays_version: 99 });
    expect(await w.json('/maps/1')).toMatchObject({ overlays, overlays_version });
  },
  async 'patch-drops'(w) {
    const { status, reply, before, after } = await patched(w);
    expect([status, reply.overlays_version]).toEqual([200, before.overlays_version + 1]);
    const expected = structuredClone(sent) as { features: ({ properties: Record<string, unknown> } | null)[] };
    delete expected.features[0]?.properties.house;
    expect(JSON.parse(after.overlays)).toEqual(expected);
    // The properties of its own overlays are documented.
    await w.patch('/maps/1', { overlays: before.overlays });
    expect(JSON.parse((await w.json('/maps/1')).overlays)).toEqual(JSON.parse(before.overlays));
  },
  async 'patch-renames'(w) {
    const { status, after } = await patched(w);
    expect(status).toBe(200);
    const { features } = JSON.parse(after.overlays) as { features: (Record<string, unknown> | null)[] };
    const ids = features.flatMap((feature) => (feature ? [feature.id] : []));
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{24}$/);
    const restored = features.map((feature, index) => feature && { ...feature, id: sent.features[index]?.id });
    expect(restored).toEqual(sent.features);
  },
  async 'patch-ignored'(w) {
    const { status, before, after } = await patched(w);
    expect([status, after]).toEqual([200, before]);
    expect((await w.patch('/maps/1', { overlays: 'no overlays' })).status).toBe(400);
  },
  async 'patch-405'(w) {
    const { status, reply, before, after } = await patched(w);
    expect([status, reply, after]).toEqual([405, { detail: 'Method "PATCH" not allowed.' }, before]);
  },
  async 'running-map-keeps-overlays'(w) {
    const running = async () => {
      await using late = await w.listen();
      late.enable('/map/info');
      const { overlays, overlays_version: version } = await late.next(({ topic }) => topic === '/map/info');
      return { overlays, version };
    };
    const { status, reply, text, before, after } = await patched(w);
    const { overlays, overlays_version: version } = before;
    expect([status, reply.overlays_version]).toEqual([200, version]);
    expect(after).toMatchObject({ overlays: text, overlays_version: version });
    expect(await running()).toEqual({ overlays: JSON.parse(overlays), version });
    await w.post('/chassis/current-map', { map_id: 1 });
    expect(await running()).toEqual({ overlays: sent, version });
  },
  async 'image-slow'(w) {
    const beganMs = w.clock.monotonicMs();
    const reply = await w.during(w.fetch('/maps/1.png'));
    const pieces: number[] = [];
    const slow = await w.during(read(reply, (bytes) => pieces.push(bytes) > 0));
    expect(w.clock.monotonicMs() - beganMs).toBeGreaterThan(3_200);
    expect(pieces.length).toBeGreaterThan(10);
    expect(slow).toEqual({ bytes: Number(reply.headers.get('content-length')), isWhole: true });
    // Localisation data are sent at once, without a step of the clock.
    expect((await w.fetch('/maps/1.pbstream')).status).toBe(200);
    // Switched off midway, the rest is sent at once.
    const late = await w.during(w.fetch('/maps/1.png'));
    w.sim.setFault('image-slow', false);
    expect((await w.during(read(late))).bytes).toBe(slow.bytes);
    w.sim.setFault('image-slow', true);
    // A client that disconnects midway affects no other.
    const ending = new AbortController();
    await w.during(fetch(`http://127.0.0.1:${w.sim.chassis.port}/maps/1.png`, { signal: ending.signal }));
    ending.abort();
    await w.seconds(5);
  },
  async 'image-fails'(w) {
    for (const path of ['/maps/1.png', '/maps/1/thumbnail', '/maps/1.pbstream']) {
      const { status, json } = await w.get(path);
      expect([path, status, json]).toEqual([path, 500, { detail: expect.stringMatching(/./) }]);
    }
    expect([(await w.get('/maps/1')).status, (await w.get('/maps/77.png')).status]).toEqual([200, 404]);
  },
  async 'map-damaged'(w) {
    const list = (await w.get('/maps')).json as { readonly id: number }[];
    expect(list.length).toBeGreaterThan(1);
    const statuses = await Promise.all(list.map(async ({ id }) => (await w.get(`/maps/${id}`)).status));
    expect(statuses).toEqual(list.map((_, at) => (at === list.length - 1 ? 500 : 200)));
    expect((await w.fetch(`/maps/${list.at(-1)?.id}.png`)).status).toBe(200);
  },
  async 'current-map-fails'(w) {
    expect((await w.get('/chassis/current-map')).status).toBe(500);
    expect((await w.get('/maps')).status).toBe(200);
  },
  async 'image-cut'(w) {
    for (const path of ['/maps/1.png', '/maps/1.pbstream']) {
      const reply = await w.fetch(path);
      expect(reply.status, path).toBe(200);
      const announced = Number(reply.headers.get('content-length'));
      expect(announced, path).toBeGreaterThan(10);
      expect(await read(reply), path).toEqual({ bytes: announced >> 1, isWhole: false });
    }
    expect((await w.get('/maps/1')).status).toBe(200);
  },
};

const checks = { ...network, ...answers, ...robot, ...orders, ...maps };

describe('a fault', () => {
  it.each(Object.entries(checks) as [FaultName, NonNullable<typeof network.cut>][])(
    '%s has the effect of its row, until it is switched off',
    { tags: 'property' },
    async (name, check) => {
      await using w = await startWorld();
      const { sim, listener } = w;
      listener.enable('/tracked_pose', '/battery_state', '/planning_state', '/alerts', '/slam/state');
      await listener.next(isPose);
      listener.forget();
      sim.setFault(name, true);
      await sim.settled();
      expect(sim.faults().filter(({ on }) => on)).toMatchObject([{ name }]);
      const isLost = (await check(w)) !== undefined;
      sim.setFault(name, false);
      await sim.settled();
      await w.until(async () => (await w.info().catch(() => undefined))?.status === 200);
      expect((await w.info()).json).toMatchObject({ device: { sn: sim.chassis.serial } });
      if (isLost) return;
      const later = await w.listen();
      later.enable('/tracked_pose');
      expect((await later.next(isPose)).ori).toBeTypeOf('number');
    },
  );

  it('of the robot has a check above, and each fault a description', { tags: 'property' }, () => {
    // Faults of other parts have their tests there.
    const ofRobot = faultNames.filter((name) => ['network', 'answers', 'robot'].includes(faultTable[name].kind));
    expect(Object.keys(checks).toSorted()).toEqual(ofRobot.toSorted());
    for (const name of faultNames) expect(faultTable[name].effect.length).toBeGreaterThan(20);
  });
});

describe('the cable of the chassis', () => {
  it('when cut closes a connection with a half-sent request', async () => {
    await using sim = await startSim();
    const socket = connect(sim.chassis.port, '127.0.0.1').on('error', () => {});
    const closed = once(socket, 'close');
    await once(socket, 'connect');
    await new Promise((resolve) =>
      socket.write('POST /chassis/moves HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{', resolve),
    );
    // A later request is answered, so that the earlier connection was accepted.
    await call(sim, 'GET', '/device/info');
    sim.setFault('cut', true);
    await closed;
  });

  it('ends in the last state after quick changes', async () => {
    await using sim = await startSim();
    for (const on of [true, false, true, false]) sim.setFault('cut', on);
    await sim.settled();
    expect((await call(sim, 'GET', '/device/info')).status).toBe(200);
    for (const on of [false, true]) sim.setFault('cut', on);
    await sim.settled();
    await expect(call(sim, 'GET', '/device/info')).rejects.toThrow('ECONNREFUSED');
  });
});

describe('the end of a simulator', () => {
  it('needs no time of its clock, with any fault on and with unanswered requests', async () => {
    const { sim, listener, info } = await startWorld();
    const waiting = [info(), info()];
    for (const name of faultNames) if (name !== 'cut') sim.setFault(name, true);
    waiting.push(info(), call(sim, 'GET', '/maps/1.png'));
    await Promise.all([sim[Symbol.asyncDispose](), Promise.allSettled(waiting), listener.closed]);
    await expect(info()).rejects.toThrow('ECONNREFUSED');
    // A second call has no effect.
    await sim[Symbol.asyncDispose]();
  });
});
