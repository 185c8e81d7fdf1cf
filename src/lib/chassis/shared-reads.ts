import { untilAborted } from '../lifecycle/index.ts';

/**
 * Coalesces concurrent identical reads into one. An aborted waiter does not affect the others; when the last one
 * has aborted, the read itself is aborted. Results are not cached.
 */
export function createSharedReads<T>() {
  const running = new Map<string, Running<T>>();

  function begin(key: string, read: (signal: AbortSignal) => Promise<T>): Running<T> {
    const ending = new AbortController();
    const result = read(ending.signal).finally(() => {
      if (running.get(key)?.ending === ending) running.delete(key);
    });
    // Each waiter handles its own rejection; an abandoned read must not count as unhandled.
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
      // A finished read is no longer in the map.
      if (entry.waiting === 0 && running.get(key) === entry) {
        // A new waiter must not join an aborted read.
        running.delete(key);
        entry.ending.abort();
      }
    }
  };
}

/** A read in progress for one key, with the number of its waiters. */
interface Running<T> {
  readonly result: Promise<T>;
  readonly ending: AbortController;
  waiting: number;
}
