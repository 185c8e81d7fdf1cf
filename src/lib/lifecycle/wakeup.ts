import type { Clock } from './clock.ts';

/** Wakes one waiting loop. A call of `wake` before the wait is not lost. */
export interface Wakeup {
  wake(): void;
  wait(): Promise<void>;
}

export function createWakeup(): Wakeup {
  let isDue = false;
  let resolveWait: (() => void) | null = null;
  return {
    wake() {
      isDue = true;
      resolveWait?.();
    },
    async wait() {
      if (!isDue) {
        const { promise, resolve } = Promise.withResolvers<void>();
        resolveWait = resolve;
        await promise;
        resolveWait = null;
      }
      isDue = false;
    },
  };
}

/** Waits until the work settles, at most `ms`; the work continues. Leaves no timer behind. */
export async function orAfter(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  using _limit = clock.after(ms, resolve);
  const settled = () => resolve();
  await Promise.race([work.then(settled, settled), promise]);
}
