import type { MqttClient } from 'mqtt';
import { GwError } from '../../../error/index.ts';
import type { Clock } from '../../../lifecycle/index.ts';
import { createPendingAcks } from './acks.ts';
import type { MqttSession, SessionEnd } from './model.ts';

export interface PublishingOptions {
  readonly clock: Clock;
  readonly pubackMs: number;
  /** Whether the session still sends. */
  readonly isOpen: () => boolean;
  /** The broker has acknowledged nothing for too long. */
  readonly onSilence: (end: SessionEnd) => void;
}

/** The messages that are published on one session, until their PUBACKs. */
export interface Publishing extends Pick<MqttSession, 'publish'> {
  readonly unacknowledged: number;
  /** Called for each PUBACK, before the message that it settles. */
  onPuback(): void;
  /** The session has ended: rejects what is not acknowledged with CLOUD_NOT_CONNECTED. */
  end(): void;
}

export function createPublishing(
  client: Pick<MqttClient, 'publish'>,
  { clock, pubackMs, isOpen, onSilence }: PublishingOptions,
): Publishing {
  let strayAcks = 0;
  const acks = createPendingAcks(clock, pubackMs, (waitedMs) => onSilence({ kind: 'no-puback', waitedMs, strayAcks }));

  return {
    get unacknowledged() {
      return acks.size;
    },
    onPuback() {
      // Reduced again when it settles a message.
      strayAcks += 1;
    },
    end: () => acks.rejectAll(notConnected()),
    publish(topic, payload) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      if (!isOpen()) {
        reject(notConnected());
        return promise;
      }
      const settle = acks.add(reject);
      client.publish(
        topic,
        Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength),
        { qos: 1 },
        (error) => {
          settle();
          if (error) {
            reject(notConnected(error));
            return;
          }
          strayAcks -= 1;
          resolve();
        },
      );
      return promise;
    },
  };
}

function notConnected(cause?: unknown): GwError {
  return new GwError('CLOUD_NOT_CONNECTED', 'not connected: the connection to the cloud ended.', { cause });
}
