import { PNG } from 'pngjs';
import { describe, expect, it } from 'vitest';
import { createSampleGrid, oddOverlays } from '../../../../src/lib/sim/chassis/maps/odd-overlays.ts';
import { isFull } from '../../../properties.ts';
import { startWorld } from '../../raw-client.ts';

// The unusual or malformed features that the sheet must contain.

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
const named = (id: string) => features.find((feature) => feature.id === id);
const placeOf = (id: string) => (named(id)?.geometry?.coordinates ?? []) as number[];
const ring = (id: string) => ((named(id)?.geometry?.coordinates ?? []) as [number, number][][])[0] ?? [];
const upTo = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index);
const including = (all: unknown[]) => expect.arrayContaining(all);

describe('the sheet', () => {
  it('has every code of the vendor and unknown ones, as numbers and texts, and some neither', () => {
    const codes = { type: [...upTo(1, 40), 99], regionType: [...upTo(0, 17), 24, 99], lineType: [...upTo(1, 5), 99] };
    for (const [name, all] of Object.entries(codes)) expect(values(name).map(Number), name).toEqual(including(all));
    expect(values('direction').map(Number)).toContain(3);
    for (const name of ['type', 'regionType', 'lineType', 'direction', 'startType', 'endType']) {
      expect(
        values(name).map((value) => typeof value),
        name,
      ).toEqual(including(['number', 'string']));
    }
    expect(values('type')).toEqual(including([11.5, 1e21, 'lift']));
    expect(values('regionType')).toContain('slow');
  });

  it('has angles as numbers, texts, apparent radians, above a full turn, and none', () => {
    expect(values('yaw')).toEqual(including([45, '45', 'north', 1.5708, '1.5708', 900, '-82.5', null, true, '']));
    const offsets = features.flatMap(({ properties }) =>
      properties?.iconYaw === undefined ? [] : [Number(properties.iconYaw) - Number(properties.yaw)],
    );
    expect(new Set(offsets)).toEqual(new Set([-82, 0]));
  });

  it('has an open ring, a crossing one, a tiny one, too few corners, a hole and no ring', () => {
    expect(ring('zone-open').at(-1)).not.toEqual(ring('zone-open')[0]);
    expect(ring('zone-1').at(-1)).toEqual(ring('zone-1')[0]);
    expect(ring('zone-crossing').slice(0, 4)).toEqual([
      [7.6, 2.2],
      [8.4, 2.8],
      [8.4, 2.2],
      [7.6, 2.8],
    ]);
    expect((ring('zone-tiny')[1]?.[0] ?? 0) - (ring('zone-tiny')[0]?.[0] ?? 0)).toBeCloseTo(0.01, 9);
    expect([ring('zone-flat').length, placeOf('zone-hole').length, placeOf('zone-empty').length]).toEqual([2, 2, 0]);
  });

  it('has other and missing geometries, invalid coordinates, and no points outside of the picture but two', () => {
    const kinds = ['Point', 'LineString', 'Polygon', 'MultiPoint', 'GeometryCollection', 'Circle', undefined];
    expect(features.map(({ geometry }) => geometry?.type)).toEqual(including(kinds));
    expect([named('no-geometry')?.geometry, named('no-properties')?.properties]).toEqual([null, null]);
    expect(placeOf('place-as-text')).toEqual(['8.2', '-1']);
    expect(collection.features).toEqual(including([null, 'no feature']));
    const { originXM, originYM, width, height, resolutionM } = createSampleGrid();
    const isOff = ([x, y]: readonly [number, number]) =>
      x <= originXM || y <= originYM || x >= originXM + width * resolutionM || y >= originYM + height * resolutionM;
    const isPlace = (value: unknown): value is [number, number] =>
      Array.isArray(value) && value.length > 1 && value.every((part) => typeof part === 'number');
    const off = features.filter(
      ({ geometry }) => geometry?.type === 'Point' && isPlace(geometry.coordinates) && isOff(geometry.coordinates),
    );
    expect(off.map(({ id }) => id)).toEqual(['outside', 'far']);
    const [x = 0, y = 0] = placeOf('forbidden');
    const [low = [0, 0], , high = [0, 0]] = ring('zone-1');
    expect(x > low[0] && x < high[0] && y > low[1] && y < high[1]).toBe(true);
  });

  it("has chargers at the measured distance, at another, and without partner (spec, 'Map and overlays')", () => {
    const distance = (a: string, b: string) => {
      const [[fromX = 0, fromY = 0], [toX = 0, toY = 0]] = [placeOf(a), placeOf(b)];
      return Math.hypot(fromX - toX, fromY - toY);
    };
    expect(distance('charger-a', 'dock-a')).toBeCloseTo(0.899, 9);
    expect(distance('charger-b', 'dock-b')).toBeCloseTo(0.75, 9);
    expect(features.map(({ id }) => id)).not.toContain(named('charger-lone')?.properties?.dockingPointId);
    expect(named('charger-bare')?.properties).not.toHaveProperty('dockingPointId');
    expect(values('dockingPointId')).not.toContain('dock-lone');
  });

  it('has an automatic door with its controller and others without', () => {
    const doors = features.filter(({ properties }) => Number(properties?.regionType) === 5);
    expect(doors.map(({ properties }) => properties?.mac).sort()).toEqual(['', '02:00:00:00:00:0a']);
    expect(named('zone-4')?.properties).not.toHaveProperty('mac');
  });

  it.each([/<img src=x/, /\p{Cc}/u, /^=/, /客房/, /.{200}/su, /^42$/])('has a name that matches %s', (pattern) => {
    expect(values('name').map(String)).toEqual(including([expect.stringMatching(pattern)]));
  });

  it('has duplicate, missing, empty and odd ids, inherited property names, and fields like a speed limit', () => {
    expect(values('name')).toContain(42);
    expect(features.filter(({ id }) => id === 'twice')).toHaveLength(2);
    expect(features.filter((feature) => !('id' in feature)).length).toBeGreaterThan(2);
    expect(features.map(({ id }) => id)).toEqual(including(['', 42, { a: 1 }]));
    const names = Object.keys(named('strange-keys')?.properties ?? {});
    expect(names).toEqual(including(['__proto__', 'constructor', 'toString']));
    const all = features.flatMap(({ properties }) => Object.keys(properties ?? {}));
    expect(all).toEqual(including(['speedLimit', 'maxSpeed', 'max_velocity', 'limits']));
  });

  it('differs from the output of a serialiser, with members beside the features', () => {
    for (const indent of [undefined, 2]) expect(JSON.stringify(collection, null, indent)).not.toBe(text);
    for (const part of [/\\u00[0-9a-f]{2}/, /[äöü]/, /8\.00/]) expect(text).toMatch(part);
    expect(Object.keys(collection)).toEqual(['type', 'name', 'bbox', 'properties', 'features']);
  });
});

