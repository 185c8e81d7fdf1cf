// The connection of the tests of the outbox to a broker: QoS 1 over the client library, without the link of gw.
import { connect } from 'mqtt';
import type { Publisher } from '../../src/lib/cloud/outbox/model.ts';

export interface TestConnection extends Publisher {
  /** Aborted when the connection ends. */
  readonly ended: AbortSignal;
  close(): void;
}

/** Connects once; rejects when that fails. */
export async function connectTo(port: number, clientId: string): Promise<TestConnection> {
  const client = connect({
    host: '127.0.0.1',
    port,
    clientId,
    clean: true,
    reconnectPeriod: 0,
    connectTimeout: 2_000,
    queueQoSZero: false,
  });
  const ended = new AbortController();
  const pending = new Set<(error: Error) => void>();
  const connected = Promise.withResolvers<void>();
  client.on('connect', () => connected.resolve());
  client.on('error', (error) => connected.reject(error));
  client.on('close', () => {
    const error = new Error('connection lost');
    connected.reject(error);
    ended.abort(error);
    for (const reject of pending) reject(error);
    pending.clear();
    client.end(true);
  });
  await connected.promise;
  return {
    ended: ended.signal,
    publish(topic, payload) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      if (ended.signal.aborted) return Promise.reject(ended.signal.reason);
      pending.add(reject);
      client.publish(
        topic,
        Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength),
        { qos: 1 },
        (error) => {
          pending.delete(reject);
          if (error) reject(error);
          else resolve();
        },
      );
      return promise;
    },
    close: () => void client.end(true),
  };
}
