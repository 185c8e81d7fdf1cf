import { PNG } from 'pngjs';
import { describe, expect, it } from 'vitest';
import { createFloorGrid } from '../../../../src/lib/sim/chassis/floor/floor.ts';
import { FREE, WALL } from '../../../../src/lib/sim/chassis/floor/grid.ts';
import { gridFromPng, gridToPng } from '../../../../src/lib/sim/chassis/maps/map-image.ts';
import { dock, startSim, stations } from '../../../../src/lib/sim/index.ts';
import { call, fastClock, listen, until } from '../../raw-client.ts';

interface Feature {
  id?: string;
  geometry: { type: string; coordinates: unknown };
  properties: Record<string, unknown>;
}

async function overlaysOf(sim: Parameters<typeof call>[0]): Promise<Feature[]> {
  const { json } = await call(sim, 'GET', '/maps/1');
  return JSON.parse((json as { overlays: string }).overlays).features;
}

describe('maps over REST (vendor facts 1.5)', () => {
  it('are listed without overlays and grid', async () => {
    await using sim = await startSim();
    const { json } = await call(sim, 'GET', '/maps/');
    expect(json).toMatchObject([
      { id: 1, uid: expect.any(String), map_name: expect.any(String), overlays_version: expect.any(Number) },
      { id: 2 },
      { id: 3, map_name: 'Musterblatt' },
    ]);
    expect(JSON.stringify(json)).not.toMatch(/overlays"|grid_/);
  });

  it('are returned one by one with the position of their grid, the overlays as JSON text, and without url', async () => {
    await using sim = await startSim();
    const { json } = await call(sim, 'GET', '/maps/1');
    expect(json).toMatchObject({ grid_origin_x: -3, grid_origin_y: -3, grid_resolution: 0.05 });
    expect(json).not.toHaveProperty('url');
    expect(typeof (json as { overlays: unknown }).overlays).toBe('string');
  });

  it('are rendered from the grid, the same bytes each time, north up', async () => {
    await using sim = await startSim();
    const grid = createFloorGrid();
    expect(gridToPng(grid).equals(gridToPng(createFloorGrid()))).toBe(true);
    const png = PNG.sync.read(gridToPng(grid));
    expect([png.width, png.height]).toEqual([grid.width, grid.height]);
    for (let row = 0; row < grid.height; row += 1) {
      for (let column = 0; column < grid.width; column += 1) {
        const shade = png.data[4 * ((grid.height - 1 - row) * grid.width + column)];
        const cell = grid.cells[row * grid.width + column];
        if (shade !== (cell === FREE ? 255 : cell === WALL ? 0 : 127)) throw new Error(`${column},${row}: ${shade}`);
      }
    }
    const reply = await fetch(`http://127.0.0.1:${sim.chassis.port}/maps/1.png`);
    expect(reply.headers.get('content-type')).toBe('image/png');
    expect(Buffer.from(await reply.arrayBuffer()).equals(gridToPng(grid))).toBe(true);
    const small = await fetch(`http://127.0.0.1:${sim.chassis.port}/maps/1/thumbnail`);
    expect(PNG.sync.read(Buffer.from(await small.arrayBuffer())).width).toBe(80);
  });

  it('are decoded from their own picture', () => {
    const grid = createFloorGrid();
    const back = gridFromPng(gridToPng(grid), grid);
    expect(back?.cells).toEqual(grid.cells);
    expect(gridFromPng(Buffer.from('no picture'), grid)).toBeUndefined();
  });

  it('are backed up and restored with their overlays', async () => {
    await using sim = await startSim();
    const detail = (await call(sim, 'GET', '/maps/1')).json as Record<string, unknown>;
    const picture = await (await fetch(`http://127.0.0.1:${sim.chassis.port}/maps/1.png`)).arrayBuffer();
    expect((await call(sim, 'DELETE', '/maps/1')).status).toBe(204);
    expect((await call(sim, 'GET', '/maps/1')).status).toBe(404);
    const created = await call(sim, 'POST', '/maps/', {
      map_name: detail.map_name,
      uid: detail.uid,
      carto_map: '',
      occupancy_grid: Buffer.from(picture).toString('base64'),
      grid_resolution: detail.grid_resolution,
      grid_origin_x: detail.grid_origin_x,
      grid_origin_y: detail.grid_origin_y,
      overlays: detail.overlays,
      overlays_version: detail.overlays_version,
    });
    expect(created.status).toBe(201);
    const { id } = created.json as { id: number };
    expect((await call(sim, 'GET', `/maps/${id}`)).json).toMatchObject({
      uid: detail.uid,
      overlays: detail.overlays,
      overlays_version: detail.overlays_version,
    });
  });

  it('set from data have the id -1 (vendor facts 1.4)', async () => {
    await using sim = await startSim();
    const { status, json } = await call(sim, 'POST', '/chassis/current-map', {
      map_name: 'from data',
      carto_map: '',
      occupancy_grid: gridToPng(createFloorGrid()).toString('base64'),
      grid_resolution: 0.05,
      grid_origin_x: -3,
      grid_origin_y: -3,
    });
    expect([status, json]).toMatchObject([200, { id: -1, map_name: 'from data' }]);
    expect((await call(sim, 'GET', '/chassis/current-map')).json).toMatchObject({ id: -1 });
  });

  it('need a new pose after a change, before the robot moves again (vendor facts 1.4)', async () => {
    await using sim = await startSim({ clock: fastClock(10) });
    await using listener = await listen(sim);
    listener.send({ enable_topic: '/slam/state' });
    await listener.next(({ reliable }) => reliable === true);
    await call(sim, 'POST', '/chassis/current-map', { map_id: 1 });
    await listener.next(({ reliable }) => reliable === false);
    const { id } = (await call(sim, 'POST', '/chassis/moves', { type: 'standard', target_x: 0, target_y: 0 })).json as {
      id: number;
    };
    await until(() => !sim.state().moving);
    expect((await call(sim, 'GET', `/chassis/moves/${id}`)).json).toMatchObject({ state: 'failed' });
    // Like the vendor's client after every change of the map.
    await call(sim, 'POST', '/chassis/pose', { position: [0, 0], ori: 1.57 });
    listener.forget();
    await listener.next(({ reliable }) => reliable === true);
  });

  it('have a new overlays_version after every PATCH, also in the running map', async () => {
    await using sim = await startSim();
    await using listener = await listen(sim);
    listener.send({ enable_topic: '/map/info' });
    const before = await listener.next(({ topic }) => topic === '/map/info');
    listener.forget();
    const overlays = JSON.stringify({ type: 'FeatureCollection', features: [] });
    expect((await call(sim, 'PATCH', '/maps/1', { overlays })).json).toMatchObject({
      overlays_version: before.overlays_version + 1,
    });
    const after = await listener.next(({ topic }) => topic === '/map/info');
    expect(after).toMatchObject({ overlays_version: before.overlays_version + 1, overlays: { features: [] } });
    expect((await call(sim, 'GET', '/maps/1')).json).toMatchObject({ overlays });
  });

  it('block the robot at a no-go zone, and no longer once it is removed', async () => {
    await using sim = await startSim({ clock: fastClock(10) });
    const goal = { type: 'standard', target_x: -2, target_y: -2.2 };
    const state = async () => {
      const { id } = (await call(sim, 'POST', '/chassis/moves', goal)).json as { id: number };
      await until(() => !sim.state().moving, 10_000);
      return ((await call(sim, 'GET', `/chassis/moves/${id}`)).json as { state: string }).state;
    };
    expect(await state()).toBe('failed');
    await call(sim, 'PATCH', '/maps/1', { overlays: JSON.stringify({ type: 'FeatureCollection', features: [] }) });
    expect(await state()).toBe('succeeded');
  });
});

describe('an empty text as overlays', () => {
  it('is accepted, stored as sent, and an empty collection on /map/info', async () => {
    await using sim = await startSim();
    await using listener = await listen(sim);
    listener.send({ enable_topic: ['/map/info', '/tracked_pose'] });
    await listener.next(({ topic }) => topic === '/map/info');
    for (const fault of [undefined, 'patch-drops', 'patch-renames'] as const) {
      if (fault) sim.setFault(fault, true);
      listener.forget();
      expect((await call(sim, 'PATCH', '/maps/1', { overlays: '' })).status, fault).toBe(200);
      expect((await call(sim, 'GET', '/maps/1')).json).toMatchObject({ overlays: '' });
      const info = await listener.next(({ topic }) => topic === '/map/info');
      expect(info.overlays).toEqual({ type: 'FeatureCollection', features: [] });
    }
    const { json: detail } = await call(sim, 'GET', '/maps/2');
    const { text } = await call(sim, 'GET', '/maps/2.png');
    expect(text.length).toBeGreaterThan(0);
    const grid = gridToPng(createFloorGrid()).toString('base64');
    const map = { ...(detail as object), map_name: 'leer', uid: undefined, occupancy_grid: grid, overlays: '' };
    const created = await call(sim, 'POST', '/maps/', map);
    expect(created.status).toBe(201);
    const { id } = created.json as { id: number };
    expect((await call(sim, 'POST', '/chassis/current-map', { map_id: id })).status).toBeLessThan(300);
    // It can be driven on.
    await call(sim, 'POST', '/chassis/pose', { position: [0, 0, 0], ori: 0, adjust_position: false });
    expect((await call(sim, 'POST', '/chassis/moves', { target_x: 1, target_y: 0 })).status).toBe(201);
    await listener.next(({ topic }) => topic === '/tracked_pose');
    for (const overlays of [' ', 'null', '[]']) {
      expect((await call(sim, 'PATCH', '/maps/1', { overlays })).status, overlays).toBe(400);
    }
  });
});

describe('the overlays', () => {
  it('contain the stations of the site file, kinds as text and as number (vendor facts 3, C5)', async () => {
    await using sim = await startSim();
    const features = await overlaysOf(sim);
    for (const [name, { xM, yM, yawDeg }] of Object.entries(stations)) {
      const feature = features.find(({ properties }) => properties.name === name);
      expect(feature?.geometry.coordinates).toEqual([xM, yM]);
      expect(Number(feature?.properties.type)).toBe(11);
      expect(Number(feature?.properties.yaw)).toBe(yawDeg);
      expect(Number(feature?.properties.iconYaw)).toBe(Number(feature?.properties.yaw) - 82);
    }
    const kinds = features.map(({ properties }) => properties.type ?? properties.regionType);
    expect(kinds.some((kind) => typeof kind === 'string')).toBe(true);
    expect(kinds.some((kind) => typeof kind === 'number')).toBe(true);
  });

  it("contain a charging pair 0.899 m apart (spec, 'Map and overlays')", async () => {
    await using sim = await startSim();
    const features = await overlaysOf(sim);
    const charger = features.find(({ properties }) => Number(properties.type) === 9);
    const point = features.find(({ id }) => id === charger?.properties.dockingPointId);
    expect(Number(point?.properties.type)).toBe(36);
    const [a, b] = [charger, point].map((feature) => feature?.geometry.coordinates as [number, number]);
    expect(a).toEqual([dock.xM, dock.yM]);
    expect(Math.hypot((a?.[0] ?? 0) - (b?.[0] ?? 0), (a?.[1] ?? 0) - (b?.[1] ?? 0))).toBeCloseTo(0.899, 9);
  });

  it('contain an open ring, a missing id, a lane with direction 3, a no-go zone', async () => {
    await using sim = await startSim();
    const features = await overlaysOf(sim);
    const rings = features
      .filter(({ geometry }) => geometry.type === 'Polygon')
      .map(({ geometry }) => (geometry.coordinates as [number, number][][])[0] ?? []);
    expect(rings.some((ring) => ring[0]?.join() !== ring.at(-1)?.join())).toBe(true);
    expect(rings.some((ring) => ring[0]?.join() === ring.at(-1)?.join())).toBe(true);
    expect(features.some(({ id }) => id === undefined)).toBe(true);
    expect(features.some(({ properties }) => properties.direction === 3)).toBe(true);
    expect(features.some(({ properties }) => Number(properties.regionType) === 1)).toBe(true);
  });
});