describe('the sheet on the chassis', () => {
  it('is a third map with its own resolution and origin, and can be driven on', async () => {
    await using w = await startWorld();
    const place = { grid_resolution: 0.04, grid_origin_x: -10, grid_origin_y: -4 };
    expect(await w.json('/maps/3')).toMatchObject({ map_name: 'Musterblatt', ...place, overlays: text });
    const png = PNG.sync.read(Buffer.from(await (await w.fetch('/maps/3.png')).arrayBuffer()));
    expect([png.width, png.height]).toEqual([500, 300]);
    expect((await w.post('/chassis/current-map', { map_id: 3 })).status).toBe(200);
    await w.post('/chassis/pose', { position: [0, 5, 0], ori: 0, adjust_position: false });
    expect(await w.finish({ type: 'standard', target_x: 0.5, target_y: 5 })).toMatchObject({ state: 'succeeded' });
    expect((await w.patch('/maps/3', { overlays: text })).json).toMatchObject({ overlays_version: 18 });
    expect(await w.json('/maps/3')).toMatchObject({ overlays: text });
  });

  it('stores large overlays and returns them unchanged', async () => {
    await using w = await startWorld();
    const properties = { name: 'x'.repeat(360) };
    const geometry = { type: 'Point', coordinates: [0, 0] };
    const all = Array.from({ length: isFull ? 90_000 : 5_000 }, (_, id) => ({
      id,
      type: 'Feature',
      geometry,
      properties,
    }));
    const large = JSON.stringify({ type: 'FeatureCollection', features: all });
    // Above the limit of other bodies.
    expect(large.length).toBeGreaterThan(isFull ? 40_000_000 : 2_000_000);
    expect((await w.patch('/maps/2', { overlays: large })).status).toBe(200);
    // Not toBe: a failure would print both texts.
    expect((await w.json('/maps/2')).overlays === large).toBe(true);
  });
});
