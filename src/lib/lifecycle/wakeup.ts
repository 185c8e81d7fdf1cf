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
