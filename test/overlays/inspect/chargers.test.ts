import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCodeBook } from '../../../src/lib/overlays/codes.ts';
import { chargerPairs } from '../../../src/lib/overlays/inspect/chargers.ts';
import type { Feature } from '../../../src/lib/overlays/model.ts';
import { readOverlays } from '../../../src/lib/overlays/read/read.ts';
import { findFaults } from '../../../src/lib/overlays/rules/faults.ts';
import { DOCKING_DISTANCE_M, floorOverlays } from '../../../src/lib/sim/chassis/floor/floor.ts';
import { isFull } from '../../properties.ts';
import { collectionText } from '../arbitrary.ts';
import { places } from '../places.ts';

const book = createCodeBook(null);
const read = (features: readonly unknown[]) => readOverlays(JSON.stringify({ type: 'FeatureCollection', features }));
const pairsOf = (...features: unknown[]) => chargerPairs(read(features), book);
const findingsOf = (...features: unknown[]) => {
  const overlays = read(features);
  const pairs = chargerPairs(overlays, book);
  return findFaults(overlays, { frame: null, codeBook: book, pairs }).filter(({ rule }) =>
    /charger|docking/.test(rule),
  );
};
const detailOf = (...features: unknown[]) => findingsOf(...features).map(({ rule, detail }) => `${rule}: ${detail}`);

const point = (id: unknown, at: unknown, properties: object) => ({
  type: 'Feature',
  id,
  geometry: { type: 'Point', coordinates: at },
  properties,
});
const charger = (dockingPointId: unknown, at: unknown = [0, 0], id: unknown = 'c') =>
  point(id, at, { type: '9', dockingPointId });
const dockingPoint = (id: unknown, at: unknown = [3, 4], dockingPointId?: unknown) =>
  point(id, at, { type: 36, dockingPointId });
const line = { type: 'LineString', coordinates: places('0,0 1,1') };
const lane = (id: unknown) => ({ id, geometry: line, properties: { lineType: 2 } });

const whole = { charger: 0, dockingPoint: 1, distanceM: 5 };

