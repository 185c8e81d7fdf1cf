import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CHARGER_TYPE, chargerPairs, DOCKING_POINT_TYPE } from '../../src/lib/overlays/chargers.ts';
import { createCodeBook } from '../../src/lib/overlays/codes.ts';
import { readOverlays } from '../../src/lib/overlays/read.ts';
import { DOCKING_DISTANCE_M, drawOverlays } from '../../src/lib/sim/floor.ts';
import { collectionText } from './arbitrary.ts';

const book = createCodeBook(null);
const pairsOf = (...features: unknown[]) =>
  chargerPairs(readOverlays(JSON.stringify({ type: 'FeatureCollection', features })), book);

const point = (id: unknown, at: unknown, properties: object) => ({
  id,
  geometry: { type: 'Point', coordinates: at },
  properties,
});
const charger = (dockingPointId: unknown, at: unknown = [0, 0]) => point('c', at, { type: '9', dockingPointId });
const dockingPoint = (id: unknown, at: unknown = [3, 4]) => point(id, at, { type: 36 });

describe('charger pairs', () => {
  it('knows the numbers of both items from the ledger', () => {
    expect([CHARGER_TYPE, DOCKING_POINT_TYPE]).toEqual([9, 36]);
  });

  it('measures between the two points that belong together by id', () => {
    expect(pairsOf(dockingPoint('x'), charger('d'), dockingPoint('d'))).toEqual([
      { charger: 1, dockingPoint: 2, named: 'd', distanceM: 5 },
    ]);
    const [pair] = chargerPairs(readOverlays(drawOverlays('SN1')), book);
    expect(pair?.distanceM).toBeCloseTo(DOCKING_DISTANCE_M, 9);
  });

  it('says of a charger whose partner is missing, is itself or was never named, that it has none', () => {
    const none = { dockingPoint: null, distanceM: null };
    expect(pairsOf(charger('d'))).toEqual([{ charger: 0, named: 'd', ...none }]);
    expect(pairsOf(charger('c'))).toEqual([{ charger: 0, named: 'c', ...none }]);
    for (const id of [undefined, null, '', true, {}]) {
      expect(pairsOf(charger(id), dockingPoint('d'))).toEqual([{ charger: 0, named: null, ...none }]);
    }
  });

  it('takes a point that names a docking point for a charger, whatever its type', () => {
    expect(pairsOf(point('c', [0, 0], { dockingPointId: 7 }), point(7, [0, 2], {}))).toEqual([
      { charger: 0, dockingPoint: 1, named: '7', distanceM: 2 },
    ]);
    const zone = { geometry: { type: 'Polygon', coordinates: [] }, properties: { dockingPointId: 'd', type: 9 } };
    expect(pairsOf(zone, dockingPoint('d'))).toEqual([]);
  });

  it('prefers a docking point among drawings with the same id', () => {
    const lane = {
      id: 'd',
      geometry: {
        type: 'LineString',
        coordinates: [
          [0, 0],
          [1, 1],
        ],
      },
      properties: {},
    };
    expect(pairsOf(point('d', [1, 0], {}), lane, dockingPoint('d'), charger('d'))).toMatchObject([{ dockingPoint: 2 }]);
    expect(pairsOf(charger('d'), lane, point('d', [1, 0], {}))).toMatchObject([{ dockingPoint: 1, distanceM: null }]);
    const self = point('d', [0, 0], { type: 36, dockingPointId: 'd' });
    expect(pairsOf(self, point('d', [1, 0], {}), dockingPoint('d', [2, 0]))).toMatchObject([
      { dockingPoint: 2, distanceM: 2 },
    ]);
  });

  it('measures nothing to a point without a place, nor beyond what a number can hold', () => {
    expect(pairsOf(charger('d', ['x']), dockingPoint('d'))).toMatchObject([{ dockingPoint: 1, distanceM: null }]);
    expect(pairsOf(charger('d', [1e308, 0]), dockingPoint('d', [-1e308, 0]))).toMatchObject([{ distanceM: null }]);
  });

  it('takes type 9 for a charger no more where that was contradicted on this device', () => {
    const about = { serial: 'SN1', software: '1', how: 'seen', who: 'Ada', when: '2026-01-31T12:00:00Z' };
    const record = { ...about, fact: 'vendor.overlays.point-types', value: { 9: 'standby' } };
    const here = createCodeBook({ serial: 'SN1', software: '1', records: [record] });
    const overlays = readOverlays(
      JSON.stringify({ type: 'FeatureCollection', features: [charger(undefined), charger('d'), dockingPoint('d')] }),
    );
    expect(chargerPairs(overlays, here).map((pair) => pair.charger)).toEqual([1]);
    expect(chargerPairs(overlays, book).map((pair) => pair.charger)).toEqual([0, 1]);
  });

  it('finds for every charger of any map the drawing that it names, or none', () => {
    fc.assert(
      fc.property(collectionText(), (text) => {
        const overlays = readOverlays(text);
        const byIndex = new Map(overlays.drawings.map((drawing) => [drawing.index, drawing]));
        const pairs = chargerPairs(overlays, book);
        expect(new Set(pairs.map((pair) => pair.charger)).size).toBe(pairs.length);
        for (const pair of pairs) {
          const partner = pair.dockingPoint === null ? undefined : byIndex.get(pair.dockingPoint);
          const isThere = overlays.drawings.some(
            ({ id, index }) => id === pair.named && id !== null && index !== pair.charger,
          );
          expect(partner !== undefined).toBe(isThere);
          if (partner) expect(partner.id).toBe(pair.named);
          expect(pair.charger).not.toBe(pair.dockingPoint);
        }
      }),
    );
  });

  it('stays quick where a hundred thousand chargers name the same id', () => {
    const features = Array.from({ length: 100_000 }, () => ({ ...charger('d'), id: 'd' }));
    const overlays = readOverlays(JSON.stringify({ type: 'FeatureCollection', features }));
    const started = performance.now();
    expect(chargerPairs(overlays, book)).toHaveLength(100_000);
    expect(performance.now() - started).toBeLessThan(3_000);
  });
});
