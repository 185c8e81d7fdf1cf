import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RoundTrips } from '../../../src/lib/net/index.ts';
import { measureRoundTrips } from '../../../src/lib/net/ssh/round-trips.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';
import { runs } from '../../properties.ts';

/** A server that answers the requests in order, the n-th after `delayMs(n)`; null: never. */
function measured(delayMs: (n: number) => number | null) {
  const clock = createFakeClock();
  const reported: RoundTrips[] = [];
  let asked = 0;
  let lastMs = 0;
  const meter = measureRoundTrips({
    clock,
    intervalMs: 500,
    ask(onAnswer) {
      const ms = delayMs(asked);
      asked += 1;
      if (ms === null) return;
      // A connection keeps the order.
      lastMs = Math.max(lastMs, clock.monotonicMs() + ms);
      clock.after(lastMs - clock.monotonicMs(), onAnswer);
    },
    onSlow: (found) => reported.push(found),
  });
  return { clock, meter, reported, asked: () => asked };
}

describe('the round trips of an SSH connection', () => {
  it('are measured three times at once, then at the interval', async () => {
    const { clock, meter, reported, asked } = measured(() => 20);
    expect(meter.current()).toBeNull();
    await clock.advance(61);
    expect(asked()).toBe(3);
    expect(meter.current()).toEqual({ medianMs: 20, longestMs: 20, isSlow: false });
    await clock.advance(2_000);
    expect(asked()).toBe(7);
    expect(reported).toEqual([]);
    meter[Symbol.dispose]();
    await clock.advance(1_000);
    expect(clock.pending).toBe(0);
    expect(asked()).toBe(7);
  });

  it('of a slow link are reported once, after three of them', async () => {
    const { clock, meter, reported } = measured(() => 300);
    await clock.advance(301);
    expect(meter.current()).toMatchObject({ medianMs: 300, isSlow: true });
    expect(reported).toEqual([]);
    await clock.advance(5_000);
    expect(reported).toEqual([{ medianMs: 300, longestMs: 300, isSlow: true }]);
  });

  it('of a link that stalls for long, or again and again, are reported too; of one short stall they are not', async () => {
    const once = measured((n) => (n === 4 ? 850 : 10));
    await once.clock.advance(4_000);
    expect(once.reported).toEqual([]);
    expect(once.meter.current()).toMatchObject({ medianMs: 10, longestMs: 850, isSlow: false });
    const long = measured((n) => (n === 4 ? 950 : 10));
    await long.clock.advance(4_000);
    // The request behind it came 500 ms later, so it took 450 ms: no delay of this process, which would have sent none.
    expect(long.reported).toEqual([{ medianMs: 10, longestMs: 950, isSlow: true }]);
    const often = measured((n) => (n % 5 === 4 ? 650 : 10));
    await often.clock.advance(8_000);
    expect(often.reported).toHaveLength(1);
  });

  it('include the one that is under way, and forget after half a minute', async () => {
    const { clock, meter, asked } = measured((n) => (n < 4 ? 10 : n === 4 ? 3_000 : 10));
    await clock.advance(1_000);
    await clock.advance(1_200);
    expect(meter.current()?.longestMs).toBe(1_200);
    await clock.advance(2_000);
    expect(meter.current()?.longestMs).toBe(3_000);
    await clock.advance(31_000);
    expect(meter.current()).toMatchObject({ medianMs: 10, longestMs: 10 });
    expect(asked()).toBeGreaterThan(60);
  });

  it('of a server that answers none are at least as long as it has been silent, with a bounded number of requests', async () => {
    const { clock, meter, asked } = measured(() => null);
    await clock.advance(60_000);
    expect(meter.current()?.longestMs).toBe(60_000);
    expect(asked()).toBeLessThanOrEqual(20);
  });

  it('are never shorter than the longest delay of the last requests, whatever the delays', {
    tags: 'property',
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 2_500 }), { minLength: 3, maxLength: 12 }),
        async (delays) => {
          const { clock, meter } = measured((n) => delays[n] ?? 0);
          await clock.advance(20_000);
          expect(meter.current()?.longestMs).toBeGreaterThanOrEqual(Math.max(...delays));
        },
      ),
      { numRuns: runs(30) },
    );
  });
});
