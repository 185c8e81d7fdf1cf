import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unsupportedPaths } from '../../../src/lib/sim/chassis/rest/not-simulated.ts';
import { dock, type Sim, startSim } from '../../../src/lib/sim/index.ts';
import { call, fastClock, listen, until } from '../raw-client.ts';

// The shapes that a client of the vendor's interface relies on: vendor's book and client, and what a public integrator
// reads (all HINWEIS).

let sim: Sim;
beforeAll(async () => {
  sim = await startSim({ clock: fastClock(10) });
});
afterAll(async () => {
  await sim[Symbol.asyncDispose]();
});

const get = (path: string) => call(sim, 'GET', path);
const post = (path: string, body?: unknown) => call(sim, 'POST', path, body);
const isWhole = expect.toSatisfy((value: unknown) => Number.isInteger(value), 'a whole number');

async function settle() {
  await until(() => !sim.state().moving, 15_000);
}

describe('the device', () => {
  it('reports its other boards, its parameters and its modules', async () => {
    const { json } = await get('/device/info');
    expect(json).toMatchObject({
      bottom_sensor_pack: { firmware_version: expect.any(String) },
      depth_camera: { firmware_version: expect.any(String) },
      remote_params: { tags: [] },
      gitinfo: [],
      device: { param_tags: { dev: [], prod: [] } },
      caps: { supportsSystemSettings: true, supportsParamFiles: true },
    });
  });

  it('reports the same brief information by REST and on the topic stream', async () => {
    const { json } = await get('/device/info/brief');
    expect(json).toEqual({
      rosversion: expect.any(String),
      rosdistro: expect.any(String),
      axbot_version: sim.chassis.software,
      device: { model: 'simulated' },
      baseboard: { firmware_version: expect.any(String) },
      wheel_control: { device_type: expect.any(String), firmware_version: expect.any(String) },
      lidar: { model: expect.any(String) },
      bottom_sensor_pack: { firmware_version: expect.any(String) },
      depth_camera: { firmware_version: expect.any(String) },
      remote_params: { tags: [] },
    });
    await using listener = await listen(sim);
    listener.send({ topic: '/get_device_info_brief' });
    const { topic, ...reported } = await listener.next((message) => message.topic === '/device_info_brief');
    expect(topic).toBe('/device_info_brief');
    expect(reported).toEqual(json);
  });

  it('reports its WLAN, with addresses for documentation', async () => {
    const { status, json } = await get('/device/wifi_info');
    expect(status).toBe(200);
    expect(json).toMatchObject({
      wifi_mode: 'station',
      wpa_state: 'completed',
      wifi_ip: expect.stringMatching(/^192\.0\.2\./),
      routes: [expect.stringContaining('192.0.2.0/24')],
      active_access_point: { ssid: expect.any(String), strength: isWhole },
    });
    const { ssid } = json as { ssid: string };
    expect((await get('/device/available_wifis')).json).toMatchObject([{ ssid, rssi: isWhole, open: false }]);
  });

  it('stores its parameter files unchanged and separately', async () => {
    const put = (path: string, text: string) => call(sim, 'PUT', path, text, { raw: true });
    expect((await put('/device/params/dev', 'a:\n  b: [1, 2]\n')).status).toBe(201);
    const { text, headers } = await get('/device/params/dev');
    expect([text, headers['content-type']]).toEqual(['a:\n  b: [1, 2]\n', expect.stringContaining('yaml')]);
    expect((await get('/device/params/prod')).text).toBe('');
    // The content is not parsed: YAML that would take minutes to parse is stored like any other.
    const many = Array.from({ length: 50_000 }, (_, i) => `k${i}: v`).join('\n');
    expect((await put('/device/params/dev', many)).status).toBe(201);
    expect((await get('/device/params/dev')).text).toBe(many);
    expect((await put('/device/params/dev', 'x'.repeat(1024 * 1024 + 1))).status).toBe(413);
  });
});

describe('times', () => {
  it('are whole seconds wherever maps and moves name them', async () => {
    await post('/chassis/moves', { type: 'standard', target_x: 0, target_y: -1 });
    await settle();
    const [list, map, current, moves] = [
      (await get('/maps/')).json,
      (await get('/maps/1')).json,
      (await get('/chassis/current-map')).json,
      (await get('/chassis/moves')).json,
    ];
    expect(list).toMatchObject({ 0: { create_time: isWhole } });
    expect(map).toMatchObject({ create_time: isWhole, last_modified_time: isWhole });
    expect(current).toMatchObject({ create_time: isWhole });
    expect(moves).toMatchObject({ 0: { create_time: isWhole, last_modified_time: isWhole } });
    await using listener = await listen(sim);
    listener.send({ enable_topic: '/battery_state' });
    expect((await listener.next(({ topic }) => topic === '/battery_state')).secs).toEqual(isWhole);
  });
});

