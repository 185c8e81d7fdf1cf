import { PNG } from 'pngjs';
import { beforeAll, describe, expect, it } from 'vitest';
import { createSampleGrid, oddOverlays } from '../../../../src/lib/sim/chassis/maps/odd-overlays.ts';
import { startSim } from '../../../../src/lib/sim/index.ts';
import { call } from '../../raw-client.ts';

// Each test names an unusual or malformed feature that the sheet must contain.

interface Feature {
  readonly id?: unknown;
  readonly geometry: { readonly type: string; readonly coordinates: unknown } | null;
  readonly properties: Readonly<Record<string, unknown>> | null;
}

const text = oddOverlays('SIM-0001');
const collection = JSON.parse(text) as { features: (Feature | null | string)[] } & Record<string, unknown>;
const features = collection.features.filter((entry): entry is Feature => typeof entry === 'object' && entry !== null);
const values = (name: string) =>
  features.flatMap(({ properties }) => (properties && Object.hasOwn(properties, name) ? [properties[name]] : []));
const numbers = (name: string) => new Set(values(name).map(Number));
const named = (id: string) => features.find((feature) => feature.id === id);
const placeOf = (id: string) => (named(id)?.geometry?.coordinates ?? []) as number[];
const upTo = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index);
const kinds = (name: string) => new Set(values(name).map((value) => typeof value));

describe('the codes on the sheet', () => {
  it('are every number of the vendor, and unknown numbers', () => {
    for (const type of [...upTo(1, 39), 40, 99]) expect(numbers('type'), `type ${type}`).toContain(type);
    for (const type of [...upTo(0, 17), 24, 99]) expect(numbers('regionType'), `regionType ${type}`).toContain(type);
    for (const type of [...upTo(1, 4), 5, 99]) expect(numbers('lineType'), `lineType ${type}`).toContain(type);
    expect(numbers('direction')).toContain(3);
    expect(values('startType').length).toBeGreaterThan(1);
    expect(values('endType').length).toBeGreaterThan(1);
  });

  it('are numbers and texts, and some neither', () => {
    for (const name of ['type', 'regionType', 'lineType', 'direction', 'startType', 'endType']) {
      expect([...kinds(name)], name).toEqual(expect.arrayContaining(['number', 'string']));
    }
    expect(values('type')).toEqual(expect.arrayContaining([11.5, 1e21, 'lift']));
    expect(values('regionType')).toContain('slow');
  });
});

describe('the angles on the sheet', () => {
  it('are numbers, texts, apparent radians, above a full turn, and not angles', () => {
    expect(values('yaw')).toEqual(
      expect.arrayContaining([45, '45', 'north', 1.5708, '1.5708', 900, '-82.5', null, true, '']),
    );
  });

  it('mostly offset the icon by -82, and sometimes not', () => {
    const offsets = features.flatMap(({ properties }) =>
      properties?.iconYaw === undefined ? [] : [Number(properties.iconYaw) - Number(properties.yaw)],
    );
    expect(new Set(offsets)).toEqual(new Set([-82, 0]));
  });
});

describe('the shapes on the sheet', () => {
  const ring = (id: string) => ((named(id)?.geometry?.coordinates ?? []) as [number, number][][])[0] ?? [];

  it('are an open ring, a crossing one, a tiny one, too few corners, a hole and no ring', () => {
    expect(ring('zone-open').at(-1)).not.toEqual(ring('zone-open')[0]);
    expect(ring('zone-1').at(-1)).toEqual(ring('zone-1')[0]);
    const [a, b, c, d] = ring('zone-crossing');
    expect([a?.[0], b?.[0], c?.[0], d?.[0]]).toEqual([7.6, 8.4, 8.4, 7.6]);
    expect([a?.[1], b?.[1], c?.[1], d?.[1]]).toEqual([2.2, 2.8, 2.2, 2.8]);
    expect((ring('zone-tiny')[1]?.[0] ?? 0) - (ring('zone-tiny')[0]?.[0] ?? 0)).toBeCloseTo(0.01, 9);
    expect(ring('zone-flat')).toHaveLength(2);
    expect(named('zone-hole')?.geometry?.coordinates).toHaveLength(2);
    expect(named('zone-empty')?.geometry?.coordinates).toEqual([]);
  });

  it('include other and missing geometries and invalid coordinates', () => {
    const types = new Set(features.map(({ geometry }) => geometry?.type));
    for (const type of ['Point', 'LineString', 'Polygon', 'MultiPoint', 'GeometryCollection', 'Circle', undefined]) {
      expect(types).toContain(type);
    }
    expect(named('no-geometry')?.geometry).toBeNull();
    expect(named('no-properties')?.properties).toBeNull();
    expect(named('place-as-text')?.geometry?.coordinates).toEqual(['8.2', '-1']);
    expect(collection.features).toEqual(expect.arrayContaining([null, 'no feature']));
  });

  it('include a point outside the picture and one in the no-go zone, and no other outside the picture', () => {
    const { originXM, originYM, width, height, resolutionM } = createSampleGrid();
    const isOn = ([x, y]: readonly [number, number]) =>
      x > originXM && y > originYM && x < originXM + width * resolutionM && y < originYM + height * resolutionM;
    const off = features.filter(
      ({ geometry }) =>
        geometry?.type === 'Point' &&
        (geometry.coordinates as unknown[]).length > 1 &&
        (geometry.coordinates as unknown[]).every((value) => typeof value === 'number') &&
        !isOn(geometry.coordinates as [number, number]),
    );
    expect(off.map(({ id }) => id)).toEqual(['outside', 'far']);
    const [x = 0, y = 0] = placeOf('forbidden');
    const [low = [0, 0], , high = [0, 0]] = ring('zone-1');
    expect(x > low[0] && x < high[0] && y > low[1] && y < high[1]).toBe(true);
  });
});

