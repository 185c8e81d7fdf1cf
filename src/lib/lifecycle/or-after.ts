import type { Clock } from './clock.ts';

/** Waits for work to settle, whatever comes of it, but no longer than `ms`; the work goes on. Leaves no timer behind. */
export async function orAfter(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  using _limit = clock.after(ms, resolve);
  const settled = () => resolve();
  await Promise.race([work.then(settled, settled), promise]);
}
