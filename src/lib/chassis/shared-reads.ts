import { untilAborted } from '../lifecycle/index.ts';

/** What is under way for one key, and who waits for it. */
interface Running<T> {
  readonly result: Promise<T>;
  readonly ending: AbortController;
  waiting: number;
}

/**
 * Turns concurrent identical reads into one. A waiter that gives up leaves the others' read alone; when the last
 * one has given up the read itself is ended. Nothing is kept once it has arrived.
 */
export function createSharedReads<T>() {
  const running = new Map<string, Running<T>>();

  function begin(key: string, read: (signal: AbortSignal) => Promise<T>): Running<T> {
    const ending = new AbortController();
    const result = read(ending.signal).finally(() => {
      if (running.get(key)?.ending === ending) running.delete(key);
    });
    // Every waiter has its own branch; this one only keeps an abandoned read from counting as unhandled.
    result.catch(() => {});
    const entry = { result, ending, waiting: 0 };
    running.set(key, entry);
    return entry;
  }

  return async function share(
    key: string,
    signal: AbortSignal | undefined,
    read: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    signal?.throwIfAborted();
    const entry = running.get(key) ?? begin(key, read);
    entry.waiting += 1;
    try {
      return await untilAborted(signal, entry.result);
    } finally {
      entry.waiting -= 1;
      // A read that has arrived is out of the map already, and there is nothing left to end.
      if (entry.waiting === 0 && running.get(key) === entry) {
        // A newcomer must not join a read that has just been ended.
        running.delete(key);
        entry.ending.abort();
      }
    }
  };
}
