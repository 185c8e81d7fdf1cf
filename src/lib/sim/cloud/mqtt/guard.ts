import { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../../lifecycle/index.ts';
import type { Faults } from '../../faults.ts';
import {
  createPacketReader,
  type ParsedPublish,
  packetIdOf,
  packetTypes,
  parseFilters,
  parsePublish,
  type RawPacket,
  withPacketId,
} from './packets.ts';

/** Limits of the broker for each connection. */
export interface BrokerLimits {
  /** A larger payload closes the connection. */
  readonly maxPayloadBytes: number;
  /** Sent and received; further publishes of the client are discarded without PUBACK. */
  readonly maxPublishesPerSecond: number;
  /** Unacknowledged publishes of the client with QoS 1; further ones are discarded without PUBACK. */
  readonly maxInFlight: number;
  /** More topic filters in one SUBSCRIBE close the connection. */
  readonly maxFiltersPerSubscribe: number;
  /** More topic filters on one connection close it. */
  readonly maxSubscriptions: number;
  readonly maxTopicBytes: number;
  readonly maxSlashes: number;
}

/** @source vendor, quota pages (HINWEIS) */
export const vendorLimits: BrokerLimits = {
  maxPayloadBytes: 128 * 1024,
  maxPublishesPerSecond: 100,
  maxInFlight: 100,
  maxFiltersPerSubscribe: 8,
  maxSubscriptions: 50,
  maxTopicBytes: 256,
  maxSlashes: 7,
};

/** Why the broker ignored a publish: without PUBACK, as a common vendor does. */
export type DiscardedPublish = 'qos-2' | 'rate' | 'in-flight';

/**
 * Why a topic or filter is not allowed for a device; undefined when it is. Its serial number must be one of the path
 * elements.
 */
export function topicProblem(topic: string, serial: string, limits: BrokerLimits): string | undefined {
  const elements = topic.split('/');
  if (Buffer.byteLength(topic) > limits.maxTopicBytes) return `a topic of more than ${limits.maxTopicBytes} bytes`;
  if (elements.length - 1 > limits.maxSlashes) return `a topic with more than ${limits.maxSlashes} slashes`;
  if (!elements.includes(serial)) return `the topic '${topic}' without its serial number`;
  return undefined;
}

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

interface GuardedStreamOptions {
  readonly guard: Guard;
  readonly clock: Pick<Clock, 'monotonicMs' | 'after'>;
  /** Delay of what the broker sends now. */
  readonly delayMs: () => number;
  readonly onClose: (reason: string) => void;
}

/** Of a client; larger than any packet that the limits allow. */
const MAX_PACKET_BYTES = 1024 * 1024;

/** The connection of a client as the broker sees it: only complete packets that the guard forwards. */
export function createGuardedStream(socket: TLSSocket, options: GuardedStreamOptions): Duplex {
  const { guard, clock, delayMs, onClose } = options;
  const received = createPacketReader(MAX_PACKET_BYTES);
  const sent = createPacketReader();
  /** Late packets in order; one timer for each. */
  const late: { readonly bytes: Buffer; readonly dueMs: number }[] = [];
  const timers = new Set<Disposable>();

  const stream = new Duplex({
    read: () => void socket.resume(),
    write: (chunk: Buffer, _encoding, done) => send(chunk, done),
    writev: (chunks, done) => send(Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer)), done),
    final(done) {
      socket.end();
      done();
    },
    destroy(error, done) {
      for (const timer of timers) timer[Symbol.dispose]();
      socket.destroy();
      done(error);
    },
  });

  function close(reason: string): void {
    onClose(reason);
    stream.destroy();
  }

  /** False when the connection was closed. */
  function receive(packet: RawPacket): boolean {
    const verdict = guard.inbound(packet);
    if (typeof verdict === 'object') {
      close(verdict.close);
      return false;
    }
    if (verdict === 'forward' && !stream.push(packet.bytes)) socket.pause();
    return true;
  }

  function send(chunk: Buffer, done: (error?: Error | null) => void): void {
    const bytes = Buffer.concat((sent.read(chunk) ?? []).flatMap((packet) => guard.outbound(packet)));
    if (bytes.length === 0) {
      done();
      return;
    }
    const delay = delayMs();
    if (delay === 0 && late.length === 0) {
      socket.write(bytes, done);
      return;
    }
    const now = clock.monotonicMs();
    const dueMs = Math.max(now + delay, late.at(-1)?.dueMs ?? 0);
    late.push({ bytes, dueMs });
    const timer = clock.after(dueMs - now, () => {
      timers.delete(timer);
      const next = late.shift();
      if (next !== undefined) socket.write(next.bytes);
    });
    timers.add(timer);
    done();
  }

  socket.on('data', (chunk: Buffer) => {
    const packets = received.read(chunk);
    if (packets === null) close('malformed data');
    else packets.every(receive);
  });
  socket.on('end', () => stream.push(null));
  socket.on('error', () => stream.destroy());
  socket.on('close', () => stream.destroy());
  return stream;
}
