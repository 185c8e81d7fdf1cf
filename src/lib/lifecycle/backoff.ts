import type { Clock } from './clock.ts';

export interface BackoffOptions {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** Exponential backoff up to a limit, with jitter in the upper half, so that a fleet does not retry in step. */
export function createBackoff(options: BackoffOptions, clock: Pick<Clock, 'random'>) {
  let attempt = 0;
  return {
    /** The wait before the next attempt, in milliseconds. */
    nextMs(): number {
      const whole = Math.min(options.maxMs, options.firstMs * 2 ** attempt);
      attempt += 1;
      return whole / 2 + clock.random() * (whole / 2);
    },
    /** After a success, or after it has run long enough to count as one. */
    reset(): void {
      attempt = 0;
    },
  };
}
