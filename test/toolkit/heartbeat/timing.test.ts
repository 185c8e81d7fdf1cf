import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Arrival, judgePeriod, timingOf } from '../../../src/lib/toolkit/heartbeat/timing.ts';
import { forAll } from '../kit.ts';

function arrivals(periodMs: number, count: number, changes: (index: number) => Partial<Arrival> = () => ({})) {
  return Array.from({ length: count }, (_, index): Arrival => {
    const atMs = 1_000 + index * periodMs;
    return { atMs, sequence: 40 + index, uptimeS: Math.floor((index * periodMs) / 1000), boot: 'a', ...changes(index) };
  });
}

describe('the period of a sender', () => {
  it('is that of the specification within a tenth, from three intervals on', () => {
    expect(judgePeriod(timingOf(arrivals(2_000, 5)))).toBe('ok');
    expect(judgePeriod(timingOf(arrivals(2_000, 3)))).toBe('not-checked');
    expect(judgePeriod(timingOf([]))).toBe('not-checked');
  });

  it.each([500, 1_000, 1_700, 2_300, 4_000])('is wrong at %d ms', (periodMs) => {
    expect(judgePeriod(timingOf(arrivals(periodMs, 4)))).toBe('wrong');
  });

  it('is undecided after one late heartbeat, and never ok then', () => {
    // A gateway that was delayed by 1.3 s, and continued with its schedule.
    const heldUp = arrivals(2_000, 6, (index) => (index === 0 ? { atMs: 2_300 } : {}));
    expect(timingOf(heldUp)).toMatchObject({ periodMs: 1_740, medianMs: 2_000 });
    expect(judgePeriod(timingOf(heldUp))).toBe('not-checked');
    const slept = arrivals(2_000, 5, (index) => (index < 3 ? {} : { atMs: 12_000 + index * 2_000 }));
    expect(judgePeriod(timingOf(slept))).toBe('not-checked');
  });

  it('counts lost heartbeats by the sequence, excluding earlier boots', () => {
    const lossy = arrivals(2_000, 9).filter((_, index) => index % 3 !== 1);
    expect(timingOf(lossy).periodMs).toBe(2_000);
    const restarted = arrivals(2_000, 8, (index) =>
      index < 4 ? {} : { boot: 'b', sequence: index - 4, uptimeS: (index - 4) * 2 },
    );
    expect(timingOf(restarted)).toEqual({ intervals: 3, periodMs: 2_000, medianMs: 2_000, uptimeOffS: 0 });
  });

  it('is never ok for a sender whose true period is out of bounds, and never wrong for one in the middle, whatever the delays', {
    tags: 'property',
  }, () => {
    const delays = fc.array(fc.integer({ min: 0, max: 150 }), { minLength: 5, maxLength: 12 });
    forAll(
      delays,
      fc.oneof(fc.integer({ min: 200, max: 1_700 }), fc.integer({ min: 2_300, max: 9_000 })),
      (late, periodMs) => {
        const delayed = arrivals(periodMs, late.length, (index) => ({
          atMs: 1_000 + index * periodMs + (late[index] ?? 0),
        }));
        expect(judgePeriod(timingOf(delayed))).not.toBe('ok');
      },
    );
    forAll(delays, (late) => {
      const delayed = arrivals(2_000, late.length, (index) => ({ atMs: 1_000 + index * 2_000 + (late[index] ?? 0) }));
      expect(judgePeriod(timingOf(delayed))).toBe('ok');
    });
  });
});

describe('the uptime of a sender', () => {
  it('advances with time; a clock that jumps is detected, forwards and back', () => {
    expect(timingOf(arrivals(2_000, 5)).uptimeOffS).toBeLessThanOrEqual(1);
    for (const jump of [3_600, -3_600]) {
      const jumped = arrivals(2_000, 5, (index) =>
        index === 3 ? { uptimeS: 10_000 + jump } : { uptimeS: 10_000 + index * 2 },
      );
      expect(timingOf(jumped).uptimeOffS).toBeGreaterThan(3_500);
    }
    expect(timingOf(arrivals(2_000, 5, () => ({ uptimeS: null }))).uptimeOffS).toBeNull();
  });
});