describe('the chargers and automatic doors on the sheet', () => {
  const distance = (a: string, b: string) => {
    const [[fromX = 0, fromY = 0], [toX = 0, toY = 0]] = [placeOf(a), placeOf(b)];
    return Math.hypot(fromX - toX, fromY - toY);
  };

  it("are a pair at the measured distance, one at another, and some without partner (spec, 'Map and overlays')", () => {
    expect(distance('charger-a', 'dock-a')).toBeCloseTo(0.899, 9);
    expect(distance('charger-b', 'dock-b')).toBeCloseTo(0.75, 9);
    const ids = new Set(features.map(({ id }) => id));
    expect(ids).not.toContain(named('charger-lone')?.properties?.dockingPointId);
    expect(named('charger-bare')?.properties).not.toHaveProperty('dockingPointId');
    expect(values('dockingPointId')).not.toContain('dock-lone');
  });

  it('include an automatic door with its controller and others without', () => {
    const doors = features.filter(({ properties }) => Number(properties?.regionType) === 5);
    expect(doors.map(({ properties }) => properties?.mac).sort()).toEqual(['', '02:00:00:00:00:0a']);
    expect(named('zone-4')?.properties).not.toHaveProperty('mac');
  });
});

describe('the texts on the sheet', () => {
  it('include HTML, control characters, formulas, other scripts, long texts and numbers', () => {
    const all = values('name');
    expect(all.some((name) => String(name).includes('<img src=x'))).toBe(true);
    expect(all.some((name) => /\p{Cc}/u.test(String(name)))).toBe(true);
    expect(all.some((name) => String(name).startsWith('='))).toBe(true);
    expect(all.some((name) => String(name).includes('客房'))).toBe(true);
    expect(all.some((name) => String(name).length > 200)).toBe(true);
    expect(all).toContain(42);
  });

  it('include a duplicate id, missing ones, an empty one and ids that are not text', () => {
    expect(features.filter(({ id }) => id === 'twice')).toHaveLength(2);
    expect(features.filter((feature) => !('id' in feature)).length).toBeGreaterThan(2);
    const ids = features.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(['', 42, { a: 1 }]));
  });

  it('include inherited property names as own keys', () => {
    const properties = named('strange-keys')?.properties ?? {};
    for (const key of ['__proto__', 'constructor', 'toString']) expect(Object.hasOwn(properties, key), key).toBe(true);
  });

  it('include fields that resemble a speed limit, whose field name is unknown', () => {
    const names = new Set(features.flatMap(({ properties }) => Object.keys(properties ?? {})));
    for (const name of ['speedLimit', 'maxSpeed', 'max_velocity', 'limits']) expect(names).toContain(name);
  });

  it('differ from the output of a serialiser, with members beside the features', () => {
    expect(JSON.stringify(collection)).not.toBe(text);
    expect(JSON.stringify(collection, null, 2)).not.toBe(text);
    expect(text).toMatch(/\\u00[0-9a-f]{2}/);
    expect(text).toMatch(/[äöü]/);
    expect(text).toContain('8.00');
    expect(Object.keys(collection)).toEqual(['type', 'name', 'bbox', 'properties', 'features']);
  });
});

describe('the sheet on the chassis', () => {
  let map: Record<string, unknown> = {};
  let png = { width: 0, height: 0 };
  beforeAll(async () => {
    await using sim = await startSim();
    map = (await call(sim, 'GET', '/maps/3')).json as Record<string, unknown>;
    png = PNG.sync.read(
      Buffer.from(await (await fetch(`http://127.0.0.1:${sim.chassis.port}/maps/3.png`)).arrayBuffer()),
    );
  });

  it('is a third map with its own resolution and origin, its overlays unchanged', () => {
    expect(map).toMatchObject({
      map_name: 'Musterblatt',
      grid_resolution: 0.04,
      grid_origin_x: -10,
      grid_origin_y: -4,
    });
    expect(map.overlays).toBe(text);
    expect([png.width, png.height]).toEqual([500, 300]);
  });

  it('can be set, patched with its own overlays and published on the topic, and the chassis still works', async () => {
    await using sim = await startSim();
    expect((await call(sim, 'POST', '/chassis/current-map', { map_id: 3 })).status).toBe(200);
    await call(sim, 'POST', '/chassis/pose', { position: [0, 5, 0], ori: 0, adjust_position: false });
    await call(sim, 'POST', '/chassis/moves', { type: 'standard', target_x: 0.5, target_y: 5 });
    expect((await call(sim, 'PATCH', '/maps/3', { overlays: text })).json).toMatchObject({ overlays_version: 18 });
    expect(((await call(sim, 'GET', '/maps/3')).json as { overlays: string }).overlays).toBe(text);
  });

  it('stores overlays of 40 MB and returns them unchanged', async () => {
    await using sim = await startSim();
    const name = 'x'.repeat(360);
    const feature = (index: number) =>
      `{"id":"${index}","type":"Feature","geometry":{"type":"Point","coordinates":[0,0]},"properties":{"name":"${name}"}}`;
    const large = `{"type":"FeatureCollection","features":[${Array.from({ length: 90_000 }, (_, index) => feature(index)).join(',')}]}`;
    expect(large.length).toBeGreaterThan(40_000_000);
    expect((await call(sim, 'PATCH', '/maps/2', { overlays: large }, { timeoutMs: 30_000 })).status).toBe(200);
    const { json } = await call(sim, 'GET', '/maps/2', undefined, { timeoutMs: 30_000 });
    // Not toBe: a failure would print both texts.
    expect((json as { overlays: string }).overlays === large).toBe(true);
  });
});
