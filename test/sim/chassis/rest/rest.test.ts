import { describe, expect, it } from 'vitest';
import { dock, startSim, stations } from '../../../../src/lib/sim/index.ts';
import { shared } from '../../../lifecycle/shared.ts';
import { call, type Message, startWorld } from '../../raw-client.ts';

// Expected values are measured by the specification ('spec') or described by the vendor ('vendor facts').

const HALF_PI = Math.PI / 2;
const isWhole = expect.toSatisfy((value: unknown) => Number.isInteger(value), 'a whole number');
const firmware = { firmware_version: expect.any(String) };
const w = shared(await startWorld());

const standard = (target_x: number, target_y: number, more: object = {}) => ({
  type: 'standard',
  target_x,
  target_y,
  ...more,
});

describe('the device', () => {
  it('names its serial number, software and boards (vendor facts 1.2)', async () => {
    const { status, headers, json } = await w.get('/device/info');
    expect([status, headers['content-type']]).toEqual([200, 'application/json']);
    expect(json).toMatchObject({
      axbot_version: w.sim.chassis.software,
      device: { sn: w.sim.chassis.serial, param_tags: { dev: [], prod: [] } },
      caps: { supportsWsV2: true, supportsEnableTopicList: true, supportsSystemSettings: true },
      bottom_sensor_pack: firmware,
      depth_camera: firmware,
      remote_params: { tags: [] },
      gitinfo: [],
    });
  });

  it('has a brief form without the serial number (vendor facts 1.2)', async () => {
    expect(await w.json('/device/info/brief')).toEqual({
      rosversion: expect.any(String),
      rosdistro: expect.any(String),
      axbot_version: w.sim.chassis.software,
      device: { model: 'simulated' },
      baseboard: firmware,
      wheel_control: { device_type: expect.any(String), ...firmware },
      lidar: { model: expect.any(String) },
      bottom_sensor_pack: firmware,
      depth_camera: firmware,
      remote_params: { tags: [] },
    });
  });

  it('accepts every path with and without a trailing slash (vendor facts 1.1), and HEAD', async () => {
    for (const path of ['/device/info', '/maps', '/maps/1', '/chassis/moves', '/chassis/current-map']) {
      const answers = [await w.get(path), await w.get(`${path}/`)];
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    }
    const { status, text, headers } = await call(w.sim, 'HEAD', '/device/info');
    expect([status, text]).toEqual([200, '']);
    expect(Number(headers['content-length'])).toBeGreaterThan(100);
  });
});

