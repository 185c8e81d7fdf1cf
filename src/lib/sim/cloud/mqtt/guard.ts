import { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { IPublishPacket, ISubscribePacket, Packet } from 'mqtt-packet';
import type { Clock } from '../../../lifecycle/index.ts';
import type { Faults } from '../../faults.ts';

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

/** What becomes of a packet of the client. */
type Verdict = 'forward' | 'discard' | { readonly close: string };

/** Limits, policy and faults of one connection, applied to its packets before and after the broker. */
export interface Guard {
  inbound(packet: Packet): Verdict;
  /** What to send for a packet of the broker; nothing: it is lost. */
  outbound(packet: Packet): readonly Packet[];
}

export interface GuardOptions {
  /** By the certificate of the client. */
  readonly serial: string;
  readonly limits: BrokerLimits;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly faults: Pick<Faults, 'is'>;
  readonly onDiscard: (reason: DiscardedPublish) => void;
  /** Packet ids that this client has not acknowledged, over all of its connections. */
  readonly unacknowledged: Set<number>;
}

const SECOND_MS = 1_000;
/** Number of packet ids, 1 to 65535. */
const PACKET_IDS = 0xffff;

export function createGuard({ serial, limits, clock, faults, onDiscard, unacknowledged }: GuardOptions): Guard {
  /** Times of the last publishes in both directions, oldest first. */
  const recent: number[] = [];
  const inFlight = new Set<number>();
  const filters = new Set<string>();
  /** Packet ids of copies that the broker does not know. */
  const copies = new Set<number>();

  /**
   * What the library leaves out of a message that waited in the session: it is marked as delivered again where it was
   * (MQTT 3.1.1, 3.3.1.1), and otherwise is no retained message, which only a SUBSCRIBE brings (3.3.1.3).
   */
  function asMarked(packet: IPublishPacket): IPublishPacket {
    const { messageId } = packet;
    const isRestored = filters.size === 0;
    const dup = isRestored && messageId !== undefined && unacknowledged.has(messageId);
    if (messageId !== undefined) unacknowledged.add(messageId);
    return isRestored ? { ...packet, dup, retain: packet.retain && dup } : packet;
  }

  function isAboveRate(): boolean {
    const now = clock.monotonicMs();
    while (now - (recent[0] ?? now) >= SECOND_MS) recent.shift();
    return recent.length >= limits.maxPublishesPerSecond;
  }

  function discard(reason: DiscardedPublish): Verdict {
    onDiscard(reason);
    return 'discard';
  }

  function publishVerdict({ topic, qos, retain, messageId, payload }: IPublishPacket): Verdict {
    if (payload.length > limits.maxPayloadBytes) return { close: `a payload of ${payload.length} bytes` };
    const problem = topicProblem(topic, serial, limits);
    if (problem !== undefined) return { close: `a PUBLISH to ${problem}` };
    if (retain) return { close: 'a retained PUBLISH' };
    if (qos === 2) return discard('qos-2');
    if (messageId !== undefined && !inFlight.has(messageId) && inFlight.size >= limits.maxInFlight) {
      return discard('in-flight');
    }
    if (isAboveRate()) return discard('rate');
    recent.push(clock.monotonicMs());
    if (messageId !== undefined) inFlight.add(messageId);
    return 'forward';
  }

  function subscribeVerdict({ subscriptions }: ISubscribePacket): Verdict {
    const asked = subscriptions.map(({ topic }) => topic);
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
      switch (packet.cmd) {
        case 'publish':
          return publishVerdict(packet);
        case 'subscribe':
          return subscribeVerdict(packet);
        case 'puback':
          unacknowledged.delete(packet.messageId ?? 0);
          return copies.delete(packet.messageId ?? 0) ? 'discard' : 'forward';
        // Of QoS 2, which is not supported.
        case 'pubrec':
        case 'pubrel':
        case 'pubcomp':
          return 'discard';
        default:
          return 'forward';
      }
    },
    outbound(packet) {
      if (packet.cmd === 'puback') {
        if (faults.is('cloud-puback-lost')) return [];
        inFlight.delete(packet.messageId ?? 0);
      }
      if (packet.cmd !== 'publish') return [packet];
      recent.push(clock.monotonicMs());
      const marked = asMarked(packet);
      if (marked.messageId === undefined || !faults.is('cloud-duplicates')) return [marked];
      // Far from the ids that the broker uses next.
      const messageId = ((marked.messageId + (PACKET_IDS >> 1)) % PACKET_IDS) + 1;
      copies.add(messageId);
      return [marked, { ...marked, messageId }];
    },
  };
}

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

/** Of the library, which is loaded on demand. */
type MqttCodec = Pick<typeof import('mqtt-packet'), 'parser' | 'generate'>;

interface GuardedStreamOptions {
  readonly codec: MqttCodec;
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
  const { codec, guard, clock, delayMs, onClose } = options;
  const received = codec.parser();
  const sent = codec.parser();
  /** Of a packet that is not complete. */
  let pendingBytes = 0;
  let outgoing: Packet[] = [];
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
    if (stream.destroyed) return;
    onClose(reason);
    stream.destroy();
  }

  received.on('packet', (packet) => {
    pendingBytes = 0;
    if (stream.destroyed) return;
    const verdict = guard.inbound(packet);
    if (typeof verdict === 'object') close(verdict.close);
    else if (verdict === 'forward' && !stream.push(codec.generate(packet))) socket.pause();
  });
  received.on('error', () => close('malformed data'));
  sent.on('packet', (packet) => outgoing.push(...guard.outbound(packet)));

  function send(chunk: Buffer, done: (error?: Error | null) => void): void {
    sent.parse(chunk);
    const bytes = Buffer.concat(outgoing.map((packet) => codec.generate(packet)));
    outgoing = [];
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
    if (stream.destroyed) return;
    pendingBytes += chunk.length;
    try {
      received.parse(chunk);
    } catch {
      // A packet that the library reads and cannot write.
      close('malformed data');
    }
    if (pendingBytes > MAX_PACKET_BYTES) close('malformed data');
  });
  socket.on('end', () => stream.push(null));
  socket.on('error', () => stream.destroy());
  socket.on('close', () => stream.destroy());
  return stream;
}
