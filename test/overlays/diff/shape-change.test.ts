import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffOverlays } from '../../../src/lib/overlays/diff/diff.ts';
import { changeRows, diffLine } from '../../../src/lib/overlays/diff/diff-wording.ts';
import { readOverlays } from '../../../src/lib/overlays/read/read.ts';
import type { ChangedFeature, ShapeChange } from '../../../src/lib/overlays/schemas.ts';
import { isFull, runs } from '../../properties.ts';
import { oddNumber, place } from '../arbitrary.ts';
import { places } from '../places.ts';

type Corner = readonly number[];
const zone = (...rings: Corner[][]) => ({ type: 'Polygon', coordinates: rings });
const lane = (...line: Corner[]) => ({ type: 'LineString', coordinates: line });
const square = (side: number, x = 5, y = 5): Corner[] =>
  places('-1,-1 1,-1 1,1 -1,1 -1,-1').map(([dx, dy]) => [x + (dx * side) / 2, y + (dy * side) / 2]);
const text = (geometry: unknown) =>
  JSON.stringify({
    type: 'FeatureCollection',
    features: [{ id: 'z1', type: 'Feature', geometry, properties: { name: 'Treppe', regionType: 1 } }],
  });
const diff = (from: unknown, to: unknown) => diffOverlays(readOverlays(text(from)), readOverlays(text(to)));

function changeOf(from: unknown, to: unknown): ChangedFeature & { readonly shape: ShapeChange } {
  const [change] = diff(from, to).changed;
  if (!change?.shape) throw new Error('no change of the geometry was found');
  return { ...change, shape: change.shape };
}

const rowOf = (from: unknown, to: unknown) => changeRows(changeOf(from, to))[0];

