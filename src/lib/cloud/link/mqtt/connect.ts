import { type Clock, type Log, onAbort } from '../../../lifecycle/index.ts';
import { createConnackReader, type MqttProbe, type PathConnection } from '../../../net/path/index.ts';
import type { CloudLinkOptions } from '../model.ts';
import { createInboundAcks } from './acks.ts';
import { clientOptions } from './client-options.ts';
import { createHandshake } from './handshake.ts';
import { createLimitedStream } from './limited-stream.ts';
import type { MqttSession, SessionEnd } from './model.ts';
import { createPacketLimit, PacketError } from './packet-limit.ts';
import { createPublishing } from './publishing.ts';
import { passReceived } from './received.ts';
import { createSubscriptions } from './subscriptions.ts';

/** How long the broker may take to close the connection after DISCONNECT. */
const CLOSE_TIMEOUT_MS = 250;
/** @source MQTT 3.1.1, 3.14 */
const DISCONNECT = Buffer.from([0xe0, 0]);
/** @source MQTT 3.1.1, 3.4 */
const puback = (messageId: number) => Buffer.from([0x40, 2, messageId >> 8, messageId & 0xff]);

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

/**
 * Sends CONNECT over a verified connection and waits for CONNACK. Without an accepted CONNACK the session is null and the
 * connection closed. Throws only the reason of the signal.
 */
export async function connectMqtt(
  connection: PathConnection,
  options: MqttSessionOptions,
): Promise<{ readonly probe: MqttProbe; readonly session: MqttSession | null }> {
  const { onMessage, clock, log, signal, timeoutMs, pubackMs } = options;
  const { tls } = connection;
  signal.throwIfAborted();
  const [{ MqttClient }, readConnack] = await Promise.all([import('mqtt'), createConnackReader()]);
  const handshake = createHandshake(readConnack, clock);
  const over = new AbortController();
  let end: SessionEnd | null = null;
  let lastPacketMs = clock.monotonicMs();
  let isDisconnecting = false;
  const limit = createPacketLimit();

  const finish = (why: SessionEnd) => {
    if (end !== null) return;
    end = why;
    publishing.end();
    inboundAcks[Symbol.dispose]();
    handshake.ended(why);
    // Also ends the timers of the client.
    client.end(true);
    connection.close();
    over.abort();
  };
  const closed = () =>
    finish(
      isDisconnecting
        ? { kind: 'own' }
        : { kind: 'closed', failure: tls.ended() ?? { kind: 'cut' }, unacknowledged: publishing.unacknowledged },
    );

  // Whole packets are written to the stream at once, so none is cut by another.
  const inboundAcks = createInboundAcks(clock, (messageId) => {
    if (!isDisconnecting) stream.write(puback(messageId));
  });
  const accept = (chunk: Uint8Array) => (handshake.passes(chunk) ? limit.push(chunk) : []);
  const stream = createLimitedStream(tls.socket, accept, (error) =>
    finish({
      kind: 'protocol',
      what: error instanceof PacketError ? error.message : 'the received bytes are not MQTT',
    }),
  );
  stream.once('close', closed);

  const client = new MqttClient(() => stream as never, clientOptions(options));
  const publishing = createPublishing(client, {
    clock,
    pubackMs,
    isOpen: () => end === null && !isDisconnecting,
    onSilence: finish,
  });
  client.onKeepaliveTimeout = () => finish({ kind: 'keepalive' });
  client.on('error', (error) => {
    const { code } = error as { readonly code?: unknown };
    // Errors of the operating system have a name as code, and the stream closes after them; all others are violations of
    // MQTT that the client found.
    if (typeof code !== 'string') finish({ kind: 'protocol', what: 'the received bytes violate MQTT 3.1.1' });
  });
  client.on('packetreceive', ({ cmd }) => {
    lastPacketMs = clock.monotonicMs();
    if (cmd === 'puback') publishing.onPuback();
  });
  client.on('connect', ({ sessionPresent }) => handshake.accepted(sessionPresent));
  client.handleMessage = passReceived({ onMessage, limit, acks: inboundAcks, log });
  // With TLS 1.3 a broker rejects the client certificate after the handshake, perhaps before these listeners were added.
  if (tls.ended() !== null || tls.socket.destroyed) closed();

  let probe: MqttProbe;
  {
    using _late = clock.after(timeoutMs, handshake.late);
    using _aborted = onAbort(signal, () => handshake.abort(signal.reason));
    try {
      probe = await handshake.answer;
    } catch (error) {
      finish({ kind: 'own' });
      throw error;
    }
  }
  if (probe.kind !== 'accepted') {
    finish({ kind: 'own' });
    return { probe, session: null };
  }

  const session: MqttSession = {
    sessionPresent: probe.sessionPresent,
    ended: over.signal,
    end: () => end,
    lastPacketMs: () => lastPacketMs,
    ...createSubscriptions(client, { clock, ended: over.signal }),
    publish: publishing.publish,
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
