import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  areaM2,
  boundsAround,
  boundsOf,
  distanceBetweenM,
  isInsidePolygon,
  lengthM,
  placesOf,
  sideOf,
} from '../../src/lib/overlays/geometry.ts';
import type { Place, Shape } from '../../src/lib/overlays/model.ts';
import { distanceToM } from '../../src/lib/overlays/rules/rings.ts';
import { place } from './arbitrary.ts';
import { places } from './places.ts';

const square = places('0,0 4,0 4,3 0,3');
const closed: Place[] = [...square, [0, 0]];
const hole = places('1,1 2,1 2,2 1,2');
const zone = (...rings: Place[][]): Shape => ({ kind: 'zone', rings });

describe('the places of a feature', () => {
  it('are those of its point, its line or its rings, in the written order', () => {
    expect(placesOf({ kind: 'point', at: [1, 2] })).toEqual([[1, 2]]);
    expect(placesOf({ kind: 'lane', lines: [square] })).toEqual(square);
    expect(placesOf({ kind: 'point', at: [0, 0], places: square })).toEqual(square);
    expect(placesOf({ kind: 'lane', lines: [square, hole], isMulti: true })).toEqual([...square, ...hole]);
    expect(placesOf(zone(closed))).toEqual(closed);
    expect(placesOf(zone(closed, hole))).toEqual([...closed, ...hole]);
    expect(placesOf({ kind: 'other', type: 'Circle' })).toEqual([]);
    expect(placesOf({ kind: 'broken', expected: 'lane', problem: 'of nothing' })).toEqual([]);
  });

  it('have a box around them, or null without places', () => {
    expect(boundsOf({ kind: 'point', at: [1, 2] })).toEqual({ minXM: 1, minYM: 2, maxXM: 1, maxYM: 2 });
    expect(boundsOf(zone(closed, [[-1, 9]]))).toEqual({ minXM: -1, minYM: 0, maxXM: 4, maxYM: 9 });
    expect(boundsOf({ kind: 'lane', lines: [[]] })).toBeNull();
    expect(boundsOf({ kind: 'other', type: null })).toBeNull();
  });

  it('may be more than the arguments of a call', () => {
    const ring = Array.from({ length: 150_000 }, (_, at): Place => [at % 1000, Math.floor(at / 1000)]);
    expect(boundsAround(ring)).toEqual({ minXM: 0, minYM: 0, maxXM: 999, maxYM: 149 });
    expect(placesOf(zone(ring, hole))).toHaveLength(150_004);
  });
});

describe('inside', () => {
  it('is the same for a closed ring and an unclosed one, in either orientation', () => {
    for (const ring of [square, closed, square.toReversed(), closed.toReversed()]) {
      expect(places('1,1 5,1 -1,3 -1,0').map((at) => isInsidePolygon(at, [ring]))).toEqual([true, false, false, false]);
    }
  });

  it('counts edges and corners in', () => {
    for (const at of places('0,0 4,3 2,0 4,1.5 2,3 0,1')) {
      expect(isInsidePolygon(at, [square])).toBe(true);
    }
  });

  it('is correct where the ray passes through corners', () => {
    const diamond = places('0,-1 1,0 0,1 -1,0');
    expect(places('-2,0 0,0 -2,1 -2,-1').map((at) => isInsidePolygon(at, [diamond]))).toEqual([
      false,
      true,
      false,
      false,
    ]);
  });

  it('leaves holes out, but not their edges', () => {
    expect(isInsidePolygon([0.5, 0.5], [closed, hole])).toBe(true);
    expect(isInsidePolygon([1.5, 1.5], [closed, hole])).toBe(false);
    expect(isInsidePolygon([1, 1.5], [closed, hole])).toBe(true);
    expect(isInsidePolygon([1, 1], [])).toBe(false);
    expect(isInsidePolygon([1, 1], [[]])).toBe(false);
  });

  it('agrees with the winding angle around a place', { tags: 'property' }, () => {
    const ring = fc
      .uniqueArray(fc.integer({ min: 0, max: 359 }), { minLength: 3, maxLength: 12 })
      .chain((turns) =>
        fc.tuple(
          ...turns
            .toSorted((a, b) => a - b)
            .map((turn) => fc.tuple(fc.constant(turn), fc.double({ min: 1, max: 9, noNaN: true }))),
        ),
      )
      .map((polar) =>
        polar.map(
          ([turn, far]): Place => [far * Math.cos((turn * Math.PI) / 180), far * Math.sin((turn * Math.PI) / 180)],
        ),
      );
    fc.assert(
      fc.property(ring, place(), (corners, at) => {
        let turned = 0;
        for (const [nth, corner] of corners.entries()) {
          const next = corners[(nth + 1) % corners.length] ?? corner;
          const from = Math.atan2(corner[1] - at[1], corner[0] - at[0]);
          const by = Math.atan2(next[1] - at[1], next[0] - at[0]) - from;
          turned += by > Math.PI ? by - 2 * Math.PI : by < -Math.PI ? by + 2 * Math.PI : by;
        }
        // The winding angle is undefined on an edge.
        fc.pre((distanceToM(at, { kind: 'lane', lines: [[...corners, corners[0] ?? at]] }) ?? 0) > 1e-9);
        expect(isInsidePolygon(at, [corners])).toBe(Math.abs(turned) > Math.PI);
      }),
    );
  });
});

