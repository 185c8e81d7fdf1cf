/** The longer it has waited, the more rarely it looks: each look may be a request, or a whole program. */
const POLL_MS = { first: 10, last: 100 };
const LONGER = 1.1;
/** A detector of hangs, and no more: below the limit of a test, so that the failure says what was last seen. */
export const HANG_MS = 100_000;

/**
 * Reads again and again until the value is as expected, and returns it. A state is waited for, never a duration: a slow
 * machine waits longer, and the verdict is the same. Rejects, with the last value, only where nothing moves any more.
 */
export async function until<T>(read: () => T | Promise<T>, isExpected: (value: T) => boolean): Promise<T> {
  const { promise: hung, reject } = Promise.withResolvers<never>();
  let last: T | undefined;
  const hangs = setTimeout(
    () => reject(new Error(`not seen within ${HANG_MS / 1000} s: ${isExpected}; last: ${shown(last)}`)),
    HANG_MS,
  );
  try {
    for (let ms = POLL_MS.first; ; ms = Math.min(POLL_MS.last, ms * LONGER)) {
      last = await Promise.race([read(), hung]);
      if (isExpected(last)) return last;
      await Promise.race([new Promise((wake) => setTimeout(wake, ms)), hung]);
    }
  } finally {
    clearTimeout(hangs);
  }
}

function shown(value: unknown): string {
  return (typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))).slice(0, 2_000);
}
