import { setTimeout as sleepUntil } from 'node:timers/promises';

/**
 * Time and randomness, injected for tests. No safety or replay decision may use `wall`: a site may have no time server,
 * so the wall clock is for human-readable records only.
 */
export interface Clock {
  /** Monotonic clock in milliseconds; the origin is arbitrary. */
  monotonicMs(): number;
  /** For records only. */
  wall(): Date;
  /** Rejects with the signal's reason when aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `fn` every `ms` until disposed; does not keep the process alive. */
  every(ms: number, fn: () => void): Disposable;
  /** Calls `fn` once after `ms` unless disposed; does not keep the process alive. */
  after(ms: number, fn: () => void): Disposable;
  /** In [0, 1). */
  random(): number;
}

/**
 * At least so long ago was a moment of this run of the program: the longer span of both clocks, since the monotonic clock
 * stands still while the machine sleeps, and the wall clock may have been set.
 */
export function longestAgeMs(
  clock: Pick<Clock, 'monotonicMs' | 'wall'>,
  { atMs, at }: { readonly atMs: number; readonly at: string },
): number {
  const byWall = clock.wall().getTime() - Date.parse(at);
  return Math.max(0, Math.round(clock.monotonicMs() - atMs), Number.isNaN(byWall) ? 0 : byWall);
}

export const systemClock: Clock = {
  monotonicMs: () => performance.now(),
  wall: () => new Date(),
  sleep: async (ms, signal) => {
    try {
      await sleepUntil(ms, undefined, signal ? { signal } : {});
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    }
  },
  every(ms, fn) {
    const timer = setInterval(fn, ms);
    timer.unref();
    return { [Symbol.dispose]: () => clearInterval(timer) };
  },
  after(ms, fn) {
    const timer = setTimeout(fn, ms);
    timer.unref();
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
  random: () => (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32,
};
