import { describe, expect, it } from 'vitest';
import { dock, startSim } from '../../../../src/lib/sim/index.ts';
import { call, fastClock, listen, until } from '../../raw-client.ts';

// POST /services/start_global_positioning and its topic, as the vendor's book describes them (HINWEIS).

const start = (sim: Parameters<typeof call>[0], body: object = {}) =>
  call(sim, 'POST', '/services/start_global_positioning', body);

describe('global positioning', () => {
  it('finds the robot after a change of the map, so that it drives again without setting the pose', async () => {
    await using sim = await startSim({ clock: fastClock(10) });
    await using listener = await listen(sim);
    listener.send({ enable_topic: ['/global_positioning_state', '/slam/state'] });
    await call(sim, 'POST', '/chassis/current-map', { map_id: 1 });
    await listener.next(({ reliable }) => reliable === false);
    expect((await start(sim)).status).toBe(201);
    await listener.next(({ state }) => state === 'running');
    expect(await listener.next(({ state }) => state === 'succeeded')).toMatchObject({
      topic: '/global_positioning_state',
      needs_confirmation: false,
      pose: { pos: [dock.xM, dock.yM], ori: expect.closeTo(Math.PI / 2, 5) },
    });
    const { id } = (await call(sim, 'POST', '/chassis/moves', { type: 'standard', target_x: 0, target_y: 0 })).json as {
      id: number;
    };
    await until(() => !sim.state().moving, 10_000);
    expect((await call(sim, 'GET', `/chassis/moves/${id}`)).json).toMatchObject({ state: 'succeeded' });
  });

  it('fails without a match of the lidar, and without the map for lack of barcodes', async () => {
    await using sim = await startSim({ clock: fastClock(10) });
    await using listener = await listen(sim);
    listener.send({ enable_topic: '/global_positioning_state' });
    await start(sim, { use_base_map_match: false });
    expect(await listener.next(({ state }) => state === 'failed')).toMatchObject({ message: 'no barcode in sight' });
    listener.forget();
    sim.setFault('localisation-lost', true);
    await start(sim);
    const failed = await listener.next(({ state }) => state === 'failed');
    expect(failed).not.toHaveProperty('pose');
  });

  it('does not start during a move, without a map, or for an invalid request', async () => {
    await using sim = await startSim({ clock: fastClock(10) });
    expect((await start(sim, { use_barcode: 'yes' })).status).toBe(400);
    await call(sim, 'POST', '/chassis/moves', { type: 'standard', target_x: 3, target_y: 1 });
    expect((await start(sim)).status).toBe(400);
    sim.setFault('map-loss', true);
    await call(sim, 'POST', '/services/restart_service');
    await until(async () => (await call(sim, 'GET', '/device/info')).status === 200);
    expect((await start(sim)).status).toBe(400);
  });
});
