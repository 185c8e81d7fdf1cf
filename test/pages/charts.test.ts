import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linePath } from '../../src/lib/pages/service/charts.tsx';

const S = 1_000;
const newest = { ageMs: 0, sampleMs: 10 * S };

describe('the line of a chart', () => {
  it('ends where nothing was known, and begins again behind the gap', () => {
    expect(linePath([0, 100, null, null, 50, 0], newest, 100)).toBe('M355 57h0L356 3M359 30h0L360 57');
    expect(linePath([null, null], newest, 100)).toBe('');
    expect(linePath([], newest, 100)).toBe('');
    // A single value is visible: a path of no length with round ends.
    expect(linePath([null, 100, null], newest, 100)).toBe('M359 3h0');
  });

  it('holds a state until the next sample', () => {
    expect(linePath([1, 0, null, 1], newest, 1, true)).toBe('M357 3h0H358V57M360 3h0');
  });

  it('moves to the left with the age of its newest sample', () => {
    expect(linePath([50], { ageMs: 30 * S, sampleMs: 10 * S }, 100)).toBe('M357 30h0');
    const whole = linePath(
      Array.from({ length: 360 }, () => 50),
      { ageMs: 10 * S, sampleMs: 10 * S },
      100,
    );
    expect([whole.startsWith('M0 30h0'), whole.endsWith('L359 30')]).toEqual([true, true]);
  });

  it('has one piece for each run of known values, and no point outside of its picture', { tags: 'property' }, () => {
    const values = fc.array(fc.option(fc.double({ min: 0, max: 100, noNaN: true })), { maxLength: 360 });
    fc.assert(
      fc.property(values, fc.boolean(), (list, isState) => {
        const path = linePath(list, newest, 100, isState);
        const runs = list.filter((value, at) => value !== null && (list[at - 1] ?? null) === null).length;
        expect([...path.matchAll(/M/g)]).toHaveLength(runs);
        const known = list.filter((value) => value !== null).length;
        expect([...path.matchAll(/[ML]|V/g)]).toHaveLength(known);
        for (const [, x, y] of path.matchAll(/[ML]([\d.]+) ([\d.]+)/g)) {
          expect(Number(x)).toBeLessThanOrEqual(360);
          expect(Number(y)).toBeLessThanOrEqual(57);
          expect(Number(y)).toBeGreaterThanOrEqual(3);
        }
      }),
    );
  });
});