describe('refusals (vendor facts 1.1)', () => {
  it('are a detail with 404 for a missing or undocumented object', async () => {
    const undocumented = ['/mappingsx', '/chassis', '/chassis/fly', '/maps/1/fly', '/'];
    for (const path of ['/nothing', '/maps/77', '/maps/77.png', '/chassis/moves/1', '/maps/x', ...undocumented]) {
      const { status, json } = await w.get(path);
      expect([path, status, json]).toEqual([path, 404, { detail: expect.stringMatching(/not found$/) }]);
    }
  });

  it.each([
    ['POST', '/chassis/moves', undefined],
    ['POST', '/chassis/moves', []],
    ['POST', '/chassis/moves', { creator: 'test' }],
    ['POST', '/chassis/moves', standard('1' as never, 2)],
    ['POST', '/chassis/moves', { type: 'standard', target_x: 1 }],
    ['POST', '/chassis/moves', standard(1, 2, { type: 'fly' })],
    ['POST', '/chassis/moves', standard(1, 2, { type: 5 })],
    ['POST', '/chassis/moves', standard(1, 2, { type: '' })],
    ['POST', '/chassis/moves', standard(1, 2, { target_ori: '90' })],
    ['POST', '/chassis/moves', standard(1, 2, { target_accuracy: true })],
    ['POST', '/chassis/moves', standard(1, 2, { use_target_zone: 'yes' })],
    ['POST', '/chassis/moves', { type: 'charge', target_x: 1 }],
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
  ])('are a detail with 400 for an invalid body: %s %s %j', async (method, path, body) => {
    const { status, json } = await call(w.sim, method, path, body);
    expect([status, json]).toEqual([400, { detail: expect.stringMatching(/./) }]);
  });

  it('limit the size of a body, and name the methods of a path', async () => {
    const large = await call(w.sim, 'POST', '/chassis/pose', `"${'x'.repeat(1024 * 1024)}"`, { raw: true });
    expect(large.status).toBe(413);
    const { status, headers, json } = await call(w.sim, 'PUT', '/device/info', {});
    expect([status, headers.allow, json]).toEqual([405, 'GET', { detail: 'Method "PUT" not allowed.' }]);
    expect((await call(w.sim, 'DELETE', '/maps/1.png')).headers.allow).toBe('GET');
    expect((await w.post('/maps/1')).headers.allow).toBe('GET, PATCH, PUT, DELETE');
    expect((await call(w.sim, 'DELETE', '/chassis/moves')).status).toBe(405);
  });

  it.each(
    `/mappings /ros /bags /recording /videos /core_dumps /collected_data /hostnames /app_store /bluetooth /wifi_setup
    /rb-admin /robot-params /system/settings/default /bags/x.bag/player?start_time=0 /device/params/dev
    /services/query_pose/charger_pose`.split(/\s+/),
  )('are 501 with what is missing for any method where it is not simulated: %s', async (path) => {
    for (const method of ['GET', 'POST', 'PATCH', 'PUT', 'DELETE']) {
      const { status, json } = await call(w.sim, method, path);
      expect([method, status, json]).toEqual([
        method,
        501,
        { detail: `not simulated by gw sim: ${path.split('?', 1)[0]}` },
      ]);
    }
  });

  it.each([
    ['POST', '/chassis/moves', standard(0, 0, { type: 'align_with_rack' })],
    ['POST', '/chassis/moves', { type: 'follow_target' }],
    ['POST', '/chassis/moves', { type: 'along_given_route', route_coordinates: '0, 0, 1, 1' }],
    ['POST', '/chassis/moves', { type: 'enter_elevator' }],
    ['PUT', '/maps/1', { map_name: 'x' }],
    ['POST', '/maps/', { map_name: 'x', mapping_id: 1 }],
    ['POST', '/maps/', { map_name: 'x', carto_map_filename: '/x.pbstream', occupancy_grid_filename: '/x.png' }],
    ['POST', '/chassis/current-map', { map_name: 'x', data_url: 'file:///x.pbstream' }],
    ['PATCH', '/system/settings/user', { 'rack.specs': [{ width: 0.66, depth: 0.7 }] }],
  ])('are 501 for an order that is not simulated: %s %s %j', async (method, path, body) => {
    const { status, json } = await call(w.sim, method, path, body);
    expect([status, json]).toEqual([501, { detail: expect.stringContaining('not simulated') }]);
  });

  it('are 501 for a map as a form', async () => {
    const form = new FormData();
    form.append('map_name', 'x');
    const { port } = w.sim.chassis;
    expect((await fetch(`http://127.0.0.1:${port}/maps/`, { method: 'POST', body: form })).status).toBe(501);
  });
});

describe('POST /chassis/pose', () => {
  it.each([
    // 1.5708 sent is reported back as 90 (spec, 'Angles').
    [1.5708, 90],
    [0, 0],
    [Math.PI, 180],
    [-Math.PI, 180],
    [-HALF_PI, -90],
    [Math.PI / 4, 45],
    // Degrees sent by mistake cause no error and a wrong heading.
    [90, 116.62],
  ])('reads radians, and the topic reports degrees: %d', async (ori, reported) => {
    w.listener.enable('/tracked_pose');
    // Two elements, as sent by the vendor's client.
    expect((await w.post('/chassis/pose', { position: [0.5, 0.25], ori })).status).toBe(201);
    w.listener.forget();
    const pose = await w.listener.next(({ topic }) => topic === '/tracked_pose');
    expect([pose.pos, pose.ori]).toEqual([[0.5, 0.25], expect.closeTo(reported, 2)]);
  });
});