describe('maps', () => {
  it('report the true sizes of their files', async () => {
    const { json } = await get('/maps/');
    const [{ image_size, pbstream_size }] = json as [{ image_size: number; pbstream_size: number }];
    const bytes = async (path: string) =>
      (await (await fetch(`http://127.0.0.1:${sim.chassis.port}${path}`)).arrayBuffer()).byteLength;
    expect([image_size, pbstream_size]).toEqual([await bytes('/maps/1.png'), await bytes('/maps/1.pbstream')]);
  });

  it('are overwritten by PUT under the same id, and the robot on it needs a new pose', async () => {
    await using own = await startSim();
    const picture = await (await fetch(`http://127.0.0.1:${own.chassis.port}/maps/3.png`)).arrayBuffer();
    const data = {
      map_name: 'new grid',
      carto_map: '',
      occupancy_grid: Buffer.from(picture).toString('base64'),
      grid_resolution: 0.05,
      grid_origin_x: -1,
      grid_origin_y: -2,
      overlays: '{"features":[]}',
      overlays_version: 9,
    };
    await using listener = await listen(own);
    listener.send({ enable_topic: ['/slam/state', '/map/info'] });
    await listener.next(({ reliable }) => reliable === true);
    const before = (await call(own, 'GET', '/maps/2')).json as { create_time: number; uid: string };
    expect((await call(own, 'PUT', '/maps/2', data)).status).toBe(200);
    expect((await call(own, 'GET', '/maps/2')).json).toMatchObject({
      id: 2,
      uid: before.uid,
      map_name: 'new grid',
      map_version: 2,
      create_time: before.create_time,
      grid_origin_x: -1,
      overlays: '{"features":[]}',
      overlays_version: 9,
    });
    expect((await call(own, 'GET', '/chassis/current-map')).json).toMatchObject({ id: 1, map_name: 'Erdgeschoss' });
    expect((await call(own, 'PUT', '/maps/1', data)).status).toBe(200);
    await listener.next(({ topic, name }) => topic === '/map/info' && name === 'new grid');
    await listener.next(({ reliable }) => reliable === false);
    expect((await call(own, 'PUT', '/maps/1', { ...data, uid: 'other', map_version: 7 })).json).toMatchObject({
      uid: 'other',
      map_version: 7,
    });
    expect((await call(own, 'PUT', '/maps/77', data)).status).toBe(404);
    expect((await call(own, 'PUT', '/maps/1', { map_name: 'x' })).status).toBe(400);
  });

  it('have a picture with a cache lifetime of 30 days, answered with 304 when unchanged', async () => {
    await using listener = await listen(sim);
    listener.send({ enable_topic: '/map_v2' });
    const { data_url: path, stamp } = await listener.next(({ topic }) => topic === '/map_v2');
    expect(stamp).toBeGreaterThan(1e9);
    expect(path).toMatch(/^static-files\/map-[0-9a-f]{64}\.png$/);
    const url = `http://127.0.0.1:${sim.chassis.port}/${path}`;
    const first = await fetch(url);
    const etag = first.headers.get('etag') ?? '';
    expect([etag.length, first.headers.get('cache-control')]).toEqual([64, 'public, max-age=2592000']);
    expect((await first.arrayBuffer()).byteLength).toBeGreaterThan(100);
    for (const known of [etag, `"${etag}"`, `"other", W/"${etag}"`]) {
      const again = await fetch(url, { headers: { 'if-none-match': known } });
      expect([again.status, (await again.arrayBuffer()).byteLength]).toEqual([304, 0]);
    }
    expect((await fetch(url, { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  });
});

describe('a move', () => {
  it('reports null for fields without an order', async () => {
    const { status, json } = await post('/chassis/moves', {
      type: 'standard',
      target_x: 0,
      target_y: -1,
      target_accuracy: null,
      use_target_zone: null,
      target_ori: null,
    });
    expect(status).toBe(201);
    const { id } = json as { id: number };
    await settle();
    expect((await get(`/chassis/moves/${id}`)).json).toEqual({
      id,
      creator: '',
      state: 'succeeded',
      type: 'standard',
      target_x: 0,
      target_y: -1,
      target_z: 0,
      target_ori: null,
      target_accuracy: null,
      use_target_zone: null,
      is_charging: null,
      charge_retry_count: 0,
      fail_reason: 0,
      fail_reason_str: 'None - None',
      fail_message: '',
      create_time: isWhole,
      last_modified_time: isWhole,
    });
  });

  it('succeeds as soon as it is within its target zone', async () => {
    const order = { type: 'standard', target_x: 0.5, target_y: 0, target_accuracy: 0.5, use_target_zone: true };
    const { json } = await post('/chassis/moves', order);
    await settle();
    const { id } = json as { id: number };
    expect((await get(`/chassis/moves/${id}`)).json).toMatchObject({ state: 'succeeded', use_target_zone: true });
    await until(() => sim.state().speedMS === 0);
    const { xM, yM } = sim.state();
    const leftM = Math.hypot(xM - 0.5, yM);
    expect(leftM).toBeLessThan(0.5);
    expect(leftM).toBeGreaterThan(0.05);
  });

  it('is returned as the current one, also after its end', async () => {
    const { json } = await post('/chassis/moves', { type: 'standard', target_x: 3, target_y: 1 });
    const { id } = json as { id: number };
    expect((await get('/chassis/moves/current')).json).toMatchObject({ id, state: 'moving', target_x: 3 });
    await call(sim, 'PATCH', '/chassis/moves/current', { state: 'cancelled' });
    expect((await get('/chassis/moves/current')).json).toMatchObject({ id, state: 'cancelled' });
    await using fresh = await startSim();
    expect((await call(fresh, 'GET', '/chassis/moves/current')).status).toBe(404);
  });

  it('to charge without a target uses the charger of the map', async () => {
    await post('/chassis/moves', { type: 'standard', target_x: 0, target_y: 0 });
    await settle();
    const { status, json } = await post('/chassis/moves', { type: 'charge' });
    expect(status).toBe(201);
    expect(json).toMatchObject({ target_x: null, target_y: null, target_ori: null });
    await using listener = await listen(sim);
    listener.send({ enable_topic: '/planning_state' });
    const reported = await listener.next(({ action_type }) => action_type === 'charge');
    expect(reported.target_poses).toEqual([{ pos: [dock.xM, dock.yM], ori: expect.closeTo(Math.PI / 2, 5) }]);
    await settle();
    expect((await get('/chassis/moves/current')).json).toMatchObject({ state: 'succeeded', is_charging: true });
    expect(sim.state().docked).toBe(true);
  });

  it("to charge without a position still fails with 103 for degrees (spec, 'Angles'), and where the map has no charger", async () => {
    await using own = await startSim({ clock: fastClock(10) });
    const end = async (order: object) => {
      await call(own, 'POST', '/chassis/moves', order);
      await until(() => !own.state().moving, 10_000);
      return (await call(own, 'GET', '/chassis/moves/current')).json;
    };
    expect(await end({ type: 'charge', target_ori: 90 })).toMatchObject({ state: 'failed', fail_reason: 103 });
    await call(own, 'PATCH', '/maps/1', { overlays: '{"type":"FeatureCollection","features":[]}' });
    expect(await end({ type: 'charge' })).toMatchObject({ state: 'failed', fail_reason: 103 });
  });
});

describe('topics', () => {
  it('report positioning as in 2.12, with the progress of a loss only during one', async () => {
    await using own = await startSim();
    await using listener = await listen(own);
    listener.send({ enable_topic: '/slam/state' });
    const sound = await listener.next(({ topic }) => topic === '/slam/state');
    expect(sound).toMatchObject({
      reliable: true,
      lidar_reliable: true,
      wheel_slipping: false,
      inter_constraint_count: isWhole,
      good_constraint_count: isWhole,
    });
    expect(sound).not.toHaveProperty('position_loss_progress');
    own.setFault('localisation-lost', true);
    expect(await listener.next(({ reliable }) => reliable === false)).toMatchObject({
      lidar_reliable: false,
      position_loss_progress: 1,
    });
  });

  it('report a path with the heading as third value, older software without it', async () => {
    await using own = await startSim();
    await using listener = await listen(own);
    listener.send({ enable_topic: '/path' });
    await call(own, 'POST', '/chassis/moves', { type: 'standard', target_x: 1.4, target_y: 0 });
    const { positions } = await listener.next(({ topic, positions: p }) => topic === '/path' && p.length > 1);
    // The path out of the dock points straight up.
    expect(positions[0]).toEqual([dock.xM, dock.yM, expect.closeTo(Math.PI / 2, 5)]);
    const [[x1, y1], [x2, y2]] = positions.slice(-2);
    expect(positions.at(-1)[2]).toBeCloseTo(Math.atan2(y2 - y1, x2 - x1), 5);
    own.setFault('old-software', true);
    await using older = await listen(own);
    older.send({ enable_topic: '/path' });
    expect((await older.next(({ topic }) => topic === '/path')).positions[0]).toHaveLength(2);
  });

  it('report an idle robot with its intent', async () => {
    await using own = await startSim();
    await using listener = await listen(own);
    listener.send({ enable_topic: '/planning_state' });
    expect(await listener.next(({ topic }) => topic === '/planning_state')).toMatchObject({
      move_state: 'none',
      move_intent: 'none',
      intent_target_pose: { pos: [0, 0], ori: 0 },
    });
  });

  it('report the battery in detail, with the same values as in brief', async () => {
    await using listener = await listen(sim);
    listener.send({ enable_topic: ['/battery_state', '/detailed_battery_state'] });
    const detail = await listener.next(({ topic }) => topic === '/detailed_battery_state');
    const sum = detail.cell_voltages.reduce((a: number, b: number) => a + b, 0);
    expect(sum).toBeCloseTo(detail.voltage, 3);
    expect(detail.capacity).toBeLessThanOrEqual(detail.design_capacity);
    const { voltage } = await listener.next(({ topic }) => topic === '/battery_state');
    expect(Math.abs(voltage - detail.voltage)).toBeLessThan(0.1);
  });

  it('report the trajectory of the robot', async () => {
    await using own = await startSim({ clock: fastClock(10) });
    await call(own, 'POST', '/chassis/moves', { type: 'standard', target_x: 1.4, target_y: 0 });
    await until(() => !own.state().moving, 10_000);
    await using listener = await listen(own);
    listener.send({ enable_topic: '/trajectory' });
    const { points } = await listener.next(({ topic }) => topic === '/trajectory');
    expect(points[0]).toEqual([dock.xM, dock.yM]);
    expect(Math.hypot(points.at(-1)[0] - 1.4, points.at(-1)[1])).toBeLessThan(0.15);
    expect(points.length).toBeGreaterThan(15);
  });
});

describe('while the robot is docked', () => {
  it('is computed there only', async () => {
    await using own = await startSim({ clock: fastClock(10) });
    const pose = (await call(own, 'GET', '/services/query_pose/charger_pose')).json;
    expect(pose).toEqual({ pose: { pos: [dock.xM, dock.yM], ori: expect.closeTo(Math.PI / 2, 5) } });
    await call(own, 'POST', '/chassis/pose', { position: [1, 1, 0], ori: 0, adjust_position: false });
    expect((await call(own, 'GET', '/services/query_pose/charger_pose')).status).toBe(400);
  });
});

describe('an endpoint that is not simulated', () => {
  it('returns 501 with what is missing for any method, and never success', async () => {
    for (const path of [...Object.keys(unsupportedPaths), '/bags/x.bag/player?start_time=0', '/mappings/current']) {
      for (const method of ['GET', 'POST', 'PATCH', 'PUT', 'DELETE']) {
        const { status, json } = await call(sim, method, path);
        expect([method, path, status]).toEqual([method, path, 501]);
        expect(json).toEqual({ detail: expect.stringMatching(/^not simulated by gw sim: /) });
      }
    }
  });

  it('returns 501 also for moves, maps and settings of other devices', async () => {
    const lacking: [string, string, unknown][] = [
      ['POST', '/chassis/moves', { type: 'align_with_rack', target_x: 0, target_y: 0 }],
      ['POST', '/chassis/moves', { type: 'follow_target' }],
      ['POST', '/chassis/moves', { type: 'enter_elevator' }],
      ['POST', '/maps/', { map_name: 'x', mapping_id: 1 }],
      ['POST', '/maps/', { map_name: 'x', carto_map_filename: '/x.pbstream', occupancy_grid_filename: '/x.png' }],
      ['POST', '/chassis/current-map', { map_name: 'x', data_url: 'file:///x.pbstream' }],
      ['PATCH', '/system/settings/user', { 'rack.specs': [{ width: 0.66, depth: 0.7 }] }],
    ];
    for (const [method, path, body] of lacking) {
      const { status, json } = await call(sim, method, path, body);
      expect([path, status, json]).toEqual([path, 501, { detail: expect.stringContaining('not simulated') }]);
    }
    const form = new FormData();
    form.append('map_name', 'x');
    const reply = await fetch(`http://127.0.0.1:${sim.chassis.port}/maps/`, { method: 'POST', body: form });
    expect(reply.status).toBe(501);
  });

  it('is 404 in older software, as are newer endpoints', async () => {
    await using own = await startSim();
    own.setFault('old-software', true);
    for (const path of ['/system/settings/user', '/device/params/dev', '/device/wifi_info', '/services/query_pose/x']) {
      expect((await call(own, 'GET', path)).status, path).toBe(404);
    }
    expect((await call(own, 'GET', '/robot-params')).status).toBe(200);
  });

  it('differs from an undocumented endpoint, which is 404', async () => {
    for (const path of ['/services', '/services/fly', '/mappingsx', '/device/params/other', '/system/settings']) {
      expect((await get(path)).status, path).toBe(404);
    }
  });
});
