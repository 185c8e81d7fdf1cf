import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addArrival, rateOf, type TopicArrivals } from '../../../../src/lib/toolkit/chassis/probe/listen.ts';
import { forAll, forAllOf, has } from '../../kit.ts';

/** The rate of these arrivals, in milliseconds since the topic was enabled, when the measurement ends at `endMs`. */
function rate(arrivalsMs: readonly number[], endMs: number) {
  const arrivals = arrivalsMs.reduce<TopicArrivals | undefined>(addArrival, undefined);
  return rateOf(arrivals, 0, endMs);
}

const steady = (periodMs: number, firstMs: number, endMs: number) =>
  Array.from({ length: Math.max(0, Math.floor((endMs - firstMs) / periodMs) + 1) }, (_, i) => firstMs + i * periodMs);

describe('the rate of a topic', () => {
  it('excludes the message sent on enabling: a battery at 0.2 Hz is not 8 Hz', () => {
    expect(rate([1, 126], 2_000)).toEqual({ perSecond: null, reason: has('0 of 3 intervals') });
    expect(rate([1, 126, 5_126], 8_000).perSecond).toBeNull();
    expect(rate([1, 126, 5_126, 10_126, 15_126], 15_200).perSecond).toBe(0.2);
  });

  it('needs three intervals after it, and states that', () => {
    expect(rate([], 2_000)).toEqual({ perSecond: null, reason: 'no message received' });
    expect(rate([0, 100, 200, 300], 350).reason).toContain('2 of 3 intervals');
    expect(rate([0, 100, 200, 300, 400], 450)).toEqual({ perSecond: 10, reason: null });
  });

  it('is not computed from delayed messages that arrived together, nor from a topic that has ceased', () => {
    expect(rate([0, 5_000, 5_001, 5_002, 5_003, 5_004], 5_100)).toMatchObject({
      perSecond: null,
      reason: has('not steady: 5 messages within 0.0 s of 5.1 s'),
    });
    expect(rate(steady(100, 0, 1_000), 8_000).reason).toContain('within 0.9 s of 8.0 s');
    expect(rate([0, 0, 0, 0, 0], 0).perSecond).toBeNull();
  });

  it('of a pose at 10 Hz that arrives in bursts of a second is 10 Hz', () => {
    const arrivals = [1_000, 2_000, 3_000, 4_000].flatMap((at) => Array.from({ length: 10 }, (_, i) => at + i));
    expect(rate(arrivals, 4_050).perSecond).toBeGreaterThanOrEqual(9.5);
    expect(rate(arrivals, 4_050).perSecond).toBeLessThanOrEqual(10.5);
  });

  const periods = fc.double({ min: 20, max: 20_000, noNaN: true });
  const ends = fc.integer({ min: 2_000, max: 60_000 });

  it('of any steady topic is right, whatever old message was sent on enabling, or missing', {
    tags: 'property',
  }, () => {
    forAll(periods, fc.double({ min: 0, max: 1, noNaN: true }), fc.boolean(), ends, (period, phase, old, end) => {
      const own = steady(period, phase * period, end);
      const { perSecond } = rate(old ? [0, ...own] : own, end);
      if (perSecond !== null)
        expect(Math.abs(perSecond * (period / 1_000) - 1)).toBeLessThan(0.03 + (0.005 * period) / 1_000);
      const counted = old ? own.length : own.length - 1;
      expect(perSecond === null).toBe(counted < 4);
    });
  });

  it('is never far above the true one, however its messages are delayed', { tags: 'property' }, () => {
    const delays = fc.array(fc.double({ min: 0, max: 30_000, noNaN: true }), { minLength: 1, maxLength: 40 });
    forAllOf(500)(periods, delays, fc.boolean(), ends, (period, held, old, end) => {
      let latest = 0;
      const own = steady(period, period / 2, end).map((sent, i) => {
        latest = Math.max(latest, sent + (held[i % held.length] ?? 0));
        return latest;
      });
      const arrived = own.filter((at) => at <= end);
      const { perSecond } = rate(old ? [0, ...arrived] : arrived, end);
      if (perSecond !== null) expect(perSecond).toBeLessThanOrEqual((1_000 / period) * 2 + 0.01);
    });
  });
});