describe('a move', () => {
  it('is created as moving, and arrives with the ordered heading in radians (vendor facts 1.3)', async () => {
    const { xM, yM } = stations.A;
    const { json } = await w.post('/chassis/moves', standard(xM, yM, { target_ori: HALF_PI }));
    expect(json).toMatchObject({ state: 'moving', fail_reason: 0, is_charging: null });
    await w.until(() => !w.sim.state().moving);
    const move = await w.json('/chassis/moves/current');
    expect(move).toMatchObject({ state: 'succeeded', fail_reason: 0, type: 'standard', target_ori: HALF_PI });
    expect(w.awayM(xM, yM)).toBeLessThan(0.03);
    expect(w.sim.state().yawRad).toBeCloseTo(HALF_PI, 6);
  });

  it('has null for fields without an order, and times in whole seconds', async () => {
    const none = { target_accuracy: null, use_target_zone: null, target_ori: null };
    const { id, ...move } = await w.finish({ ...standard(0, -1, none), creator: undefined });
    expect(move).toEqual({
      ...standard(0, -1, none),
      creator: '',
      state: 'succeeded',
      target_z: 0,
      is_charging: null,
      charge_retry_count: 0,
      fail_reason: 0,
      fail_reason_str: 'None - None',
      fail_message: '',
      create_time: isWhole,
      last_modified_time: isWhole,
    });
    w.listener.enable('/battery_state');
    expect((await w.listener.next(({ topic }) => topic === '/battery_state')).secs).toEqual(isWhole);
  });

  it.each([undefined, null])("without a type is a standard one: optional in the vendor's client (%s)", async (type) => {
    expect(await w.finish(standard(0, -0.8, { type }))).toMatchObject({ type: 'standard', state: 'succeeded' });
  });

  it('is cancelled by a second order, a project decision', async () => {
    const first = await w.order(standard(3, 1));
    const second = await w.order(standard(0, 0));
    expect(second).toBeGreaterThan(first);
    expect(await w.move(first)).toMatchObject({ state: 'cancelled' });
    expect(await w.move(second)).toMatchObject({ state: 'moving' });
  });

  it('is cancelled by PATCH, the robot stops, and it remains the current one', async () => {
    const id = await w.order(standard(3, 1));
    expect(await w.json('/chassis/moves/current')).toMatchObject({ id, state: 'moving', target_x: 3 });
    expect(await w.cancel()).toMatchObject({ status: 200, json: { state: 'cancelled' } });
    await w.until(() => w.sim.state().speedMS === 0);
    expect(await w.json('/chassis/moves/current')).toMatchObject({ id, state: 'cancelled' });
    expect((await w.cancel()).status).toBe(404);
    await using fresh = await startSim();
    expect((await call(fresh, 'GET', '/chassis/moves/current')).status).toBe(404);
  });

  it('is listed newest first, without its goal and with is_charging (vendor facts 1.3)', async () => {
    await w.finish(standard(0, -1));
    await w.finish({ type: 'charge' });
    const list: Message[] = await w.json('/chassis/moves');
    expect(list.map(({ id }) => id)).toEqual(list.map(({ id }) => id).toSorted((a, b) => b - a));
    for (const item of list) expect(item).not.toHaveProperty('target_x');
    expect(list.slice(0, 2)).toMatchObject([
      { type: 'charge', is_charging: true },
      { type: 'standard', is_charging: null, create_time: isWhole, last_modified_time: isWhole },
    ]);
  });

  it.each([
    ['off the map', 400, 400, 4],
    ['in a wall', 12.7, 5.85, 6],
    ['in the no-go zone', -2, -2.2, 6],
    ['in the closed shaft', 8.2, -1.5, 9],
  ])('fails with the reason of the vendor: %s (vendor facts 4)', async (_, x, y, reason) => {
    expect(await w.finish(standard(x, y))).toMatchObject({ state: 'failed', fail_reason: reason });
  });

  it("ends at a wrong heading without an error when a standard order has degrees (spec, 'Angles')", async () => {
    const { xM, yM } = stations.B;
    expect(await w.finish(standard(xM, yM, { target_ori: 90 }))).toMatchObject({ state: 'succeeded' });
    expect(Math.abs((w.sim.state().yawRad * 180) / Math.PI - 90)).toBeGreaterThan(20);
  });

  it('succeeds as soon as it is within its target zone', async () => {
    const zone = { target_accuracy: 0.5, use_target_zone: true };
    expect(await w.finish(standard(0.5, 0, zone))).toMatchObject({ state: 'succeeded', use_target_zone: true });
    await w.until(() => w.sim.state().speedMS === 0);
    expect(w.awayM(0.5, 0)).toBeLessThan(0.5);
    expect(w.awayM(0.5, 0)).toBeGreaterThan(0.05);
  });
});

