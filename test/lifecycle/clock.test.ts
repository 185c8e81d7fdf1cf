import { expect, it } from 'vitest';
import { systemClock } from '../../src/lib/lifecycle/index.ts';

it('the random numbers of the real clock are over the whole of 0 to 1, below 1', () => {
  const drawn = Array.from({ length: 500 }, () => systemClock.random());
  expect(Math.min(...drawn)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...drawn)).toBeLessThan(1);
  for (const quarter of [0, 1, 2, 3]) expect(drawn.some((one) => Math.floor(one * 4) === quarter)).toBe(true);
});
