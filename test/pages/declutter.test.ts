import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Box, declutter, type Label, overlaps } from '../../src/lib/pages/map/declutter.ts';
import { nextPin } from '../../src/lib/pages/map/pin-order.ts';
import { runs } from '../properties.ts';

const frame: Box = { left: 0, top: 0, right: 800, bottom: 600 };
const label = (id: string, x: number, y: number, isNeeded = false): Label => ({
  ...{ id, x, y, isNeeded },
  ...{ width: 90, height: 22 },
});

describe('the labels of the map', () => {
  const labels = fc
    .array(
      fc.record({
        x: fc.integer({ min: -300, max: 1_100 }),
        y: fc.integer({ min: -300, max: 900 }),
        width: fc.integer({ min: 10, max: 400 }),
        isNeeded: fc.boolean(),
      }),
      { maxLength: 60 },
    )
    .map((list) =>
      list.map((one, at): Label => ({ ...one, id: `${at}`, height: 22, isNeeded: one.isNeeded && at < 4 })),
    );

  it('never overlap, at any zoom, and those that are needed are always there', { tags: 'property' }, () => {
    fc.assert(
      fc.property(labels, fc.double({ min: 0.01, max: 40, noNaN: true }), (all, zoom) => {
        const zoomed = all.map((one) => ({ ...one, x: one.x * zoom, y: one.y * zoom }));
        const placed = declutter(zoomed, frame);
        const boxes = [...placed.values()];
        for (const [at, one] of boxes.entries()) {
          expect(boxes.slice(at + 1).some((other) => overlaps(one, other))).toBe(false);
        }
        for (const one of zoomed) {
          const box = placed.get(one.id);
          if (one.isNeeded) expect(box).toBeDefined();
          if (box === undefined) continue;
          expect([box.right - box.left, box.bottom - box.top].map(Math.round)).toEqual([one.width, one.height]);
          if (!one.isNeeded)
            expect([box.left >= 0, box.top >= 0, box.right <= 800, box.bottom <= 600]).not.toContain(false);
        }
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('are all there once the pins are far enough apart', () => {
    const pins = Array.from({ length: 12 }, (_, at) =>
      label(`${at}`, 60 + (at % 4) * 200, 100 + Math.floor(at / 4) * 180),
    );
    expect(declutter(pins, frame).size).toBe(12);
  });

  it('stand beside the pin where its upper side is not free, and not over another pin', () => {
    const [a, b] = [label('a', 400, 300), label('b', 400, 270)];
    const placed = declutter([a, b], frame);
    expect(placed.get('a')?.top).toBeLessThan(300 - 36);
    expect(placed.has('b')).toBe(false);
    const corner = declutter([label('c', 400, 10)], frame).get('c');
    expect(corner?.top).toBeGreaterThan(0);
  });

  it('leave free what lies over the map', () => {
    expect(declutter([label('a', 400, 300)], frame, [frame]).size).toBe(0);
    expect(declutter([label('a', 400, 300, true)], frame, [frame]).size).toBe(1);
  });

  it('of pins at one place go up, where all of them are needed', () => {
    const boxes = [
      ...declutter(
        Array.from({ length: 6 }, (_, at) => label(`${at}`, 400, 300, true)),
        frame,
      ).values(),
    ];
    expect(new Set(boxes.map(({ left, top }) => `${left} ${top}`)).size).toBe(6);
  });
});

describe('the arrow keys between pins', () => {
  const pins = [
    { id: 'mid', xM: 0, yM: 0 },
    { id: 'east', xM: 2, yM: 0.5 },
    { id: 'far-east', xM: 9, yM: 0 },
    { id: 'north', xM: 0.2, yM: 3 },
    { id: 'south-west', xM: -1, yM: -4 },
  ];
  it.each([
    ['ArrowRight', 'east'],
    ['ArrowUp', 'north'],
    ['ArrowDown', 'south-west'],
    ['ArrowLeft', 'south-west'],
    ['Home', 'mid'],
    ['End', 'south-west'],
    ['a', null],
  ])('%s leads to %s', (key, to) => {
    expect(nextPin(pins, 'mid', key)).toBe(to);
  });

  it('lead nowhere where there is nothing', () => {
    expect(nextPin(pins, 'far-east', 'ArrowRight')).toBeNull();
    expect(nextPin([], 'mid', 'Home')).toBeNull();
  });

  it('never lead back the way that they point, and never to the pin itself', { tags: 'property' }, () => {
    const place = fc.record({ xM: fc.integer({ min: -9, max: 9 }), yM: fc.integer({ min: -9, max: 9 }) });
    fc.assert(
      fc.property(
        fc.array(place, { minLength: 1, maxLength: 9 }),
        fc.constantFrom('ArrowLeft', 'ArrowRight'),
        (places, key) => {
          const all = places.map((at, nth) => ({ ...at, id: `${nth}` }));
          const next = all.find(({ id }) => id === nextPin(all, '0', key));
          const sign = key === 'ArrowRight' ? 1 : -1;
          const isAny = all.some(({ xM }) => (xM - (all[0]?.xM ?? 0)) * sign > 0);
          expect(next === undefined ? !isAny : (next.xM - (all[0]?.xM ?? 0)) * sign > 0).toBe(true);
        },
      ),
    );
  });
});
