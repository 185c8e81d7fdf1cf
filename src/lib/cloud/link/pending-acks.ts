import type { Clock } from '../../lifecycle/index.ts';

const CHECKS = 20;

/**
 * Published messages without PUBACK. A broker acknowledges in order (MQTT 3.1.1, 4.6), so only the wait for the first one
 * counts: a long queue over a slow network makes progress, and one lost PUBACK does not hide behind later ones.
 */
export interface PendingAcks {
  /** Returns a function to call on PUBACK. `reject` is called when the connection ends before. */
  add(reject: (error: Error) => void): () => void;
  readonly size: number;
  /** Rejects all. */
  rejectAll(error: Error): void;
}

export function createPendingAcks(clock: Clock, timeoutMs: number, onTimeout: (waitedMs: number) => void): PendingAcks {
  const pending = new Map<number, (error: Error) => void>();
  let next = 0;
  let firstSinceMs = 0;
  let timer: Disposable | undefined;
  const stop = () => {
    timer?.[Symbol.dispose]();
    timer = undefined;
  };
  const check = () => {
    const waitedMs = clock.monotonicMs() - firstSinceMs;
    if (pending.size > 0 && waitedMs >= timeoutMs) onTimeout(waitedMs);
  };
  return {
    add(reject) {
      const key = next;
      next += 1;
      if (pending.size === 0) firstSinceMs = clock.monotonicMs();
      pending.set(key, reject);
      timer ??= clock.every(timeoutMs / CHECKS, check);
      return () => {
        const [first] = pending.keys();
        if (!pending.delete(key)) return;
        if (key === first) firstSinceMs = clock.monotonicMs();
        if (pending.size === 0) stop();
      };
    },
    get size() {
      return pending.size;
    },
    rejectAll(error) {
      stop();
      const rejected = [...pending.values()];
      pending.clear();
      for (const reject of rejected) reject(error);
    },
  };
}
