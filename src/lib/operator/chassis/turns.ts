/**
 * Limits concurrent work: up to `maxConcurrent` run, up to `maxWaiting` wait in order of arrival, and further ones get
 * `beyond` at once.
 */
export function createTurns(maxConcurrent: number, maxWaiting: number) {
  let running = 0;
  const waiting: (() => void)[] = [];

  return async function inTurn<T, B>(work: () => Promise<T>, beyond: B): Promise<T | B> {
    if (running >= maxConcurrent) {
      if (waiting.length >= maxWaiting) return beyond;
      // The finished work passes its slot on, so `running` does not change.
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
