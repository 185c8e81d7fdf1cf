import type { Clock } from './clock.ts';

/** Waits until the work settles, at most `ms`; the work continues. Leaves no timer behind. */
export async function orAfter(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  using _limit = clock.after(ms, resolve);
  const settled = () => resolve();
  await Promise.race([work.then(settled, settled), promise]);
}