describe('a change of form', () => {
  it('of a no-go zone from 100 m² to 4 m² about the same middle is not a move by 0 m', () => {
    const [from, to] = [zone(square(10)), zone(square(2))];
    expect(changeOf(from, to).shape).toMatchObject({
      ...{ movedM: 0, isMovedAsWhole: false, fromCorners: 4, toCorners: 4, fromAreaM2: 100, toAreaM2: 4 },
    });
    expect(changeOf(from, to).shape.largestShiftM).toBeCloseTo(Math.hypot(4, 4), 9);
    expect(rowOf(from, to)).toEqual({
      what: 'corners moved up to 5.657 m, area 100 → 4 m²',
      before: '4 corners around (5, 5), 100 m²',
      after: '4 corners around (5, 5), 4 m²',
    });
    expect(diff(from, to).counts).toMatchObject({ moved: 1, reshaped: 1, otherwise: 0 });
    expect(diffLine(diff(from, to))).toBe('The overlays differ: 1 of 1 changed (1 in form).');
  });

  it('is distinguished from another place', () => {
    const moved = changeOf(zone(square(2)), zone(square(2, 5.5, 5))).shape;
    expect(moved).toMatchObject({ movedM: 0.5, largestShiftM: 0.5, isMovedAsWhole: true });
    const found = diff(zone(square(2)), zone(square(2, 5.5, 5)));
    expect(found.counts).toMatchObject({ moved: 1, reshaped: 0 });
    expect(diffLine(found)).toBe('The overlays differ: 1 of 1 changed (1 in place).');
    expect(rowOf(zone(square(2)), zone(square(2, 5.5, 5)))?.what).toBe('moved 0.5 m');
  });

  it('of a hole counts: the zone is smaller by it, and a hole that does not move with it changes the form', () => {
    const hole = square(4).toReversed();
    expect(rowOf(zone(square(10), hole), zone(square(10), square(8).toReversed()))).toEqual({
      what: 'corners moved up to 2.828 m, area 84 → 36 m²',
      before: '8 corners around (5, 5), 84 m²',
      after: '8 corners around (5, 5), 36 m²',
    });
    const movedWith = (other: Corner[]) => changeOf(zone(square(10), hole), zone(square(10, 6, 5), other)).shape;
    expect(movedWith(hole).isMovedAsWhole).toBe(false);
    expect(movedWith(square(4, 6, 5).toReversed()).isMovedAsWhole).toBe(true);
    expect(rowOf(zone(square(10)), zone(square(10), hole))?.what).toBe('corners 4 → 8, area 100 → 84 m²');
  });

  it('of a reversed line is its direction, without displacement', () => {
    const [from, to] = [lane([0, 0], [3, 0], [3, 4]), lane([3, 4], [3, 0], [0, 0])];
    expect(changeOf(from, to).shape).toMatchObject({
      ...{ isReversed: true, movedM: 0, largestShiftM: 0, fromLengthM: 7, toLengthM: 7 },
    });
    expect(rowOf(from, to)).toEqual({
      what: 'direction reversed',
      before: '3 corners around (2, 1.333), 7 m long',
      after: '3 corners around (2, 1.333), 7 m long',
    });
    expect(diff(from, to).counts).toMatchObject({ moved: 1, reshaped: 1, otherwise: 0 });
    expect(rowOf(lane([0, 0], [10, 0]), lane([10, 0], [0, 0.5]))?.what).toBe(
      'corners moved up to 0.5 m, direction reversed, length 10 → 10.01 m',
    );
  });

  it('of a shortened line shows both lengths', () => {
    expect(rowOf(lane([0, 0], [10, 0]), lane([3, 0], [7, 0]))).toEqual({
      what: 'corners moved up to 3 m, length 10 → 4 m',
      before: '2 corners around (5, 0), 10 m long',
      after: '2 corners around (5, 0), 4 m long',
    });
    expect(rowOf(lane([0, 0], [10, 0]), lane([0, 0], [5, 3], [10, 0]))?.what).toBe(
      'middle moved 1 m, corners 2 → 3, length 10 → 11.66 m',
    );
  });

  it('is none where a ring starts at another corner or has the opposite orientation: reported as the same outline', () => {
    const ring = square(10);
    const shifted = [...ring.slice(2), ...ring.slice(1, 3)];
    for (const to of [zone(shifted), zone(ring.toReversed())]) {
      expect(changeOf(zone(ring), to).shape).toMatchObject({ largestShiftM: 0, movedM: 0, isRewound: true });
      expect(rowOf(zone(ring), to)?.what).toBe('same outline, other starting corner or orientation');
      expect(diff(zone(ring), to).counts).toMatchObject({ moved: 0, otherwise: 1 });
    }
  });

  it('that is not in the plane is reported as the first difference of the texts', () => {
    const point = (...coordinates: number[]) => ({ type: 'Point', coordinates });
    const coordinates = (last: number) => [[1, 2], ...Array(40).fill([0, 0]), [3, last]];
    const many = (last: number) => ({ type: 'Circle', coordinates: coordinates(last) });
    const text = (coordinates: string) => ({ type: 'Polygon', coordinates });
    for (const [from, to, path, before, after] of [
      [point(1, 2, 0), point(1, 2, 5), '/2', '0', '5'],
      [zone(square(2)), zone(square(2).slice(0, 4)), '/0/4', '[4,4]', '—'],
      [many(4), many(5), '/41/1', '4', '5'],
      [text('x'), text('y'), '', '"x"', '"y"'],
    ] as const) {
      expect(rowOf(from, to)).toEqual({ what: `geometry at coordinates${path}`, before, after });
    }
    expect(rowOf(point(1e308, 1e308), point(-1e308, 1e308))?.what).toContain('geometry at');
  });

  it('is found in a ring with very many corners without trying every starting corner', { tags: 'property' }, () => {
    const circle = (count: number, radius: number, first = 0): Corner[] =>
      Array.from({ length: count }, (_, i) => {
        const angle = (((i + first) % count) / count) * 2 * Math.PI;
        return [radius * Math.cos(angle), radius * Math.sin(angle)];
      });
    const many = isFull ? 20_000 : 100;
    expect(changeOf(zone(circle(many, 2)), zone(circle(many, 1))).shape.largestShiftM).toBeCloseTo(1, 9);
    const rewound = changeOf(zone(circle(many, 2)), zone(circle(many, 2, 77))).shape;
    expect(rewound).toMatchObject({ isRewound: true, largestShiftM: 0 });
    // Of few corners every starting one is tried: half a metre and no more, however the ring was turned.
    for (const [count, isTried] of [
      [60, true],
      [70, false],
    ] as const) {
      const { largestShiftM } = changeOf(zone(circle(count, 2)), zone(circle(count, 1.5, 7))).shape;
      expect(Math.abs((largestShiftM ?? 9) - 0.5) < 1e-9).toBe(isTried);
    }
  });
});