describe('charging stations', () => {
  it('are a charger and a docking point: one station, whichever refers to the other, and where both do', () => {
    expect(pairsOf(charger('d'), dockingPoint('d'))).toEqual([
      { ...whole, linkedBy: 'charger', chargerReference: 'd', dockingPointReference: null },
    ]);
    expect(pairsOf(charger(undefined), dockingPoint('d', [3, 4], 'c'))).toEqual([
      { ...whole, linkedBy: 'docking-point', chargerReference: null, dockingPointReference: 'c' },
    ]);
    expect(pairsOf(charger('d'), dockingPoint('d', [3, 4], 'c'))).toEqual([
      { ...whole, linkedBy: 'both', chargerReference: 'd', dockingPointReference: 'c' },
    ]);
    for (const id of ['d', null]) expect(findingsOf(charger(id), dockingPoint('d', [3, 4], 'c'))).toEqual([]);
    const [pair] = chargerPairs(readOverlays(floorOverlays('SN1')), book);
    expect(pair?.distanceM).toBeCloseTo(DOCKING_DISTANCE_M, 9);
  });

  it('are found whatever the JSON type of number and reference', () => {
    const nine = point(7, [0, 0], { type: 9, dockingPointId: '8' });
    const number = point(8, [3, 4], { type: '36', dockingPointId: 7 });
    expect(pairsOf(nine, number)).toMatchObject([{ ...whole, linkedBy: 'both' }]);
  });

  it('exclude racks with any reference, points of other types or none, and other geometries', () => {
    const rack = (dockingPointId: unknown, id = 'r') =>
      point(id, [0, 0], { type: 34, shelvesState: [], dockingPointId });
    expect(pairsOf(rack('d'), dockingPoint('d'))).toEqual([]);
    expect(pairsOf(rack('d'), dockingPoint('d', [3, 4], 'r'))).toEqual([]);
    expect(findingsOf(rack('d'), dockingPoint('d'))).toEqual([]);
    expect(pairsOf(rack('c'), charger('d'), dockingPoint('d'))).toMatchObject([{ charger: 1, dockingPoint: 2 }]);
    for (const properties of [{ dockingPointId: 'd' }, { type: 11, dockingPointId: 'd' }, { type: 'nine' }]) {
      expect(pairsOf(point('c', [0, 0], properties), dockingPoint('d'))).toMatchObject([
        { charger: null, dockingPoint: 1, distanceM: null },
      ]);
    }
    const properties = { dockingPointId: 'd', type: 9 };
    expect(pairsOf({ geometry: { type: 'Polygon', coordinates: [] }, properties })).toEqual([]);
    expect(pairsOf({ ...lane('x'), properties })).toEqual([]);
  });

  it('show the target of a reference that leads to no partner', () => {
    const none = { charger: 0, dockingPoint: null, linkedBy: null, dockingPointReference: null, distanceM: null };
    const alone = (to: unknown, ...others: unknown[]) => detailOf(charger(to), ...others)[0];
    expect(pairsOf(charger('d'))).toEqual([{ ...none, chargerReference: 'd' }]);
    for (const [to, target, ...others] of [
      ['d', 'refers to "d", which is the id of no feature'],
      ['c', 'refers to itself'],
      ['x', 'refers to point #1 "x" of type 11, which is not a docking point', point('x', [1, 1], { type: 11 })],
      ['x', 'refers to point #1 "x" without a type, which is not a docking point', point('x', [1, 1], {})],
      ['x', 'refers to point #1 "x" of type "9", which is not a docking point', charger('y', [1, 1], 'x')],
      ['x', 'refers to lane #1 "x", which is not a docking point', lane('x')],
      ...[undefined, null, ''].map((id) => [id, ', refers to no docking point'] as const),
      [['d'], 'its dockingPointId is an array, which is not an id'],
      [true, 'its dockingPointId is true, which is not an id'],
    ] as const) {
      expect(alone(to, ...others)).toContain(`${target}, and no docking point refers to it.`);
    }
    for (const id of [undefined, null, '']) {
      expect(pairsOf(charger(id), dockingPoint('d'))).toMatchObject([
        { ...none, chargerReference: null },
        { charger: null, dockingPoint: 1, linkedBy: null },
      ]);
    }
    const [other] = detailOf(dockingPoint('d', [3, 4], 'gone'));
    expect(other).toMatch(/^docking-point-without-charger: .* refers to "gone", .*, and no charger refers to it\.$/);
    expect(detailOf(dockingPoint('d', [3, 4], 'e'), dockingPoint('e'))).toHaveLength(2);
  });

  it('are not chosen where several items share the id that is referred to', () => {
    const twice = [charger('d'), dockingPoint('d'), dockingPoint('d', [1, 0])];
    expect(pairsOf(...twice)).toMatchObject([
      { charger: 0, dockingPoint: null, linkedBy: 'not-decided', distanceM: null },
      { charger: null, dockingPoint: 1, linkedBy: 'not-decided' },
      { charger: null, dockingPoint: 2, linkedBy: 'not-decided' },
    ]);
    expect(detailOf(...twice)[0]).toContain('refers to "d", the id of 2 docking points: point #1 "d"');
    expect(detailOf(...twice)[1]).toContain('shares the id that a charger refers to: the reference is ambiguous.');
    // The docking point that refers to the charger decides.
    expect(pairsOf(charger('d'), dockingPoint('d'), dockingPoint('d', [1, 0], 'c'))).toMatchObject([
      { charger: 0, dockingPoint: 2, linkedBy: 'both', distanceM: 1 },
      { charger: null, dockingPoint: 1, linkedBy: null },
    ]);
    // Features of other types share its id, which is not ambiguous.
    expect(pairsOf(charger('d'), lane('d'), point('d', [1, 0], { type: 11 }), dockingPoint('d'))).toMatchObject([
      { charger: 0, dockingPoint: 3, linkedBy: 'charger' },
    ]);
  });

  it('of three items are two stations, reported as sharing one', () => {
    const shared = [charger('d', [0, 0], 'a'), charger('d', [3, 0], 'b'), dockingPoint('d', [3, 4], 'a')];
    expect(pairsOf(...shared)).toMatchObject([
      { charger: 0, dockingPoint: 2, linkedBy: 'both' },
      { charger: 1, dockingPoint: 2, linkedBy: 'charger' },
    ]);
    expect(findingsOf(...shared)).toMatchObject([{ rule: 'docking-point-shared', features: [0, 1, 2] }]);
    const two = [charger('d'), dockingPoint('d'), dockingPoint('e', [0, 1], 'c')];
    expect(pairsOf(...two)).toMatchObject([
      { charger: 0, dockingPoint: 1, linkedBy: 'charger' },
      { charger: 0, dockingPoint: 2, linkedBy: 'docking-point' },
    ]);
    expect(findingsOf(...two)).toMatchObject([{ rule: 'charger-shared', features: [0, 1, 2] }]);
  });

  it('have a finding while one of the two refers elsewhere', () => {
    expect(detailOf(charger('gone'), dockingPoint('d', [3, 4], 'c'))).toEqual([
      'docking-reference-unresolved: point #1 "d" refers to point #0 "c", and point #0 "c" refers to "gone", which is the id of no feature.',
    ]);
    expect(findingsOf(charger('d'), dockingPoint('d', [3, 4], 'd'))).toMatchObject([
      { rule: 'docking-reference-unresolved', features: [0, 1] },
    ]);
  });

  it('have no distance to a point without a place, nor out of range', () => {
    expect(pairsOf(charger('d', ['x']), dockingPoint('d'))).toMatchObject([{ dockingPoint: 1, distanceM: null }]);
    expect(pairsOf(charger('d', [1e308, 0]), dockingPoint('d', [-1e308, 0]))).toMatchObject([{ distanceM: null }]);
  });

  it('respect readings verified or contradicted on this device', () => {
    const about = { serial: 'SN1', software: '1', how: 'seen', who: 'Ada', when: '2026-01-31T12:00:00Z' };
    const hereOf = (fact: string, value: object) =>
      createCodeBook({ serial: 'SN1', software: '1', records: [{ ...about, fact, value } as never] });
    const overlays = read([charger('d'), dockingPoint('d'), point('n', [0, 1], { type: 99, dockingPointId: 'd' })]);
    expect(chargerPairs(overlays, hereOf('vendor.overlays.point-types', { 9: 'standby' }))).toMatchObject([
      { charger: null, dockingPoint: 1 },
    ]);
    expect(chargerPairs(overlays, hereOf('overlays.point-kind-numbers', { 99: 'charger' }))).toMatchObject([
      { charger: 0, dockingPoint: 1 },
      { charger: 2, dockingPoint: 1 },
    ]);
  });

  it('hold every charger of any map, each pair once, linked by a reference', { tags: 'property' }, () => {
    fc.assert(
      fc.property(collectionText(), (text) => {
        const overlays = readOverlays(text);
        const byIndex = new Map(overlays.features.map((feature) => [feature.index, feature]));
        const pairs = chargerPairs(overlays, book);
        const chargers = overlays.features.filter(({ kind, code }) => kind === 'point' && code?.number === 9);
        const held = new Set(pairs.flatMap((pair) => pair.charger ?? []));
        expect(held).toEqual(new Set(chargers.map(({ index }) => index)));
        expect(new Set(pairs.map((pair) => `${pair.charger} ${pair.dockingPoint}`)).size).toBe(pairs.length);
        for (const pair of pairs) {
          const [one, other] = [byIndex.get(pair.charger ?? -1), byIndex.get(pair.dockingPoint ?? -1)];
          if (one === undefined || other === undefined) continue;
          expect([one.code?.number, other.code?.number]).toEqual([9, 36]);
          const [names, refersToDockingPoint] = [one.partnerId === other.id, other.partnerId === one.id];
          expect(pair.linkedBy).toBe(names && refersToDockingPoint ? 'both' : names ? 'charger' : 'docking-point');
          expect(names || refersToDockingPoint).toBe(true);
        }
      }),
    );
  });

  const crowds: Readonly<Record<string, (nth: number) => object>> = {
    'chargers that name one id': () => ({ ...charger('d'), id: 'd' }),
    'docking points of one id that one charger names': (nth) => (nth === 0 ? charger('d') : dockingPoint('d')),
    'docking points that name one charger, which names another': (nth) =>
      nth === 0 ? charger('gone') : dockingPoint(`d${nth}`, [1, 1], 'c'),
    'chargers and docking points that share two ids and name each other': (nth) =>
      nth % 2 === 0 ? charger('d') : dockingPoint('d', [1, 1], 'c'),
  };
  it.each(Object.keys(crowds))(
    'are found among thousands of %s by looking at each a few times',
    { tags: 'property' },
    (crowd) => {
      const readsOf = (count: number) => {
        const overlays = read(Array.from({ length: count }, (_, nth) => crowds[crowd]?.(nth)));
        let reads = 0;
        const get = (feature: Feature, key: keyof Feature) => {
          if (key === 'id' || key === 'partnerId') reads += 1;
          return feature[key];
        };
        const features = overlays.features.map((feature) => new Proxy(feature, { get } as ProxyHandler<Feature>));
        const pairs = chargerPairs({ ...overlays, features }, book);
        expect(findFaults({ ...overlays, features }, { frame: null, codeBook: book, pairs }).length).toBeGreaterThan(0);
        return reads;
      };
      const [few, many] = isFull ? [4_000, 40_000] : [400, 1_600];
      expect(readsOf(many) / readsOf(few)).toBeLessThan((1.5 * many) / few);
    },
  );
});
