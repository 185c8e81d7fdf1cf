import type { MqttClient } from 'mqtt';
import type { Log } from '../../../lifecycle/index.ts';
import type { CloudLinkOptions } from '../model.ts';
import type { InboundAcks } from './acks.ts';
import type { PacketLimit } from './packet-limit.ts';

export interface ReceivedOptions extends Pick<CloudLinkOptions, 'onMessage'> {
  readonly limit: Pick<PacketLimit, 'nextPublish'>;
  readonly acks: Pick<InboundAcks, 'add'>;
  readonly log: Log;
}

/** Gives each received message to `onMessage`, in order, and has it acknowledged when it was handled. */
export function passReceived({ onMessage, limit, acks, log }: ReceivedOptions): MqttClient['handleMessage'] {
  return ({ topic, payload, retain, dup, qos, messageId = 0 }, done) => {
    const oversizedBytes = limit.nextPublish();
    let handled: Promise<void> | undefined;
    try {
      const packetId = qos === 1 ? messageId : null;
      handled = onMessage({ topic, payload: payload as Buffer, retain, dup, packetId, oversizedBytes });
    } catch (error) {
      // Acknowledged all the same: the broker would send it again for ever.
      log.error({ error: String(error), topic }, 'a received cloud message could not be handled');
    }
    if (qos === 1) acks.add(messageId, handled ?? Promise.resolve());
    // With an error the client goes on to the next packet without a PUBACK of its own; without one it would wait for it.
    done(qos === 1 ? new Error('acknowledged by inboundAcks') : undefined);
  };
}
