import { Readable } from 'node:stream';
import type { IClientOptions } from 'mqtt';
import type { Clock } from '../../../lifecycle/index.ts';

/** Project decision: shorter than the idle timeout of common NAT and firewall tables. */
export const KEEPALIVE_S = 30;

/** How the MQTT client connects: with a persistent session and the last will, without reconnects of its own. */
export function clientOptions({
  clientId,
  will,
  timeoutMs,
  clock,
}: {
  readonly clientId: string;
  readonly will: { readonly topic: string; readonly payload: Uint8Array };
  /** How long CONNACK is waited for. */
  readonly timeoutMs: number;
  readonly clock: Clock;
}): IClientOptions {
  return {
    clientId,
    protocolVersion: 4,
    clean: false,
    keepalive: KEEPALIVE_S,
    reconnectPeriod: 0,
    resubscribe: false,
    queueQoSZero: false,
    // Otherwise a buffer for each of 65,536 numbers is kept, 7 MB.
    writeCache: false,
    // The wait for CONNACK ends by the injected clock before.
    connectTimeout: 10 * timeoutMs,
    will: { topic: will.topic, payload: Buffer.from(will.payload), qos: 1, retain: false },
    outgoingStore: noStore,
    timerVariant: {
      set: (fn: () => void, ms: number) => clock.every(ms, fn),
      clear: (timer: Disposable) => timer[Symbol.dispose](),
    },
  } as unknown as IClientOptions;
}

/** Nothing is sent again on a later connection: the outbox does that. */
const noStore = {
  put(_packet: unknown, done: (error?: Error) => void) {
    done();
    return noStore;
  },
  del(_packet: unknown, done: (error?: Error) => void) {
    done();
    return noStore;
  },
  get(_packet: unknown, done: (error?: Error) => void) {
    done(new Error('no such packet'));
    return noStore;
  },
  createStream: () => Readable.from([]),
  close(done: (error?: Error) => void) {
    done();
  },
};
