import type { StoreThread } from './thread/store-thread.ts';

/** Removals that may wait for the disk; beyond it nothing more is sent, so that a restart resends no more than that. */
const MAX_WAITING = 10_000;
/** Keys in one transaction. */
const MAX_BATCH = 1_000;

/** Removes acknowledged messages from the disk, in groups: those that arrive during one removal share the next one. */
export interface Remover {
  add(key: number): void;
  /** Acknowledged, and perhaps still on the disk. */
  has(key: number): boolean;
  readonly isBehind: boolean;
  /** Tries again after a failure. */
  retry(): void;
  /** Resolves when nothing waits any more, or a removal has failed. */
  flush(): Promise<void>;
}

export function createRemover(thread: Pick<StoreThread, 'call'>, onProgress: () => void): Remover {
  const waiting = new Set<number>();
  let work: Promise<void> | null = null;

  async function remove(): Promise<void> {
    while (waiting.size > 0) {
      const keys = [...waiting].slice(0, MAX_BATCH);
      const outcome = await thread.call('remove', { keys });
      // Those that are left are tried again with the next acknowledgement, or when the disk works again.
      if (outcome.kind !== 'done') break;
      for (const key of keys) waiting.delete(key);
      onProgress();
    }
    work = null;
  }

  function start(): Promise<void> {
    work ??= remove();
    return work;
  }

  return {
    add(key) {
      waiting.add(key);
      void start();
    },
    has: (key) => waiting.has(key),
    get isBehind() {
      return waiting.size >= MAX_WAITING;
    },
    retry: () => void start(),
    flush: start,
  };
}