/** Lines, zones with and without holes, points, and what no plane has: with coordinates out of small stores and of odd ones. */
function geometry(): fc.Arbitrary<{ type: string; coordinates: unknown }> {
  const corner = fc.oneof(
    { weight: 5, arbitrary: place() as fc.Arbitrary<number[]> },
    { weight: 2, arbitrary: fc.tuple(fc.constantFrom(0, 1, 2), fc.constantFrom(0, 1, 2)) as fc.Arbitrary<number[]> },
    { weight: 1, arbitrary: fc.tuple(oddNumber(), oddNumber(), oddNumber()) as fc.Arbitrary<number[]> },
  );
  const ring = fc.array(corner, { minLength: 3, maxLength: 7 });
  return fc.oneof(
    corner.map((coordinates) => ({ type: 'Point', coordinates })),
    fc.array(corner, { minLength: 2, maxLength: 6 }).map((coordinates) => ({ type: 'LineString', coordinates })),
    fc.array(ring, { minLength: 1, maxLength: 2 }).map((coordinates) => ({ type: 'Polygon', coordinates })),
    fc.array(corner, { maxLength: 3 }).map((coordinates) => ({ type: 'MultiPoint', coordinates })),
  );
}

/** A geometry before and after an edit in the map editor. */
function twoGeometries(): fc.Arbitrary<[unknown, unknown]> {
  const edit = fc.constantFrom('scale', 'reverse', 'rewind', 'shift', 'drop', 'nudge', 'close', 'lift', 'other');
  return fc
    .tuple(geometry(), geometry(), edit, fc.constantFrom(0.5, 2, -1, 1e-6, 1e-12, 300))
    .map(([one, other, how, by]) => {
      if (how === 'other') return [one, other];
      const runs = (value: unknown, change: (run: unknown[]) => unknown[]): unknown =>
        Array.isArray(value) && Array.isArray(value[0])
          ? Array.isArray(value[0][0])
            ? value.map((inner) => runs(inner, change))
            : change(value)
          : value;
      const corners = (value: unknown, change: (corner: number[]) => number[]): unknown =>
        Array.isArray(value) && typeof value[0] === 'number'
          ? change(value as number[])
          : Array.isArray(value)
            ? value.map((inner) => corners(inner, change))
            : value;
      const { coordinates } = one;
      let turn = 0;
      const changed = {
        scale: () => corners(coordinates, (corner) => corner.map((n) => n * by)),
        reverse: () => runs(coordinates, (run) => run.toReversed()),
        rewind: () => runs(coordinates, (run) => [...run.slice(1), run[0]]),
        shift: () => corners(coordinates, ([x = 0, y = 0, ...rest]) => [x + by, y, ...rest]),
        drop: () => runs(coordinates, (run) => run.slice(0, -1)),
        nudge: () =>
          corners(coordinates, ([x = 0, y = 0, ...rest]) => {
            turn += 1;
            return turn === 1 ? [x, y + by, ...rest] : [x, y, ...rest];
          }),
        close: () => runs(coordinates, (run) => [...run, run[0]]),
        lift: () => corners(coordinates, ([x = 0, y = 0]) => [x, y, by]),
      }[how]();
      return [one, { ...one, coordinates: changed }];
    });
}

/** As JSON.parse returns it, -0 being 0. */
const written = (value: unknown) => JSON.stringify(value);

describe('any difference of a geometry', () => {
  it('is described by a line, never by a displacement of 0 alone and never as equal', { tags: 'property' }, () => {
    fc.assert(
      fc.property(twoGeometries(), ([from, to]) => {
        fc.pre(written(from) !== written(to));
        const found = diff(from, to);
        expect(found.same).toBe(false);
        expect(diffLine(found)).toMatch(/^The overlays differ: /);
        const rows = changeRows(changeOf(from, to));
        expect(rows).toHaveLength(1);
        const { what, before, after } = rows[0] ?? { what: '', before: '', after: '' };
        expect(what).not.toMatch(/moved (up to )?0(\.0+)? m\b/);
        expect(what).not.toMatch(/unchanged|same(?! outline)|NaN|Infinity|undefined|null/i);
        expect(what).not.toBe('');
        // A change with a path only must show two different texts.
        if (what.startsWith('geometry at')) expect(before).not.toBe(after);
        else expect(what).toMatch(/moved|direction reversed|corners \d+ → \d+|area|length|same outline|^geometry, /);
      }),
      { numRuns: runs(2_000) },
    );
  });
});
