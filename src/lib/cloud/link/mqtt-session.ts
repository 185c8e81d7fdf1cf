import { Duplex, Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { IClientOptions } from 'mqtt';
import { GwError } from '../../error/index.ts';
import { type Clock, type Log, onAbort } from '../../lifecycle/index.ts';
import { createConnackReader, type MqttProbe, type PathConnection, type TlsFailure } from '../../net/path/index.ts';
import { createInboundAcks, createPendingAcks } from './acks.ts';
import type { CloudLinkOptions } from './model.ts';
import { createPacketLimit, MAX_FILTERS, PacketError } from './packet-limit.ts';

/** Project decision: shorter than the idle timeout of common NAT and firewall tables. */
export const KEEPALIVE_S = 30;
const SUBACK_TIMEOUT_MS = 5_000;
/** How long the broker may take to close the connection after DISCONNECT. */
const CLOSE_TIMEOUT_MS = 250;
/** @source MQTT 3.1.1, 3.14 */
const DISCONNECT = Buffer.from([0xe0, 0]);
/** @source MQTT 3.1.1, 3.4 */
const puback = (messageId: number) => Buffer.from([0x40, 2, messageId >> 8, messageId & 0xff]);

/** Why a session ended. */
export type SessionEnd =
  /** By the broker or the network, with so many messages without PUBACK. */
  | { readonly kind: 'closed'; readonly failure: TlsFailure; readonly unacknowledged: number }
  /** No answer to PINGREQ. */
  | { readonly kind: 'keepalive' }
  /** `strayAcks`: PUBACKs whose packet identifiers belong to no message. */
  | { readonly kind: 'no-puback'; readonly waitedMs: number; readonly strayAcks: number }
  /** The bytes received are not what MQTT allows, or gw accepts. */
  | { readonly kind: 'protocol'; readonly what: string }
  /** By gw: stop, renewal, return to the direct path. */
  | { readonly kind: 'own' };

export type SubscribeResult =
  | { readonly kind: 'subscribed'; readonly withQos0: readonly string[] }
  | { readonly kind: 'rejected'; readonly filter: string; readonly code: number }
  | { readonly kind: 'no-suback'; readonly tookMs: number }
  | { readonly kind: 'closed' };

/** An accepted MQTT session over one connection. */
export interface MqttSession {
  readonly sessionPresent: boolean;
  /** Aborted with the end. */
  readonly ended: AbortSignal;
  /** Why it ended; null while it has not. */
  end(): SessionEnd | null;
  /** When the last packet was received, by the monotonic clock. */
  lastPacketMs(): number;
  /** In order, at most eight filters a packet; stops at the first rejection. */
  subscribe(filters: readonly string[]): Promise<SubscribeResult>;
  /** Returns whether the broker has acknowledged it. */
  unsubscribe(filters: readonly string[]): Promise<boolean>;
  publish(topic: string, payload: Uint8Array): Promise<void>;
  /** Sends DISCONNECT, so that the last will is not published, and closes. */
  disconnect(): Promise<void>;
  /** Closes without DISCONNECT. */
  destroy(): void;
}

export interface MqttSessionOptions {
  /** The serial number. @source specification, 'Authentication' */
  readonly clientId: string;
  readonly will: { readonly topic: string; readonly payload: Uint8Array };
  readonly onMessage: CloudLinkOptions['onMessage'];
  readonly clock: Clock;
  readonly log: Log;
  /** Ends the wait for CONNACK, not the session. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly pubackMs: number;
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

/**
 * Sends CONNECT over a verified connection and waits for CONNACK. Without an accepted CONNACK the session is null and the
 * connection closed. Throws only the reason of the signal.
 */
export async function connectMqtt(
  connection: PathConnection,
  options: MqttSessionOptions,
): Promise<{ readonly probe: MqttProbe; readonly session: MqttSession | null }> {
  const { clientId, will, onMessage, clock, log, signal, timeoutMs } = options;
  const { tls } = connection;
  signal.throwIfAborted();
  const [{ MqttClient }, readConnack] = await Promise.all([import('mqtt'), createConnackReader()]);
  const beganMs = clock.monotonicMs();
  const tookMs = () => Math.round(clock.monotonicMs() - beganMs);
  const connack = Promise.withResolvers<MqttProbe>();
  const over = new AbortController();
  let end: SessionEnd | null = null;
  let lastPacketMs = beganMs;
  let isAccepted = false;
  let isDisconnecting = false;
  let strayAcks = 0;
  const limit = createPacketLimit();

  const finish = (why: SessionEnd) => {
    if (end !== null) return;
    end = why;
    acks.rejectAll(notConnected());
    inboundAcks[Symbol.dispose]();
    if (why.kind === 'closed') connack.resolve({ kind: 'closed', failure: why.failure, tookMs: tookMs() });
    else connack.resolve({ kind: 'not-mqtt', looksLikeHttp: false, tookMs: tookMs() });
    // Also ends the timers of the client.
    client.end(true);
    connection.close();
    over.abort();
  };
  const closed = () =>
    finish(
      isDisconnecting
        ? { kind: 'own' }
        : { kind: 'closed', failure: tls.ended() ?? { kind: 'cut' }, unacknowledged: acks.size },
    );
  const acks = createPendingAcks(clock, options.pubackMs, (waitedMs) =>
    finish({ kind: 'no-puback', waitedMs, strayAcks }),
  );

  // Whole packets are written to the stream at once, so none is cut by another.
  const inboundAcks = createInboundAcks(clock, (messageId) => {
    if (!isDisconnecting) stream.write(puback(messageId));
  });

  const accept = (chunk: Uint8Array): Iterable<Uint8Array> => {
    if (!isAccepted) {
      const answer = readConnack(chunk);
      if (answer?.kind === 'not-mqtt' || answer?.kind === 'refused') {
        connack.resolve({ ...answer, tookMs: tookMs() });
        return [];
      }
      isAccepted = answer?.kind === 'accepted';
    }
    return limit.push(chunk);
  };
  const stream = createLimitedStream(tls.socket, accept, (error) =>
    finish({
      kind: 'protocol',
      what: error instanceof PacketError ? error.message : 'the received bytes are not MQTT',
    }),
  );
  stream.once('close', closed);

  const client = new MqttClient(() => stream as never, {
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
  } as unknown as IClientOptions);
  client.onKeepaliveTimeout = () => finish({ kind: 'keepalive' });
  client.on('error', (error) => {
    const { code } = error as { readonly code?: unknown };
    // Errors of the operating system have a name as code, and the stream closes after them; all others are violations of
    // MQTT that the client found.
    if (typeof code !== 'string') finish({ kind: 'protocol', what: 'the received bytes violate MQTT 3.1.1' });
  });
  client.on('packetreceive', ({ cmd }) => {
    lastPacketMs = clock.monotonicMs();
    // Reduced again when it settles a message.
    if (cmd === 'puback') strayAcks += 1;
  });
  client.on('connect', ({ sessionPresent }) => connack.resolve({ kind: 'accepted', sessionPresent, tookMs: tookMs() }));
  client.handleMessage = ({ topic, payload, retain, dup, qos, messageId = 0 }, done) => {
    const oversizedBytes = limit.nextPublish();
    let handled: Promise<void> | undefined;
    try {
      const packetId = qos === 1 ? messageId : null;
      handled = onMessage({ topic, payload: payload as Buffer, retain, dup, packetId, oversizedBytes });
    } catch (error) {
      // Acknowledged all the same: the broker would send it again for ever.
      log.error({ error: String(error), topic }, 'a received cloud message could not be handled');
    }
    if (qos === 1) inboundAcks.add(messageId, handled ?? Promise.resolve());
    // With an error the client goes on to the next packet without a PUBACK of its own; without one it would wait for it.
    done(qos === 1 ? new Error('acknowledged by inboundAcks') : undefined);
  };
  // With TLS 1.3 a broker rejects the client certificate after the handshake, perhaps before these listeners were added.
  if (tls.ended() !== null || tls.socket.destroyed) closed();

  let probe: MqttProbe;
  {
    using _late = clock.after(timeoutMs, () => connack.resolve({ kind: 'no-connack', tookMs: tookMs() }));
    using _aborted = onAbort(signal, () => connack.reject(signal.reason));
    try {
      probe = await connack.promise;
    } catch (error) {
      finish({ kind: 'own' });
      throw error;
    }
  }
  if (probe.kind !== 'accepted') {
    finish({ kind: 'own' });
    return { probe, session: null };
  }

  const { sessionPresent } = probe;
  /** One request at a time; `undefined` when the broker has not acknowledged it in time. */
  const acknowledged = async <T>(send: (done: (error: unknown, packet?: T) => void) => void) => {
    const { promise, resolve } = Promise.withResolvers<T | 'closed' | 'late' | undefined>();
    using _late = clock.after(SUBACK_TIMEOUT_MS, () => resolve('late'));
    using _ended = onAbort(over.signal, () => resolve('closed'));
    send((_error, packet) => resolve(packet));
    return await promise;
  };
  const session: MqttSession = {
    sessionPresent,
    ended: over.signal,
    end: () => end,
    lastPacketMs: () => lastPacketMs,
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
    publish(topic, payload) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      if (end !== null || isDisconnecting) {
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
    async disconnect() {
      if (end !== null) return;
      isDisconnecting = true;
      const { promise, resolve } = Promise.withResolvers<void>();
      using _late = clock.after(CLOSE_TIMEOUT_MS, resolve);
      tls.socket.once('close', () => resolve());
      tls.socket.resume();
      tls.socket.end(DISCONNECT);
      await promise;
      finish({ kind: 'own' });
    },
    destroy: () => finish({ kind: 'own' }),
  };
  return { probe, session };
}

function* batches(filters: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < filters.length; at += MAX_FILTERS) yield filters.slice(at, at + MAX_FILTERS);
}

function notConnected(cause?: unknown): GwError {
  return new GwError('CLOUD_NOT_CONNECTED', 'not connected: the connection to the cloud ended.', { cause });
}

/**
 * The byte stream of the MQTT client over a TLS socket: received bytes pass `accept` first. An error that it throws goes to
 * `onRefused` behind what came before it in the same chunk, which may be a stop, and nothing more is passed on.
 */
function createLimitedStream(
  socket: TLSSocket,
  accept: (chunk: Uint8Array) => Iterable<Uint8Array>,
  onRefused: (error: unknown) => void,
): Duplex {
  let isRefused = false;
  const stream = new Duplex({
    read() {
      socket.resume();
    },
    write(chunk: Buffer, _encoding, done) {
      socket.write(chunk, done);
    },
    // The client writes a packet in several pieces.
    writev(chunks, done) {
      socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer)), done);
    },
    final(done) {
      socket.end(done);
    },
    // Closed after the socket, whose error says why.
    destroy(error, done) {
      if (socket.closed) done(error);
      else socket.once('close', () => done(error));
      socket.destroy();
    },
  });
  socket.on('data', (chunk: Buffer) => {
    if (isRefused) return;
    try {
      for (const piece of accept(chunk)) if (!stream.push(piece)) socket.pause();
    } catch (error) {
      isRefused = true;
      onRefused(error);
    }
  });
  socket.once('end', () => stream.push(null));
  socket.once('close', () => stream.destroy());
  return stream;
}
