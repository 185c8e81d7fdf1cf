import type { MqttClient } from 'mqtt';
import { type Clock, onAbort } from '../../../lifecycle/index.ts';
import type { MqttSession } from './model.ts';
import { MAX_FILTERS } from './packet-limit.ts';

const SUBACK_TIMEOUT_MS = 5_000;

/** Subscribes and unsubscribes, in packets of at most MAX_FILTERS filters. */
export function createSubscriptions(
  client: Pick<MqttClient, 'subscribe' | 'unsubscribe'>,
  { clock, ended }: { readonly clock: Clock; readonly ended: AbortSignal },
): Pick<MqttSession, 'subscribe' | 'unsubscribe'> {
  /** One request at a time; `undefined` when the broker has not acknowledged it in time. */
  const acknowledged = async <T>(send: (done: (error: unknown, packet?: T) => void) => void) => {
    const { promise, resolve } = Promise.withResolvers<T | 'closed' | 'late' | undefined>();
    using _late = clock.after(SUBACK_TIMEOUT_MS, () => resolve('late'));
    using _ended = onAbort(ended, () => resolve('closed'));
    send((_error, packet) => resolve(packet));
    return await promise;
  };

  return {
    async subscribe(filters) {
      const withQos0: string[] = [];
      for (const batch of batches(filters)) {
        const askedMs = clock.monotonicMs();
        const suback = await acknowledged<{ readonly granted?: readonly unknown[] }>((done) =>
          client.subscribe([...batch], { qos: 1 }, (error, _granted, packet) => done(error, packet as never)),
        );
        if (suback === 'late') return { kind: 'no-suback', tookMs: Math.round(clock.monotonicMs() - askedMs) };
        if (suback === 'closed' || suback === undefined) return { kind: 'closed' };
        const codes = (suback.granted ?? []).map(Number);
        for (const [index, filter] of batch.entries()) {
          const code = codes[index] ?? 0x80;
          if (code > 2) return { kind: 'rejected', filter, code };
          if (code === 0) withQos0.push(filter);
        }
      }
      return { kind: 'subscribed', withQos0 };
    },

    async unsubscribe(filters) {
      for (const batch of batches(filters)) {
        const unsuback = await acknowledged<object>((done) =>
          client.unsubscribe([...batch], (error, packet) => done(error, packet as never)),
        );
        if (typeof unsuback !== 'object') return false;
      }
      return true;
    },
  };
}

function* batches(filters: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < filters.length; at += MAX_FILTERS) yield filters.slice(at, at + MAX_FILTERS);
}
