import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
      caps: { supportsSystemSettings: true },
    });
  });

  it('reports brief information', async () => {
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

  it('report a path with the heading as third value', async () => {
    await using own = await startSim();
    await using listener = await listen(own);
    listener.send({ enable_topic: '/path' });
    await call(own, 'POST', '/chassis/moves', { type: 'standard', target_x: 1.4, target_y: 0 });
    const { positions } = await listener.next(({ topic, positions: p }) => topic === '/path' && p.length > 1);
    // The path out of the dock points straight up.
    expect(positions[0]).toEqual([dock.xM, dock.yM, expect.closeTo(Math.PI / 2, 5)]);
    const [[x1, y1], [x2, y2]] = positions.slice(-2);
    expect(positions.at(-1)[2]).toBeCloseTo(Math.atan2(y2 - y1, x2 - x1), 5);
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
});

describe('an endpoint that is not simulated', () => {
  it('returns 501 with what is missing for any method, and never success', async () => {
    const roots = [
      '/mappings',
      '/ros',
      '/bags',
      '/recording',
      '/videos',
      '/core_dumps',
      '/collected_data',
      '/hostnames',
    ];
    const others = [
      '/app_store',
      '/bluetooth',
      '/wifi_setup',
      '/rb-admin',
      '/robot-params',
      '/system/settings/default',
    ];
    const below = ['/bags/x.bag/player?start_time=0', '/services/query_pose/charger_pose', '/device/params/dev'];
    for (const path of [...roots, ...others, ...below]) {
      for (const method of ['GET', 'POST', 'PATCH', 'PUT', 'DELETE']) {
        const { status, json } = await call(sim, method, path);
        expect([method, path, status]).toEqual([method, path, 501]);
        expect(json).toEqual({ detail: `not simulated by gw sim: ${path.split('?', 1)[0]}` });
      }
    }
  });

  it('returns 501 also for moves, maps and settings that are not simulated', async () => {
    const lacking: [string, string, unknown][] = [
      ['POST', '/chassis/moves', { type: 'align_with_rack', target_x: 0, target_y: 0 }],
      ['POST', '/chassis/moves', { type: 'follow_target' }],
      ['POST', '/chassis/moves', { type: 'along_given_route', route_coordinates: '0, 0, 1, 1' }],
      ['PUT', '/maps/1', { map_name: 'x' }],
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

  it('differs from an undocumented endpoint, which is 404', async () => {
    for (const path of ['/mappingsx', '/chassis', '/chassis/fly', '/maps/1/fly', '/']) {
      expect((await get(path)).status, path).toBe(404);
    }
  });
});
