import type { Clock } from '../../../lifecycle/index.ts';

const CHECKS = 20;

/**
 * Published messages without PUBACK. A broker acknowledges in order (MQTT 3.1.1, 4.6), so only the wait for the first one
 * counts: a long queue over a slow network makes progress, and one lost PUBACK does not hide behind later ones.
 */
interface PendingAcks {
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

/** How long later messages wait for an earlier one. A disk that fails for hours must not hold up all other messages. */
const MAX_ORDERED_MS = 3_000;

/** PUBACKs for received messages: in their order, as long as each is handled soon. @source MQTT 3.1.1, 4.6 */
export interface InboundAcks extends Disposable {
  /** Acknowledges when `handled` resolves, which may be never. */
  add(messageId: number, handled: Promise<void>): void;
}

interface Entry {
  readonly messageId: number;
  state: 'pending' | 'passed-over' | 'handled';
  readonly limit: Disposable;
}

export function createInboundAcks(clock: Pick<Clock, 'after'>, send: (messageId: number) => void): InboundAcks {
  const waiting = new Set<Entry>();

  function flush(): void {
    for (const entry of waiting) {
      if (entry.state === 'pending') return;
      if (entry.state === 'passed-over') continue;
      waiting.delete(entry);
      entry.limit[Symbol.dispose]();
      send(entry.messageId);
    }
  }

  return {
    add(messageId, handled) {
      const limit = clock.after(MAX_ORDERED_MS, () => {
        entry.state = 'passed-over';
        flush();
      });
      const entry: Entry = { messageId, state: 'pending', limit };
      waiting.add(entry);
      void handled.then(() => {
        entry.state = 'handled';
        flush();
      });
    },
    [Symbol.dispose]() {
      for (const { limit } of waiting) limit[Symbol.dispose]();
      waiting.clear();
    },
  };
}
