import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { percentile, type Sample, seededRandom, tableLines, trendOfFloors } from '../../bench/figures.ts';
import { runs } from '../properties.ts';

describe('a percentile', () => {
  it('is the nearest rank', () => {
    const of = (percent: number) => percentile([15, 20, 35, 40, 50], percent);
    expect([5, 30, 40, 50, 100].map(of)).toEqual([15, 20, 20, 35, 50]);
  });

  it('rounds no rank up through floating-point error', () => {
    const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
    for (const percent of [7, 29, 99]) expect(percentile(hundred, percent)).toBe(percent);
  });

  it('is null for no values, never a small number', () => {
    expect(percentile([], 99)).toBeNull();
  });

  it('sorts numerically, infinite values last', () => {
    expect(percentile([100, 9, 20], 100)).toBe(100);
    expect(percentile([Number.POSITIVE_INFINITY, 9, 20], 99)).toBe(Number.POSITIVE_INFINITY);
  });

  it('rejects values that are not percentages', () => {
    expect(() => percentile([1], 0)).toThrow(RangeError);
    expect(() => percentile([1], 101)).toThrow(RangeError);
  });

  it('is the smallest value that the given percentage does not exceed', { tags: 'property' }, () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ noNaN: true }), { minLength: 1, maxLength: 300 }),
        fc.integer({ min: 1, max: 100 }),
        (values, percent) => {
          const found = percentile(values, percent) as number;
          const upTo = (limit: number) => values.filter((value) => value <= limit).length * 100;
          expect(upTo(found)).toBeGreaterThanOrEqual(percent * values.length);
          const smaller = values.filter((value) => value < found);
          if (smaller.length > 0) expect(upTo(Math.max(...smaller))).toBeLessThan(percent * values.length);
        },
      ),
    );
  });
});

/** The trend of one value a second, from a clock that does not begin at 0. */
function trendOf(seconds: number, value: (second: number) => number, windowMs = 30_000) {
  const sampleAt = (second: number): Sample => ({ atMs: 1_234_567 + second * 1_000, value: value(second) });
  return trendOfFloors(
    Array.from({ length: seconds }, (_, second) => sampleAt(second)),
    windowMs,
  );
}

describe('a trend', () => {
  it('is the slope of a straight line, negative where it falls', () => {
    const trend = trendOf(901, (second) => 120 + second / 60);
    expect(trend?.perHour).toBeCloseTo(60, 6);
    expect(trend?.errorPerHour).toBeCloseTo(0, 6);
    expect(trend?.points).toBe(30);
    expect(trendOf(901, (second) => 200 - second / 60)?.perHour).toBeCloseTo(-60, 6);
  });

  it('is level where the minima are level, however high the peaks between them grow', () => {
    const trend = trendOf(901, (second) => 120 + (second % 10) * (1 + second / 100));
    expect(Math.abs(trend?.perHour ?? 99)).toBeLessThan(1e-9);
  });

  it('detects rising minima below falling peaks', () => {
    const trend = trendOf(901, (second) => 120 + second / 30 + (second % 10 === 0 ? 0 : 200 - second / 10));
    expect(trend?.perHour).toBeCloseTo(120, 0);
  });

  it('reports its uncertainty', () => {
    const random = seededRandom(11);
    const noisy = trendOf(901, () => 120 + 40 * random(), 1_000);
    expect(noisy?.errorPerHour).toBeGreaterThan(1);
    expect(Math.abs(noisy?.perHour ?? Number.NaN)).toBeLessThan(4 * (noisy?.errorPerHour ?? 0));
  });

  it('is null for too few windows', () => {
    expect(trendOfFloors([], 30_000)).toBeNull();
    expect(trendOf(149, () => 120)).toBeNull();
    expect(trendOf(151, () => 120)?.points).toBe(5);
  });

  it('ignores the last, incomplete window', () => {
    expect(trendOf(165, (second) => (second < 150 ? 120 : 900))?.perHour).toBeCloseTo(0, 9);
  });
});

describe('random numbers of a seed', () => {
  it('are reproducible, and differ from those of the next seed', () => {
    const row = (seed: number) => Array.from({ length: 5 }, seededRandom(seed));
    expect(row(7)).toEqual(row(7));
    expect(row(7)).not.toEqual(row(8));
  });

  it('are distributed evenly over [0, 1)', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 31 }), (seed) => {
        const random = seededRandom(seed);
        const values = Array.from({ length: 2_000 }, random);
        expect(values.every((value) => value >= 0 && value < 1)).toBe(true);
        const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
        expect(mean).toBeGreaterThan(0.45);
        expect(mean).toBeLessThan(0.55);
      }),
      { numRuns: runs(30) },
    );
  });
});

describe('a table', () => {
  it('aligns its columns', () => {
    const lines = tableLines(
      ['load', 'ms'],
      ['a 1.0', 'longer 22.0'].map((row) => row.split(' ')),
    );
    expect(lines).toEqual(['load      ms', 'a        1.0', 'longer  22.0']);
  });
});
