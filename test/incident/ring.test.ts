import { expect, it } from 'vitest';
import { createRing } from '../../src/lib/incident/ring.ts';

const timesOf = (ring: ReturnType<typeof createRing<{ atMs: number }>>) => ring.all().map(({ atMs }) => atMs);

it('keeps the newest within its size, the last one whatever its size, and counts what it left out', () => {
  const ring = createRing<{ atMs: number }>(10);
  for (const atMs of [1, 2, 3]) ring.push({ atMs }, 5);
  expect([timesOf(ring), ring.leftOut()]).toEqual([[2, 3], 1]);
  ring.push({ atMs: 4 }, 50);
  expect([timesOf(ring), ring.newest(), ring.leftOut()]).toEqual([[4], { atMs: 4 }, 3]);
});

it('forgets what is older, and of what it left out too, but for the last ones that are spared', () => {
  const ring = createRing<{ atMs: number }>(10);
  for (const atMs of [1, 2, 3, 4]) ring.push({ atMs }, 5);
  ring.forgetBefore(2);
  expect([timesOf(ring), ring.leftOut()]).toEqual([[3, 4], 1]);
  ring.forgetBefore(9, 1);
  expect([timesOf(ring), ring.leftOut()]).toEqual([[4], 0]);
});
