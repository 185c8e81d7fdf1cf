import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dock, type Sim, startSim, stations } from '../../../../src/lib/sim/index.ts';
import { call, fastClock, listen, until } from '../../raw-client.ts';

// Expected values are measured by the specification ('spec') or described by the vendor ('vendor facts').

const HALF_PI = Math.PI / 2;
let sim: Sim;

beforeAll(async () => {
  sim = await startSim({ clock: fastClock(10) });
});
afterAll(async () => {
  await sim[Symbol.asyncDispose]();
});

const get = (path: string) => call(sim, 'GET', path);
const post = (path: string, body?: unknown) => call(sim, 'POST', path, body);

async function finish(order: object) {
  const created = await post('/chassis/moves', { creator: 'test', ...order });
  expect(created.status).toBe(201);
  const { id } = created.json as { id: number };
  await until(() => !sim.state().moving, 15_000);
  return (await get(`/chassis/moves/${id}`)).json as Record<string, unknown>;
}

describe('GET /device/info', () => {
  it('names the serial number and the software (vendor facts 1.2)', async () => {
    const { status, headers, json } = await get('/device/info');
    expect(status).toBe(200);
    expect(headers['content-type']).toContain('application/json');
    expect(json).toMatchObject({
      axbot_version: sim.chassis.software,
      device: { sn: sim.chassis.serial },
      caps: { supportsWsV2: true, supportsEnableTopicList: true },
    });
  });

  it('returns a reduced form without the serial number (vendor facts 1.2)', async () => {
    const { json } = await get('/device/info/brief');
    expect(json).toMatchObject({ device: { model: 'simulated' } });
    expect(JSON.stringify(json)).not.toContain(sim.chassis.serial);
  });

  it('accepts every path with and without a trailing slash (vendor facts 1.1)', async () => {
    for (const path of ['/device/info', '/maps', '/maps/1', '/chassis/moves', '/chassis/current-map']) {
      const [plain, slashed] = [await get(path), await get(`${path}/`)];
      expect(plain.status, path).toBe(200);
      expect(slashed.status, path).toBe(200);
    }
  });

  it('answers HEAD without a body', async () => {
    const { status, text, headers } = await call(sim, 'HEAD', '/device/info');
    expect([status, text]).toEqual([200, '']);
    expect(Number(headers['content-length'])).toBeGreaterThan(100);
  });
});

describe('refusals (vendor facts 1.1)', () => {
  it('are a detail with 404 for a missing object', async () => {
    for (const path of ['/', '/nothing', '/maps/77', '/maps/77.png', '/chassis/moves/1', '/maps/x']) {
      const { status, json } = await get(path);
      expect(status, path).toBe(404);
      expect(json, path).toEqual({ detail: expect.stringMatching(/not found$/) });
    }
  });

  it('are a detail with 400 for an invalid body', async () => {
    const bad: [string, string, unknown][] = [
      ['POST', '/chassis/moves', undefined],
      ['POST', '/chassis/moves', []],
      ['POST', '/chassis/moves', { type: 'standard', target_x: '1', target_y: 2 }],
      ['POST', '/chassis/moves', { type: 'standard', target_x: 1 }],
      ['POST', '/chassis/moves', { type: 'fly', target_x: 1, target_y: 2 }],
      ['POST', '/chassis/moves', { type: 'standard', target_x: 1, target_y: 2, target_ori: '90' }],
      ['POST', '/chassis/moves', { type: 'standard', target_x: 1, target_y: 2, target_accuracy: true }],
      ['POST', '/chassis/moves', { type: 'standard' }],
      ['POST', '/chassis/moves', { type: 'charge', target_x: 1 }],
      ['POST', '/chassis/moves', { type: 'standard', target_x: 1, target_y: 2, use_target_zone: 'yes' }],
      ['POST', '/chassis/pose', { position: [1], ori: 0 }],
      ['POST', '/chassis/pose', { position: [1, 2, 0] }],
      ['POST', '/chassis/pose', { position: [1, 2, 0], ori: 'north' }],
      ['POST', '/chassis/pose', { position: [1, 2, 0], ori: 0, adjust_position: 1 }],
      ['POST', '/chassis/current-map', {}],
      ['PATCH', '/chassis/moves/current', { state: 'paused' }],
      ['PATCH', '/maps/1', {}],
      ['PATCH', '/maps/1', { overlays: { type: 'FeatureCollection', features: [] } }],
      ['PATCH', '/maps/1', { overlays: '{' }],
      ['POST', '/services/wheel_control/set_emergency_stop', { enable: 'yes' }],
      ['POST', '/services/wheel_control/set_control_mode', { control_mode: 'sideways' }],
    ];
    for (const [method, path, body] of bad) {
      const { status, json } = await call(sim, method, path, body);
      expect(status, `${method} ${path} ${JSON.stringify(body)}`).toBe(400);
      expect(json).toEqual({ detail: expect.stringMatching(/./) });
    }
  });

  it('limit the size of a body', async () => {
    const { status } = await call(sim, 'POST', '/chassis/pose', `"${'x'.repeat(1024 * 1024)}"`, { raw: true });
    expect(status).toBe(413);
  });

  it('return 405 for other methods, with the allowed ones', async () => {
    const { status, headers, json } = await call(sim, 'PUT', '/device/info', {});
    expect([status, headers.allow, json]).toEqual([405, 'GET', { detail: 'Method "PUT" not allowed.' }]);
    expect((await call(sim, 'DELETE', '/maps/1.png')).headers.allow).toBe('GET');
    expect((await call(sim, 'POST', '/maps/1')).headers.allow).toBe('GET, PATCH, PUT, DELETE');
    expect((await call(sim, 'DELETE', '/chassis/moves')).status).toBe(405);
  });
});

