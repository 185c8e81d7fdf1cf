import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCodeBook } from '../../../src/lib/overlays/codes.ts';
import { chargerPairs } from '../../../src/lib/overlays/inspect/chargers.ts';
import { readOverlays } from '../../../src/lib/overlays/read/read.ts';
import { findFaults } from '../../../src/lib/overlays/rules/faults.ts';
import { DOCKING_DISTANCE_M, floorOverlays } from '../../../src/lib/sim/chassis/floor/floor.ts';
import { collectionText } from '../arbitrary.ts';

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
const lane = (id: unknown) => ({
  id,
  geometry: {
    type: 'LineString',
    coordinates: [
      [0, 0],
      [1, 1],
    ],
  },
  properties: { lineType: 2 },
});

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
    for (const features of [
      [charger('d'), dockingPoint('d', [3, 4], 'c')],
      [charger(null), dockingPoint('d', [3, 4], 'c')],
    ]) {
      expect(findingsOf(...features)).toEqual([]);
    }
    const [pair] = chargerPairs(readOverlays(floorOverlays('SN1')), book);
    expect(pair?.distanceM).toBeCloseTo(DOCKING_DISTANCE_M, 9);
  });

  it('are found whatever the JSON type of number and reference', () => {
    const [nine, number] = [
      point(7, [0, 0], { type: 9, dockingPointId: '8' }),
      point(8, [3, 4], { type: '36', dockingPointId: 7 }),
    ];
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
    const zone = { geometry: { type: 'Polygon', coordinates: [] }, properties: { dockingPointId: 'd', type: 9 } };
    const line = { ...lane('x'), properties: { dockingPointId: 'd', type: 9 } };
    expect(pairsOf(zone, line)).toEqual([]);
  });

  it('show the target of a reference that leads to no partner', () => {
    const none = { charger: 0, dockingPoint: null, linkedBy: null, dockingPointReference: null, distanceM: null };
    const alone = (to: unknown, ...others: unknown[]) => detailOf(charger(to), ...others)[0];
    expect(pairsOf(charger('d'))).toEqual([{ ...none, chargerReference: 'd' }]);
    expect(alone('d')).toContain('refers to "d", which is the id of no feature, and no docking point refers to it.');
    expect(alone('c')).toContain('refers to itself, and no docking point refers to it.');
    expect(alone('x', point('x', [1, 1], { type: 11 }))).toContain(
      'refers to point #1 "x" of type 11, which is not a docking point, and no docking point refers to it.',
    );
    expect(alone('x', point('x', [1, 1], {}))).toContain(
      'refers to point #1 "x" without a type, which is not a docking point, and no docking point refers to it.',
    );
    expect(alone('x', charger('y', [1, 1], 'x'))).toContain(
      'refers to point #1 "x" of type "9", which is not a docking point, and no docking point refers to it.',
    );
    expect(alone('x', lane('x'))).toContain(
      'refers to lane #1 "x", which is not a docking point, and no docking point refers to it.',
    );
    for (const id of [undefined, null, '']) {
      expect(pairsOf(charger(id), dockingPoint('d'))).toMatchObject([
        { ...none, chargerReference: null },
        { charger: null, dockingPoint: 1, linkedBy: null },
      ]);
      expect(alone(id)).toContain(', refers to no docking point, and no docking point refers to it.');
    }
    expect(alone(['d'])).toContain(
      'its dockingPointId is an array, which is not an id, and no docking point refers to it.',
    );
    expect(alone(true)).toContain('its dockingPointId is true, which is not an id, and no docking point refers to it.');
    expect(detailOf(dockingPoint('d', [3, 4], 'gone'))).toEqual([
      expect.stringMatching(
        /^docking-point-without-charger: .* refers to "gone", which is the id of no feature, and no charger refers to it\.$/,
      ),
    ]);
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

  it('hold every charger of any map, each pair once, linked by a reference', () => {
    fc.assert(
      fc.property(collectionText(), (text) => {
        const overlays = readOverlays(text);
        const byIndex = new Map(overlays.features.map((feature) => [feature.index, feature]));
        const pairs = chargerPairs(overlays, book);
        const chargers = overlays.features.filter(({ kind, code }) => kind === 'point' && code?.number === 9);
        expect(new Set(pairs.flatMap((pair) => pair.charger ?? []))).toEqual(
          new Set(chargers.map(({ index }) => index)),
        );
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

  it.each([
    ['chargers that name one id', () => ({ ...charger('d'), id: 'd' })],
    [
      'docking points of one id that one charger names',
      (nth: number) => (nth === 0 ? charger('d') : dockingPoint('d')),
    ],
    [
      'docking points that name one charger, which names another',
      (nth: number) => (nth === 0 ? charger('gone') : dockingPoint(`d${nth}`, [1, 1], 'c')),
    ],
    [
      'chargers and docking points that share two ids and name each other',
      (nth: number) => (nth % 2 === 0 ? charger('d') : dockingPoint('d', [1, 1], 'c')),
    ],
  ])('stay fast with a hundred thousand %s', (_, feature) => {
    const overlays = read(Array.from({ length: 100_000 }, (_, nth) => feature(nth)));
    const began = process.cpuUsage();
    const pairs = chargerPairs(overlays, book);
    const findings = findFaults(overlays, { frame: null, codeBook: book, pairs });
    const { user, system } = process.cpuUsage(began);
    expect(findings.length).toBeGreaterThan(0);
    expect((user + system) / 1e6).toBeLessThan(15);
  });
});
