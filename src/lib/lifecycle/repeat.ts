import type { Clock } from './clock.ts';

export interface RepeatedWork {
  readonly everyMs: number;
  /** Rejects never. */
  work(): Promise<unknown>;
  /** Work that takes so long, such as on a disk that does not answer, is reported each time it would have begun again. */
  readonly hungMs: number;
  onHung(): void;
}

/** Does the same work again and again until it is disposed, never twice at a time. `tick` does not wait for the first time. */
export function repeat(clock: Clock, { everyMs, work, hungMs, onHung }: RepeatedWork): Disposable & { tick(): void } {
  let sinceMs: number | null = null;
  function tick(): void {
    const nowMs = clock.monotonicMs();
    if (sinceMs === null) {
      sinceMs = nowMs;
      void work().finally(() => {
        sinceMs = null;
      });
    } else if (nowMs - sinceMs >= hungMs) onHung();
  }
  const ticking = clock.every(everyMs, tick);
  return { tick, [Symbol.dispose]: () => ticking[Symbol.dispose]() };
}
