/**
 * Calls `fn` when the signal is aborted, immediately if it already is. Disposing removes the listener, so that a
 * signal that outlives the work keeps no reference to it.
 */
export function onAbort(signal: AbortSignal | undefined, fn: () => void): Disposable {
  if (signal?.aborted) fn();
  else signal?.addEventListener('abort', fn, { once: true });
  return { [Symbol.dispose]: () => signal?.removeEventListener('abort', fn) };
}

/** Waits for work, but no longer than the signal; rejects with its reason then, and the work goes on. */
export async function untilAborted<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  using _aborted = onAbort(signal, () => reject(signal?.reason));
  return await Promise.race([work, promise]);
}

/** Resolves when the signal is aborted. */
export async function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  using _aborted = onAbort(signal, resolve);
  await promise;
}

/**
 * Aborted with the first of these, for its reason. A signal that outlives the result keeps it while it has a listener, so
 * listeners on it are removed when the work ends (`onAbort`).
 */
export function firstOf(...signals: readonly (AbortSignal | undefined)[]): AbortSignal {
  return AbortSignal.any(signals.filter((signal) => signal !== undefined));
}

/** Aborted with the signal, or after so many milliseconds of real time with a TimeoutError. */
export function withDeadline(signal: AbortSignal, ms: number): AbortSignal {
  return firstOf(signal, AbortSignal.timeout(ms));
}
