import type { Clock } from '../../lifecycle/index.ts';

export interface SharedReading<T> {
  /** The reading under way, or the last one while it counts. */
  get(): Promise<T>;
  /** What was read no longer holds, nor what is being read. */
  forget(): void;
}

/**
 * One reading for everyone who asks while it is under way and for `keepMs` after it, so that a hundred readers cost no more
 * than one. A reading that failed is not kept.
 */
export function createSharedReading<T>(
  read: () => Promise<T>,
  keepMs: number,
  clock: Pick<Clock, 'monotonicMs'>,
): SharedReading<T> {
  let last: { readonly value: Promise<T>; untilMs: number } | null = null;
  return {
    get() {
      if (last !== null && clock.monotonicMs() < last.untilMs) return last.value;
      const mine = { value: read(), untilMs: Number.POSITIVE_INFINITY };
      last = mine;
      mine.value.then(
        () => {
          mine.untilMs = clock.monotonicMs() + keepMs;
        },
        () => {
          mine.untilMs = Number.NEGATIVE_INFINITY;
        },
      );
      return mine.value;
    },
    forget() {
      last = null;
    },
  };
}
