import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBackoff, systemClock } from '../../src/lib/lifecycle/index.ts';

describe('the backoff', () => {
  it('doubles up to its bound', () => {
    const backoff = createBackoff({ firstMs: 100, maxMs: 1_000 }, { random: () => 1 });
    expect(Array.from({ length: 6 }, () => backoff.nextMs())).toEqual([100, 200, 400, 800, 1_000, 1_000]);
  });

  it('randomises each wait over its upper half, so that a fleet does not retry in step', { tags: 'property' }, () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.integer({ min: 1, max: 1_000 }),
        fc.integer({ min: 1, max: 60_000 }),
        fc.integer({ min: 0, max: 40 }),
        (random, firstMs, maxMs, attempt) => {
          const backoff = createBackoff({ firstMs, maxMs }, { random: () => random });
          for (let i = 0; i < attempt; i += 1) backoff.nextMs();
          const whole = Math.min(maxMs, firstMs * 2 ** attempt);
          const ms = backoff.nextMs();
          expect(ms).toBeGreaterThanOrEqual(whole / 2);
          expect(ms).toBeLessThanOrEqual(whole);
        },
      ),
    );
  });

  it('stays at its bound after any number of retries', () => {
    const backoff = createBackoff({ firstMs: 100, maxMs: 1_000 }, { random: () => 0 });
    for (let i = 0; i < 5_000; i += 1) backoff.nextMs();
    expect(backoff.nextMs()).toBe(500);
  });

  it('restarts after a reset', () => {
    const backoff = createBackoff({ firstMs: 100, maxMs: 1_000 }, { random: () => 1 });
    expect([backoff.nextMs(), backoff.nextMs()]).toEqual([100, 200]);
    backoff.reset();
    expect(backoff.nextMs()).toBe(100);
  });
});

describe('the system clock', () => {
  it('has random numbers in [0, 1)', () => {
    for (let i = 0; i < 100; i += 1) {
      const value = systemClock.random();
      expect(value).toBeGreaterThanOrEqual(0);
      expect(value).toBeLessThan(1);
    }
  });

  it("rejects a sleep with the signal's reason, before and during it", async () => {
    const reason = new Error('enough');
    await expect(systemClock.sleep(10_000, AbortSignal.abort(reason))).rejects.toBe(reason);
    const ending = new AbortController();
    const sleeping = systemClock.sleep(10_000, ending.signal);
    ending.abort(reason);
    await expect(sleeping).rejects.toBe(reason);
  });

  it('fires timers until they are disposed', async () => {
    const fired = { once: 0, often: 0 };
    systemClock.after(5, () => void fired.once++);
    systemClock.after(5, () => expect.fail('disposed'))[Symbol.dispose]();
    const timer = systemClock.every(2, () => void fired.often++);
    // Timers of a busy machine are late, and several missed intervals become one.
    await expect.poll(() => [fired.once, fired.often > 1]).toEqual([1, true]);
    timer[Symbol.dispose]();
    const seen = { ...fired };
    await systemClock.sleep(20);
    expect(fired).toEqual(seen);
  });
});
