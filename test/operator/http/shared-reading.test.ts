import { describe, expect, it } from 'vitest';
import { createSharedReading } from '../../../src/lib/operator/http/shared-reading.ts';
import { standInClock } from '../stand-ins.ts';

function setUp() {
  const clock = standInClock();
  const begun: PromiseWithResolvers<string>[] = [];
  const reading = createSharedReading(
    () => {
      const one = Promise.withResolvers<string>();
      begun.push(one);
      return one.promise;
    },
    1_000,
    clock,
  );
  return { clock, begun, reading };
}

describe('a reading that many share', () => {
  it('is one while it is under way, and for its time after it has ended', async () => {
    const { clock, begun, reading } = setUp();
    const early = [reading.get(), reading.get()];
    clock.advance(5_000);
    early.push(reading.get());
    begun[0]?.resolve('first');
    expect(await Promise.all(early)).toEqual(['first', 'first', 'first']);
    clock.advance(999);
    expect(await reading.get()).toBe('first');
    clock.advance(1);
    const later = reading.get();
    begun[1]?.resolve('second');
    expect([await later, begun.length]).toEqual(['second', 2]);
  });

  it('is made anew after what it read has changed, also while it is under way', async () => {
    const { begun, reading } = setUp();
    const before = reading.get();
    reading.forget();
    const after = reading.get();
    begun[1]?.resolve('new');
    begun[0]?.resolve('old');
    expect([await before, await after, await reading.get()]).toEqual(['old', 'new', 'new']);
  });

  it('is not kept when it failed', async () => {
    const { begun, reading } = setUp();
    const failing = reading.get();
    begun[0]?.reject(new Error('no disk'));
    await expect(failing).rejects.toThrow('no disk');
    const again = reading.get();
    begun[1]?.resolve('there');
    expect(await again).toBe('there');
  });
});