describe('POST /chassis/pose', () => {
  it("reads radians: 1.5708 sent is reported back as 90 (spec, 'Angles')", async () => {
    await using listener = await listen(sim);
    listener.send({ enable_topic: '/tracked_pose' });
    expect((await post('/chassis/pose', { position: [0.5, 0.25, 0], ori: 1.5708, adjust_position: true })).status).toBe(
      201,
    );
    const pose = await listener.next(({ topic, pos }) => topic === '/tracked_pose' && pos[0] === 0.5);
    expect(pose).toMatchObject({ pos: [0.5, 0.25], ori: 90 });
  });

  it('reports every heading in degrees', async () => {
    await using listener = await listen(sim);
    listener.send({ enable_topic: '/tracked_pose' });
    const cases: [sent: number, reported: number][] = [
      [0, 0],
      [Math.PI, 180],
      [-Math.PI, 180],
      [-HALF_PI, -90],
      [Math.PI / 4, 45],
      // Degrees sent by mistake cause no error and a wrong heading.
      [90, 116.62],
    ];
    for (const [index, [ori, reported]] of cases.entries()) {
      // Two elements, as sent by the vendor's client.
      await post('/chassis/pose', { position: [0.5, index / 10], ori });
      const pose = await listener.next(({ topic, pos }) => topic === '/tracked_pose' && pos[1] === index / 10);
      expect(pose.ori, `${ori} rad`).toBeCloseTo(reported, 2);
    }
  });
});

