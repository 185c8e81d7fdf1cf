import type { Clock } from '../../lifecycle/index.ts';

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
