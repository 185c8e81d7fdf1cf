import type { Clock } from '../../lifecycle/index.ts';
import type { StoreThread } from './thread/store-thread.ts';

/** Removals that may wait for the disk; beyond it nothing more is sent, so that a restart resends no more than that. */
const MAX_WAITING = 10_000;
/** Keys in one transaction. */
const MAX_BATCH = 2_000;
/** A transaction is made for so many keys, or after so long. */
const ENOUGH = 500;
const DELAY_MS = 100;

/** Removes acknowledged messages from the disk, in groups. */
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

export function createRemover(thread: Pick<StoreThread, 'call'>, clock: Clock, onProgress: () => void): Remover {
  const waiting = new Set<number>();
  let work: Promise<void> | null = null;
  let timer: Disposable | null = null;

  async function remove(): Promise<void> {
    timer?.[Symbol.dispose]();
    timer = null;
    let isFailed = false;
    while (waiting.size > 0) {
      const keys = [...waiting].slice(0, MAX_BATCH);
      const outcome = await thread.call('remove', { keys });
      // Those that are left are tried again with the next acknowledgement, or when the disk works again.
      isFailed = outcome.kind !== 'done';
      if (isFailed) break;
      for (const key of keys) waiting.delete(key);
      onProgress();
      if (waiting.size < ENOUGH) break;
    }
    work = null;
    if (waiting.size > 0 && !isFailed) schedule();
  }

  function start(): Promise<void> {
    // Without any key `remove` would end before `work` is set, which would stay set.
    if (waiting.size === 0) return Promise.resolve();
    work ??= remove();
    return work;
  }

  function schedule(): void {
    if (work !== null || waiting.size === 0) return;
    if (waiting.size >= ENOUGH) void start();
    else timer ??= clock.after(DELAY_MS, () => void start());
  }

  return {
    add(key) {
      waiting.add(key);
      schedule();
    },
    has: (key) => waiting.has(key),
    get isBehind() {
      return waiting.size >= MAX_WAITING;
    },
    retry: schedule,
    async flush() {
      await work;
      await start();
      timer?.[Symbol.dispose]();
    },
  };
}