describe('moves', () => {
  it('arrive at their goal with the ordered heading in radians (vendor facts 1.3)', async () => {
    const { A } = stations;
    const move = await finish({ type: 'standard', target_x: A.xM, target_y: A.yM, target_ori: HALF_PI });
    expect(move).toMatchObject({ state: 'succeeded', fail_reason: 0, type: 'standard', target_ori: HALF_PI });
    const { xM, yM, yawRad } = sim.state();
    expect(Math.hypot(xM - A.xM, yM - A.yM)).toBeLessThan(0.03);
    expect(yawRad).toBeCloseTo(HALF_PI, 6);
  });

  it('are created as moving', async () => {
    const { json } = await post('/chassis/moves', { type: 'standard', target_x: 0, target_y: 0 });
    expect(json).toMatchObject({ state: 'moving', fail_reason: 0, is_charging: null });
  });

  it('is cancelled by a second order, a project decision', async () => {
    const first = (await post('/chassis/moves', { type: 'standard', target_x: 3, target_y: 1 })).json as { id: number };
    const second = (await post('/chassis/moves', { type: 'standard', target_x: 0, target_y: 0 })).json as {
      id: number;
    };
    expect(second.id).toBeGreaterThan(first.id);
    expect((await get(`/chassis/moves/${first.id}`)).json).toMatchObject({ state: 'cancelled' });
    expect((await get(`/chassis/moves/${second.id}`)).json).toMatchObject({ state: 'moving' });
  });

  it('are cancelled by PATCH, and the robot stops', async () => {
    await post('/chassis/moves', { type: 'standard', target_x: 3, target_y: 1 });
    const { status, json } = await call(sim, 'PATCH', '/chassis/moves/current', { state: 'cancelled' });
    expect([status, json]).toEqual([200, { state: 'cancelled' }]);
    await until(() => sim.state().speedMS === 0);
    expect((await call(sim, 'PATCH', '/chassis/moves/current', { state: 'cancelled' })).status).toBe(404);
  });

  it('are listed newest first and without their goals', async () => {
    const list = (await get('/chassis/moves')).json as { id: number }[];
    expect(list.length).toBeGreaterThan(2);
    expect(list.map(({ id }) => id)).toEqual(list.map(({ id }) => id).toSorted((a, b) => b - a));
    for (const item of list) expect(Object.keys(item)).not.toContain('target_x');
  });

  it('are listed with is_charging, null or true (vendor facts 1.3: only the target fields are missing)', async () => {
    await finish({ type: 'standard', target_x: 0, target_y: -1 });
    await finish({ type: 'charge' });
    const [charge, standard] = (await get('/chassis/moves')).json as object[];
    expect([charge, standard]).toMatchObject([
      { type: 'charge', is_charging: true },
      { type: 'standard', is_charging: null },
    ]);
  });

  it("may have no type: optional in the vendor's client, here a standard move", async () => {
    for (const type of [undefined, null]) {
      const move = await finish({ type, target_x: 0, target_y: -1 });
      expect(move, String(type)).toMatchObject({ type: 'standard', state: 'succeeded' });
      await finish({ type, target_x: 0, target_y: -0.8 });
    }
    for (const type of [5, '', {}])
      expect((await post('/chassis/moves', { type, target_x: 0, target_y: 0 })).status).toBe(400);
    expect((await post('/chassis/moves', { creator: 'test' })).status).toBe(400);
  });

  it('fail with the fail reason of the vendor (vendor facts 4)', async () => {
    const cases: [goal: [number, number], reason: number][] = [
      [[400, 400], 4], // off the map
      [[12.7, 5.85], 6], // in a wall
      [[-2, -2.2], 6], // in the no-go zone
      [[8.2, -1.5], 9], // the closed shaft
    ];
    for (const [[x, y], reason] of cases) {
      const move = await finish({ type: 'standard', target_x: x, target_y: y });
      expect(move, `${x} ${y}`).toMatchObject({ state: 'failed', fail_reason: reason });
    }
  });

  it("ends at a wrong heading without an error when a standard order has degrees (spec, 'Angles')", async () => {
    const { B } = stations;
    const move = await finish({ type: 'standard', target_x: B.xM, target_y: B.yM, target_ori: 90 });
    expect(move).toMatchObject({ state: 'succeeded' });
    const degrees = (sim.state().yawRad * 180) / Math.PI;
    expect(Math.abs(degrees - 90)).toBeGreaterThan(20);
  });
});