describe('distances', () => {
  it('are 0 inside a zone, and to the nearest edge outside', () => {
    expect(distanceToM([1, 1], zone(square))).toBe(0);
    expect(distanceToM([6, 1], zone(square))).toBe(2);
    expect(distanceToM([7, 7], zone(closed))).toBe(5);
    expect(distanceToM([-1, 1], zone(square))).toBe(1);
    expect(distanceToM([1.5, 1.75], zone(closed, hole))).toBe(0.25);
  });

  it('to a lane do not wrap round, and to a point are straight', () => {
    expect(distanceToM([0, 1.5], { kind: 'lane', lines: [square] })).toBe(1.5);
    expect(distanceToM([3, 4], { kind: 'point', at: [0, 0] })).toBe(5);
    expect(distanceToM([3, 4], { kind: 'lane', lines: [[[0, 0]]] })).toBe(5);
    expect(distanceBetweenM([1, 1], [1, 1])).toBe(0);
  });

  it('to a feature without a place are null', () => {
    expect(distanceToM([0, 0], { kind: 'lane', lines: [[]] })).toBeNull();
    expect(distanceToM([0, 0], zone())).toBeNull();
    expect(distanceToM([0, 0], zone([]))).toBeNull();
    expect(distanceToM([0, 0], { kind: 'other', type: null })).toBeNull();
    expect(distanceToM([0, 0], { kind: 'broken', expected: 'point', problem: 'of nothing' })).toBeNull();
  });

  it('are never more than to any place of the feature', { tags: 'property' }, () => {
    fc.assert(
      fc.property(place(), fc.array(place(), { minLength: 1, maxLength: 8 }), (at, places) => {
        const nearest = Math.min(...places.map((other) => distanceBetweenM(at, other)));
        expect(distanceToM(at, { kind: 'lane', lines: [places] })).toBeLessThanOrEqual(nearest + 1e-12);
        expect(distanceToM(at, zone(places))).toBeLessThanOrEqual(nearest + 1e-12);
      }),
    );
  });
});

describe('length and area', () => {
  it('are those of the line and of the ring, closed or not', () => {
    expect(lengthM(square)).toBe(11);
    expect(lengthM([[1, 1]])).toBe(0);
    expect(lengthM([])).toBe(0);
    expect(areaM2(square)).toBe(12);
    expect(areaM2(closed)).toBe(12);
    expect(areaM2(square.toReversed())).toBe(12);
    expect(areaM2([])).toBe(0);
    expect(areaM2([[3, 3]])).toBe(0);
  });

  it('keep the digits of a small zone far from the origin', () => {
    const far: Place[] = square.map(([x, y]) => [x / 128 + 2 ** 30, y / 128 + 2 ** 30]);
    expect(areaM2(far)).toBe(12 / 128 ** 2);
  });
});

describe('for any numbers', () => {
  it('a side is zero within noise, and changes sign with the direction of the line', () => {
    expect(sideOf([0, 0], [1, 0], [0, 1])).toBeGreaterThan(0);
    expect(sideOf([0, 0], [1, 0], [0, -1])).toBeLessThan(0);
    expect(sideOf([0.1, 0.1], [0.2, 0.2], [0.3, 0.1 + 0.2])).toBe(0);
  });
});
