/**
 * Lets so many pieces of work run at once and so many wait; whatever comes beyond that gets `beyond` at once. Those
 * that wait begin in the order in which they came.
 */
export function createTurns(mostAtOnce: number, mostWaiting: number) {
  let running = 0;
  const waiting: (() => void)[] = [];

  return async function inTurn<T, B>(work: () => Promise<T>, beyond: B): Promise<T | B> {
    if (running >= mostAtOnce) {
      if (waiting.length >= mostWaiting) return beyond;
      // Whoever ends hands the turn on, so `running` stays as it is.
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