describe('charge orders', () => {
  const order = { type: 'charge', target_x: dock.xM, target_y: dock.yM };

  it("fail with 103 when target_ori is in degrees (spec, 'Angles')", async () => {
    for (const ori of [90, -90, 45, 6.3]) {
      const move = await finish({ ...order, target_ori: ori });
      expect(move).toMatchObject({ state: 'failed', fail_reason: 103, fail_reason_str: 'InvalidChargeDock' });
    }
  });

  it('dock at the pose of the dock, in radians (vendor facts 1.3), and charge', async () => {
    const move = await finish({ ...order, target_ori: HALF_PI });
    expect(move).toMatchObject({ state: 'succeeded', is_charging: true });
    expect(sim.state().docked).toBe(true);
    await using listener = await listen(sim);
    listener.send({ enable_topic: '/battery_state' });
    const battery = await listener.next(({ topic }) => topic === '/battery_state');
    expect(battery.power_supply_status).toBe('charging');
    expect(battery.current).toBeLessThan(0);
    expect(battery.percentage).toBeGreaterThan(0);
    expect(battery.percentage).toBeLessThanOrEqual(1);
  });

  it('fail with 104 while charging', async () => {
    expect(await finish({ ...order, target_ori: HALF_PI })).toMatchObject({ state: 'failed', fail_reason: 104 });
  });

  it('fail with 101 where no dock is found, with 100 after the retries', async () => {
    await finish({ type: 'standard', target_x: 1, target_y: 1 });
    const elsewhere = { type: 'charge', target_x: 0.5, target_y: -0.5, target_ori: HALF_PI };
    expect(await finish(elsewhere)).toMatchObject({ state: 'failed', fail_reason: 101 });
    expect(await finish({ ...elsewhere, charge_retry_count: 1 })).toMatchObject({ state: 'failed', fail_reason: 100 });
  });
});

describe('services', () => {
  it('stop the robot in software and release it', async () => {
    await using listener = await listen(sim);
    listener.send({ enable_topic: '/wheel_state' });
    await post('/services/wheel_control/set_emergency_stop', { enable: true });
    await listener.next((message) => message.emergency_stop_pressed === true);
    const before = sim.state();
    await post('/chassis/moves', { type: 'standard', target_x: 3, target_y: 1 });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(Math.hypot(sim.state().xM - before.xM, sim.state().yM - before.yM)).toBeLessThan(0.2);
    expect(sim.state().moving).toBe(true);
    await post('/services/wheel_control/set_emergency_stop', { enable: false });
    await until(() => !sim.state().moving, 15_000);
    expect((await get('/chassis/moves')).json).toMatchObject({ 0: { state: 'succeeded' } });
  });

  it('set the control mode by either key of the vendor', async () => {
    await using listener = await listen(sim);
    listener.send({ enable_topic: '/wheel_state' });
    await post('/services/wheel_control/set_control_mode', { mode: 'manual' });
    await listener.next((message) => message.control_mode === 'manual');
    await post('/services/wheel_control/set_control_mode', { control_mode: 'auto' });
    await listener.next((message) => message.control_mode === 'auto');
  });

  it("limit the speed by a setting with the vendor's name, kept over a restart of the software", async () => {
    await using own = await startSim({ clock: fastClock(10) });
    const name = 'control.max_forward_velocity';
    const at = async (part: string) => (await call(own, 'GET', `/system/settings/${part}`)).json;
    const patch = (body: unknown) => call(own, 'PATCH', '/system/settings/user', body);
    expect(await at('schema')).toMatchObject({ ax: [{ name, type: 'float', default: 1, range: '[0.1, 1]' }] });
    expect([await at('user'), await at('effective')]).toEqual([{}, { [name]: 1 }]);
    expect((await call(own, 'POST', '/system/settings/user', { [name]: 0.5 })).status).toBe(201);
    expect((await patch({ [name]: 0.2 })).json).toEqual({ [name]: 0.2 });
    for (const body of [{ [name]: 5 }, { [name]: '0.5' }, { [name]: null }, [], 'x']) {
      expect((await patch(body)).status, JSON.stringify(body)).toBe(400);
    }
    await call(own, 'POST', '/services/restart_service');
    await until(async () => (await call(own, 'GET', '/system/settings/user')).status === 200);
    expect([await at('user'), await at('effective')]).toEqual([{ [name]: 0.2 }, { [name]: 0.2 }]);
    await call(own, 'POST', '/chassis/moves', { type: 'standard', target_x: 0, target_y: 0 });
    await until(() => own.state().speedMS > 0.15);
    await until(() => !own.state().moving || own.state().speedMS > 0.2, 15_000);
    expect(own.state().moving).toBe(false);
  });
});