describe('a charge order', () => {
  const order = { type: 'charge', target_x: dock.xM, target_y: dock.yM };

  it.each([90, -90, 45, 6.3])("fails with 103 when target_ori is in degrees: %d (spec, 'Angles')", async (ori) => {
    const failed = { state: 'failed', fail_reason: 103, fail_reason_str: 'InvalidChargeDock' };
    expect(await w.finish({ ...order, target_ori: ori })).toMatchObject(failed);
    expect(await w.finish({ type: 'charge', target_ori: ori })).toMatchObject(failed);
  });

  it('docks at the pose of the dock, in radians, and charges (vendor facts 1.3); then fails with 104', async () => {
    const move = await w.finish({ ...order, target_ori: HALF_PI });
    expect(move).toMatchObject({ state: 'succeeded', is_charging: true });
    expect(w.sim.state().docked).toBe(true);
    w.listener.forget();
    const battery = await w.listener.next(({ topic }) => topic === '/battery_state');
    expect(battery.power_supply_status).toBe('charging');
    expect(battery.current).toBeLessThan(0);
    expect(battery.percentage).toBeGreaterThan(0);
    expect(battery.percentage).toBeLessThanOrEqual(1);
    expect(await w.finish({ ...order, target_ori: HALF_PI })).toMatchObject({ state: 'failed', fail_reason: 104 });
  });

  it('fails with 101 where no dock is found, with 100 after the retries', async () => {
    await w.finish(standard(1, 1));
    const elsewhere = { type: 'charge', target_x: 0.5, target_y: -0.5, target_ori: HALF_PI };
    expect(await w.finish(elsewhere)).toMatchObject({ state: 'failed', fail_reason: 101 });
    expect(await w.finish({ ...elsewhere, charge_retry_count: 1 })).toMatchObject({
      state: 'failed',
      fail_reason: 100,
    });
  });

  it('without a target uses the charger of the map, and fails with 103 where it has none', async () => {
    const { status, json } = await w.post('/chassis/moves', { type: 'charge' });
    expect([status, json]).toMatchObject([201, { target_x: null, target_y: null, target_ori: null }]);
    w.listener.enable('/planning_state');
    const reported = await w.listener.next(({ action_type }) => action_type === 'charge');
    expect(reported.target_poses).toEqual([{ pos: [dock.xM, dock.yM], ori: expect.closeTo(HALF_PI, 5) }]);
    await w.until(() => !w.sim.state().moving);
    expect(await w.json('/chassis/moves/current')).toMatchObject({ state: 'succeeded', is_charging: true });
    await using own = await startWorld();
    await own.patch('/maps/1', { overlays: '{"type":"FeatureCollection","features":[]}' });
    expect(await own.finish({ type: 'charge' })).toMatchObject({ state: 'failed', fail_reason: 103 });
  });
});

describe('services', () => {
  it('stop the robot in software and release it', async () => {
    w.listener.enable('/wheel_state');
    await w.post('/services/wheel_control/set_emergency_stop', { enable: true });
    await w.listener.next((message) => message.emergency_stop_pressed === true);
    const { xM, yM } = w.sim.state();
    const id = await w.order(standard(3, 1));
    await w.seconds(2);
    expect(w.awayM(xM, yM)).toBeLessThan(0.2);
    expect(w.sim.state().moving).toBe(true);
    await w.post('/services/wheel_control/set_emergency_stop', { enable: false });
    await w.until(() => !w.sim.state().moving);
    expect(await w.move(id)).toMatchObject({ state: 'succeeded' });
  });

  it('set the control mode by either key of the vendor', async () => {
    w.listener.enable('/wheel_state');
    await w.post('/services/wheel_control/set_control_mode', { mode: 'manual' });
    await w.listener.next((message) => message.control_mode === 'manual');
    await w.post('/services/wheel_control/set_control_mode', { control_mode: 'auto' });
    await w.listener.next((message) => message.control_mode === 'auto');
  });

  it("limit the speed by a setting with the vendor's name, kept over a restart of the software", async () => {
    await using own = await startWorld();
    const name = 'control.max_forward_velocity';
    const at = (part: string) => own.json(`/system/settings/${part}`);
    const patch = (body: unknown) => own.patch('/system/settings/user', body);
    expect(await at('schema')).toMatchObject({ ax: [{ name, type: 'float', default: 1, range: '[0.1, 1]' }] });
    expect([await at('user'), await at('effective')]).toEqual([{}, { [name]: 1 }]);
    expect((await own.post('/system/settings/user', { [name]: 0.5 })).status).toBe(201);
    expect((await patch({ [name]: 0.2 })).json).toEqual({ [name]: 0.2 });
    for (const body of [{ [name]: 5 }, { [name]: '0.5' }, { [name]: null }, [], 'x']) {
      expect((await patch(body)).status, JSON.stringify(body)).toBe(400);
    }
    await own.post('/services/restart_service');
    await own.until(async () => (await own.get('/system/settings/user')).status === 200);
    expect([await at('user'), await at('effective')]).toEqual([{ [name]: 0.2 }, { [name]: 0.2 }]);
    await own.order(standard(0, 0));
    const speeds: number[] = [];
    await own.until(() => speeds.push(own.sim.state().speedMS) > 0 && !own.sim.state().moving);
    expect(Math.max(...speeds)).toBeCloseTo(0.2, 2);
  });
});
