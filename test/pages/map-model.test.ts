import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_FEATURES, readMap } from '../../src/lib/pages/map/map-model.ts';

const feature = (type: string, coordinates: unknown, properties: unknown = {}) => ({
  type: 'Feature',
  geometry: { type, coordinates },
  properties,
});
const mapOf = (features: unknown, more: object = {}) => ({
  grid_origin_x: -2,
  grid_origin_y: -3.5,
  grid_resolution: 0.05,
  overlays: JSON.stringify({ type: 'FeatureCollection', features }),
  ...more,
});

describe('a map of the chassis', () => {
  it('is read with its place, points, lanes and zones', () => {
    const [lane, zone] = [JSON.parse('[[0,0],[1,1]]'), JSON.parse('[[0,0],[1,0],[1,1]]')] as [number[][], number[][]];
    const point = feature('Point', [1, 2, 0], { name: 'A', type: '11' });
    expect(readMap(mapOf([point, feature('LineString', lane), feature('Polygon', [zone])]))).toEqual({
      place: { originXM: -2, originYM: -3.5, metresPerPixel: 0.05 },
      features: [
        { kind: 'point', name: 'A', paths: [[[1, 2]]] },
        { kind: 'lane', name: null, paths: [lane] },
        { kind: 'zone', name: null, paths: [zone] },
      ],
      isPartial: false,
    });
  });

  it('is read with geometries of several parts, each part as its own path', () => {
    const [a, b] = [JSON.parse('[[0,0],[1,0],[1,1]]'), JSON.parse('[[5,5],[6,5],[6,6]]')] as [number[][], number[][]];
    const parts = [
      feature('MultiPoint', a),
      feature('MultiLineString', [a, b]),
      feature('MultiPolygon', [[a, b], [b]]),
    ];
    expect(readMap(mapOf(parts))).toMatchObject({
      features: [
        { kind: 'point', paths: a.map((place) => [place]) },
        { kind: 'lane', paths: [a, b] },
        { kind: 'zone', paths: [a, b, b] },
      ],
      isPartial: false,
    });
    for (const [type, coordinates] of [
      ['MultiPoint', [[1, 2], [3]]],
      ['MultiPoint', [1, 2]],
      ['MultiPolygon', [a]],
      ['MultiPolygon', [[a], 'x']],
      ['MultiPolygon', []],
    ] as const) {
      expect(readMap(mapOf([feature(type, coordinates)])), type).toMatchObject({ features: [], isPartial: true });
    }
  });

  it('is read in each container of features, and is partial in any other', () => {
    const one = feature('Point', [1, 2]);
    for (const overlays of [[one], one, JSON.stringify([one]), { features: [one] }]) {
      expect(readMap({ ...mapOf([]), overlays })).toMatchObject({ features: [{ kind: 'point' }], isPartial: false });
    }
    for (const overlays of [{ overlays: { features: [one] } }, '"text"', 7, { type: 'FeatureCollection' }]) {
      expect(readMap({ ...mapOf([]), overlays }), JSON.stringify(overlays)).toMatchObject({
        features: [],
        isPartial: true,
      });
    }
    for (const overlays of [null, '', ' ', {}, []]) {
      expect(readMap({ ...mapOf([]), overlays }), JSON.stringify(overlays)).toMatchObject({
        features: [],
        isPartial: false,
      });
    }
  });

  it.each([
    ['without resolution', { grid_resolution: undefined }],
    ['with a resolution of zero', { grid_resolution: 0 }],
    ['with text in place of its origin', { grid_origin_x: '0' }],
    ['outside of any site', { grid_origin_y: 1e9 }],
  ])('%s has no place for its floor plan, and keeps its overlays', (_what, more) => {
    const { place, features } = readMap(mapOf([feature('Point', [1, 2])], more));
    expect([place, features.length]).toEqual([null, 1]);
  });

  it('says that it is partial where a feature cannot be shown', () => {
    const bad = [feature('Point', [Number.NaN, 1]), feature('Circle', [1, 1]), feature('Point', ['1', 2]), null];
    for (const one of bad) {
      expect(readMap(mapOf([feature('Point', [1, 2]), one]))).toMatchObject({ features: [{}], isPartial: true });
    }
    expect(readMap({ ...mapOf([]), overlays: '{' })).toMatchObject({ features: [], isPartial: true });
    expect(readMap({ ...mapOf([]), overlays: undefined })).toMatchObject({ features: [], isPartial: false });
  });

  it('of 5,000 features is cut, and says so', () => {
    const { features, isPartial } = readMap(mapOf(Array.from({ length: 5_000 }, (_, at) => feature('Point', [at, 0]))));
    expect([features.length, isPartial]).toEqual([MAX_FEATURES, true]);
  });

  it('whatever it is, is read without a fault, within its bounds', { tags: 'property' }, () => {
    const any = fc.anything({ withBigInt: false });
    const position = fc.oneof(fc.tuple(fc.double(), fc.double()), any);
    const geometry = fc.record({
      type: fc.constantFrom(
        'Point',
        'MultiPoint',
        'LineString',
        'MultiLineString',
        'Polygon',
        'MultiPolygon',
        '__proto__',
      ),
      coordinates: fc.oneof(position, fc.array(position), fc.array(fc.array(position)), any),
    });
    const features = fc.array(fc.oneof(fc.record({ geometry, properties: any }), any), { maxLength: 8 });
    const overlays = fc.oneof(
      any,
      fc.string(),
      features.map((list) => ({ features: list })),
    );
    const map = fc.oneof(any, fc.record({ overlays, grid_resolution: any }));
    fc.assert(
      fc.property(map, (data) => {
        const { place, features: found } = readMap(data);
        if (place !== null) expect(place.metresPerPixel).toBeGreaterThan(0);
        for (const { name, paths } of found) {
          expect((name ?? '').length).toBeLessThanOrEqual(60);
          for (const [xM, yM] of paths.flat()) expect(Math.max(Math.abs(xM), Math.abs(yM))).toBeLessThanOrEqual(10_000);
        }
      }),
    );
  });
});
