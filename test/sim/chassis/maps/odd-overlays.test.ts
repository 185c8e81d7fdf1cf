import { PNG } from 'pngjs';
import { describe, expect, it } from 'vitest';
import { oddOverlays } from '../../../../src/lib/sim/chassis/maps/odd-overlays.ts';
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
const upTo = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index);
const including = (all: unknown[]) => expect.arrayContaining(all);

describe('the sheet', () => {
  it('has every code of the vendor and unknown ones, as numbers and texts, and some neither', () => {
    const codes = { type: [...upTo(1, 40), 99], regionType: [...upTo(0, 17), 24, 99], lineType: [...upTo(1, 5), 99] };
    for (const [name, all] of Object.entries(codes)) expect(values(name).map(Number), name).toEqual(including(all));
    for (const name of ['type', 'regionType', 'lineType', 'direction', 'startType', 'endType']) {
      const kinds = values(name).map((value) => typeof value);
      expect(kinds, name).toEqual(including(['number', 'string']));
    }
    expect(values('yaw')).toEqual(including([45, '45', 'north', 1.5708, '1.5708', 900, '-82.5', null, true, '']));
  });

  it('has other and missing geometries, odd ids, inherited property names, and no feature at all', () => {
    const kinds = ['Point', 'LineString', 'Polygon', 'MultiPoint', 'GeometryCollection', 'Circle', undefined];
    expect(features.map(({ geometry }) => geometry?.type)).toEqual(including(kinds));
    expect(features.map(({ id }) => id)).toEqual(including(['', 42, { a: 1 }, undefined]));
    const names = features.flatMap(({ properties }) => Object.keys(properties ?? {}));
    expect(names).toEqual(including(['__proto__', 'constructor', 'toString', 'speedLimit', 'maxSpeed']));
    expect(collection.features).toEqual(including([null, 'no feature']));
  });

  it.each([/<img src=x/, /\p{Cc}/u, /^=/, /客房/, /.{200}/su, /^42$/])('has a name that matches %s', (pattern) => {
    expect(values('name').map(String)).toEqual(including([expect.stringMatching(pattern)]));
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

  it('stores large overlays and returns them unchanged', { tags: 'property' }, async () => {
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
