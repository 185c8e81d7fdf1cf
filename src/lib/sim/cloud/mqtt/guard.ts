import type { Clock } from '../../../lifecycle/index.ts';
import type { Faults } from '../../faults.ts';
import { type BrokerLimits, type DiscardedPublish, topicProblem } from './limits.ts';
import {
  type ParsedPublish,
  packetIdOf,
  packetTypes,
  parseFilters,
  parsePublish,
  type RawPacket,
  withPacketId,
} from './packets.ts';

/** What becomes of a packet of the client. */
type Verdict = 'forward' | 'discard' | { readonly close: string };

/** Limits, policy and faults of one connection, applied to its packets before and after the broker. */
export interface Guard {
  inbound(packet: RawPacket): Verdict;
  /** The bytes to send for a packet of the broker; empty: it is lost. */
  outbound(packet: RawPacket): readonly Buffer[];
}

export interface GuardOptions {
  /** By the certificate of the client. */
  readonly serial: string;
  readonly limits: BrokerLimits;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly faults: Pick<Faults, 'is'>;
  readonly onDiscard: (reason: DiscardedPublish) => void;
}

const SECOND_MS = 1_000;
/** Number of packet ids, 1 to 65535. */
const PACKET_IDS = 0xffff;

export function createGuard({ serial, limits, clock, faults, onDiscard }: GuardOptions): Guard {
  /** Times of the last publishes in both directions, oldest first. */
  const recent: number[] = [];
  const inFlight = new Set<number>();
  const filters = new Set<string>();
  /** Packet ids of copies that the broker does not know. */
  const copies = new Set<number>();

  function isAboveRate(): boolean {
    const now = clock.monotonicMs();
    while (now - (recent[0] ?? now) >= SECOND_MS) recent.shift();
    return recent.length >= limits.maxPublishesPerSecond;
  }

  function discard(reason: DiscardedPublish): Verdict {
    onDiscard(reason);
    return 'discard';
  }

  function publishVerdict(publish: ParsedPublish | undefined): Verdict {
    if (publish === undefined) return { close: 'a malformed PUBLISH' };
    const { topic, qos, retain, packetId, payload } = publish;
    if (payload.length > limits.maxPayloadBytes) return { close: `a payload of ${payload.length} bytes` };
    const problem = topicProblem(topic, serial, limits);
    if (problem !== undefined) return { close: `a PUBLISH to ${problem}` };
    if (retain) return { close: 'a retained PUBLISH' };
    if (qos === 2) return discard('qos-2');
    if (packetId !== null && !inFlight.has(packetId) && inFlight.size >= limits.maxInFlight) {
      return discard('in-flight');
    }
    if (isAboveRate()) return discard('rate');
    recent.push(clock.monotonicMs());
    if (packetId !== null) inFlight.add(packetId);
    return 'forward';
  }

  function subscribeVerdict(asked: readonly string[] | undefined): Verdict {
    if (asked === undefined) return { close: 'a malformed SUBSCRIBE' };
    if (asked.length > limits.maxFiltersPerSubscribe) return { close: `${asked.length} filters in one SUBSCRIBE` };
    for (const filter of asked) {
      const problem = topicProblem(filter, serial, limits);
      if (problem !== undefined) return { close: `a SUBSCRIBE to ${problem}` };
      filters.add(filter);
    }
    if (filters.size > limits.maxSubscriptions) return { close: `${filters.size} subscriptions` };
    return 'forward';
  }

  return {
    inbound(packet) {
      switch (packet.type) {
        case packetTypes.publish:
          return publishVerdict(parsePublish(packet));
        case packetTypes.subscribe:
          return subscribeVerdict(parseFilters(packet));
        case packetTypes.puback:
          return copies.delete(packetIdOf(packet) ?? 0) ? 'discard' : 'forward';
        // Of QoS 2, which is not supported.
        case packetTypes.pubrec:
        case packetTypes.pubrel:
        case packetTypes.pubcomp:
          return 'discard';
        default:
          return 'forward';
      }
    },
    outbound(packet) {
      if (packet.type === packetTypes.puback) {
        if (faults.is('cloud-puback-lost')) return [];
        inFlight.delete(packetIdOf(packet) ?? 0);
      }
      if (packet.type === packetTypes.publish) {
        recent.push(clock.monotonicMs());
        const packetId = parsePublish(packet)?.packetId ?? null;
        if (packetId !== null && faults.is('cloud-duplicates')) {
          // Far from the ids that the broker uses next.
          const copyId = ((packetId + (PACKET_IDS >> 1)) % PACKET_IDS) + 1;
          copies.add(copyId);
          return [packet.bytes, withPacketId(packet, copyId)];
        }
      }
      return [packet.bytes];
    },
  };
}
