import { PNG } from 'pngjs';
import { describe, expect, it } from 'vitest';
import { createFloorGrid } from '../../../../src/lib/sim/chassis/floor/floor.ts';
import { FREE, WALL } from '../../../../src/lib/sim/chassis/floor/grid.ts';
import { gridFromPng, gridToPng } from '../../../../src/lib/sim/chassis/maps/map-image.ts';
import { stations } from '../../../../src/lib/sim/index.ts';
import { shared } from '../../../lifecycle/shared.ts';
import { call, startWorld, type World } from '../../raw-client.ts';

interface Feature {
  id?: string;
  geometry: { type: string; coordinates: unknown };
  properties: Record<string, unknown>;
}

const none = JSON.stringify({ type: 'FeatureCollection', features: [] });
const bytesOf = async (w: World, path: string) => Buffer.from(await (await w.fetch(path)).arrayBuffer());

const w = shared(await startWorld());
const features: Feature[] = JSON.parse((await w.json('/maps/1')).overlays).features;

describe('maps over REST (vendor facts 1.5)', () => {
  it('are listed without overlays and grid, with the sizes of their files and whole seconds', async () => {
    const list = await w.json('/maps/');
    const whole = expect.toSatisfy((value: unknown) => Number.isInteger(value));
    expect(list).toMatchObject([
      {
        id: 1,
        uid: expect.any(String),
        map_name: expect.any(String),
        overlays_version: expect.any(Number),
        create_time: whole,
        image_size: (await bytesOf(w, '/maps/1.png')).length,
        pbstream_size: (await bytesOf(w, '/maps/1.pbstream')).length,
      },
      { id: 2 },
      { id: 3, map_name: 'Musterblatt' },
    ]);
    expect(JSON.stringify(list)).not.toMatch(/overlays"|grid_/);
    expect(await w.json('/chassis/current-map')).toMatchObject({ create_time: whole });
  });

  it('are returned one by one with the position of their grid, the overlays as JSON text, and without url', async () => {
    const map = await w.json('/maps/1');
    expect(map).toMatchObject({ grid_origin_x: -3, grid_origin_y: -3, grid_resolution: 0.05 });
    expect(map).toMatchObject({ overlays: expect.any(String) });
    expect(map).not.toHaveProperty('url');
  });

  it('are rendered from the grid, the same bytes each time, north up, and are decoded from their picture', async () => {
    const grid = createFloorGrid();
    const bytes = gridToPng(grid);
    const png = PNG.sync.read(bytes);
    expect([png.width, png.height]).toEqual([grid.width, grid.height]);
    const wrong = [...grid.cells].findIndex((cell, at) => {
      const [row, column] = [Math.floor(at / grid.width), at % grid.width];
      const shade = png.data[4 * ((grid.height - 1 - row) * grid.width + column)];
      return shade !== (cell === FREE ? 255 : cell === WALL ? 0 : 127);
    });
    expect(wrong).toBe(-1);
    const reply = await w.fetch('/maps/1.png');
    expect(reply.headers.get('content-type')).toBe('image/png');
    expect(Buffer.from(await reply.arrayBuffer()).equals(bytes)).toBe(true);
    expect(PNG.sync.read(await bytesOf(w, '/maps/1/thumbnail')).width).toBe(80);
    expect(gridFromPng(bytes, grid)?.cells).toEqual(grid.cells);
    expect(gridFromPng(Buffer.from('no picture'), grid)).toBeUndefined();
  });

  it('are backed up and restored with their overlays', async () => {
    const { map_name, uid, grid_resolution, grid_origin_x, grid_origin_y, overlays, overlays_version } =
      await w.json('/maps/2');
    const occupancy_grid = (await bytesOf(w, '/maps/2.png')).toString('base64');
    expect((await call(w.sim, 'DELETE', '/maps/2')).status).toBe(204);
    expect((await w.get('/maps/2')).status).toBe(404);
    const place = { grid_resolution, grid_origin_x, grid_origin_y };
    const map = { map_name, uid, carto_map: '', occupancy_grid, ...place, overlays, overlays_version };
    const { status, json } = await w.post('/maps/', map);
    expect(status).toBe(201);
    expect(await w.json(`/maps/${(json as { id: number }).id}`)).toMatchObject({ uid, overlays, overlays_version });
  });

  it('have a new overlays_version after every PATCH, also in the running map', async () => {
    w.listener.enable('/map/info');
    const { overlays_version: before } = await w.listener.next(({ topic }) => topic === '/map/info');
    w.listener.forget();
    expect((await w.patch('/maps/1', { overlays: none })).json).toMatchObject({ overlays_version: before + 1 });
    const after = await w.listener.next(({ topic }) => topic === '/map/info');
    expect(after).toMatchObject({ overlays_version: before + 1, overlays: { features: [] } });
    expect(await w.json('/maps/1')).toMatchObject({ overlays: none });
  });

  it('set from data have the id -1 (vendor facts 1.4)', async () => {
    const map = {
      map_name: 'from data',
      carto_map: '',
      occupancy_grid: gridToPng(createFloorGrid()).toString('base64'),
    };
    const place = { grid_resolution: 0.05, grid_origin_x: -3, grid_origin_y: -3 };
    const { status, json } = await w.post('/chassis/current-map', { ...map, ...place });
    expect([status, json]).toMatchObject([200, { id: -1, map_name: 'from data' }]);
    expect(await w.json('/chassis/current-map')).toMatchObject({ id: -1 });
  });

  it('need a new pose after a change, before the robot moves again (vendor facts 1.4)', async () => {
    await w.post('/chassis/current-map', { map_id: 1 });
    w.listener.enable('/slam/state');
    await w.listener.next(({ reliable }) => reliable === false);
    expect(await w.finish({ type: 'standard', target_x: 0, target_y: 0 })).toMatchObject({ state: 'failed' });
    // Like the vendor's client after every change of the map.
    await w.post('/chassis/pose', { position: [0, 0], ori: 1.57 });
    w.listener.forget();
    await w.listener.next(({ reliable }) => reliable === true);
  });

  it('block the robot at a no-go zone, and no longer once it is removed', async () => {
    await using own = await startWorld();
    const goal = { type: 'standard', target_x: -2, target_y: -2.2 };
    expect(await own.finish(goal)).toMatchObject({ state: 'failed' });
    await own.patch('/maps/1', { overlays: none });
    expect(await own.finish(goal)).toMatchObject({ state: 'succeeded' });
  });
});

describe('an empty text as overlays', () => {
  it('is accepted, stored as sent, an empty collection on /map/info, and can be driven on', async () => {
    await using w = await startWorld();
    w.listener.enable('/map/info', '/tracked_pose');
    await w.listener.next(({ topic }) => topic === '/map/info');
    for (const fault of [undefined, 'patch-drops', 'patch-renames'] as const) {
      if (fault) w.sim.setFault(fault, true);
      w.listener.forget();
      expect((await w.patch('/maps/1', { overlays: '' })).status, fault).toBe(200);
      expect(await w.json('/maps/1')).toMatchObject({ overlays: '' });
      const info = await w.listener.next(({ topic }) => topic === '/map/info');
      expect(info.overlays).toEqual({ type: 'FeatureCollection', features: [] });
    }
    const occupancy_grid = gridToPng(createFloorGrid()).toString('base64');
    const map = { ...(await w.json('/maps/2')), map_name: 'leer', uid: undefined, occupancy_grid, overlays: '' };
    const { id } = (await w.post('/maps/', map)).json as { id: number };
    expect((await w.post('/chassis/current-map', { map_id: id })).status).toBeLessThan(300);
    await w.post('/chassis/pose', { position: [0, 0, 0], ori: 0, adjust_position: false });
    expect(await w.finish({ target_x: 1, target_y: 0 })).toMatchObject({ state: 'succeeded' });
    for (const overlays of [' ', 'null', '[]']) {
      expect((await w.patch('/maps/1', { overlays })).status, overlays).toBe(400);
    }
  });
});

describe('the overlays', () => {
  it('contain the stations of the site file, kinds as text and as number (vendor facts 3, C5)', () => {
    for (const [name, { xM, yM, yawDeg }] of Object.entries(stations)) {
      const { geometry, properties = {} } = features.find((feature) => feature.properties.name === name) ?? {};
      expect(geometry?.coordinates).toEqual([xM, yM]);
      expect([properties.type, properties.yaw, properties.iconYaw].map(Number)).toEqual([11, yawDeg, yawDeg - 82]);
    }
    const kinds = features.map(({ properties }) => typeof (properties.type ?? properties.regionType));
    expect(kinds).toEqual(expect.arrayContaining(['string', 'number']));
  });

  it('contain an open ring, a closed one, a missing id, a lane with direction 3, a no-go zone', () => {
    const rings = features
      .filter(({ geometry }) => geometry.type === 'Polygon')
      .map(({ geometry }) => (geometry.coordinates as [number, number][][])[0] ?? []);
    expect(new Set(rings.map((ring) => `${ring[0]}` === `${ring.at(-1)}`))).toEqual(new Set([true, false]));
    expect(features.some(({ id }) => id === undefined)).toBe(true);
    expect(features.some(({ properties }) => properties.direction === 3)).toBe(true);
    expect(features.some(({ properties }) => Number(properties.regionType) === 1)).toBe(true);
  });
});
