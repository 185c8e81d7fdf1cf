import type { Duplex } from 'node:stream';
import { type Clock, systemClock } from '../../lifecycle/index.ts';
import { exchange, type Unanswered } from './http-probe.ts';
import type { TlsFailure } from './tls-probe.ts';

/** The response of a broker to CONNECT. */
export type Connack =
  | { readonly kind: 'accepted'; readonly sessionPresent: boolean }
  /** MQTT 3.1.1 return code, as received. */
  | { readonly kind: 'refused'; readonly returnCode: number }
  /** The bytes are not a CONNACK: the peer is not an MQTT 3.1.1 broker. */
  | { readonly kind: 'not-mqtt'; readonly looksLikeHttp: boolean };

/** Connect return codes. @source MQTT 3.1.1, 3.2.2.3 */
const returnCodes = [
  'accepted',
  'unacceptable protocol version',
  'client identifier rejected',
  'server unavailable',
  'bad user name or password',
  'not authorized',
] as const;

const CONNACK_TYPE = 0x20;
const CONNACK_LENGTH = 2;
const CONNACK_BYTES = 4;
/** Bytes of each chunk that are inspected. */
const INSPECTED_BYTES = 16;

export interface MqttProbeOptions {
  /** The serial number. @source specification, 'Authentication' */
  readonly clientId: string;
  /** Why the stream has already ended; null: still open. */
  readonly ended?: () => TlsFailure | null;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
}

/** The result of the MQTT handshake. */
export type MqttProbe = { readonly tookMs: number } & (
  | Connack
  /** No CONNACK before the timeout. */
  | { readonly kind: 'no-connack' }
  | Extract<Unanswered, { kind: 'closed' }>
);

const KEEPALIVE_S = 30;
/** How long the broker may take to close the connection after DISCONNECT. */
const CLOSE_TIMEOUT_MS = 250;

/**
 * Sends CONNECT, waits for CONNACK and sends DISCONNECT. The session of the client identifier is kept: CleanSession 1
 * would discard messages queued for the device, such as a stop. Nothing is subscribed, published or acknowledged.
 * Closes the stream. Throws only the reason of the signal.
 */
export async function probeMqtt(stream: Duplex, options: MqttProbeOptions): Promise<MqttProbe> {
  const { clientId, ended = () => null, timeoutMs, signal, clock = systemClock } = options;
  signal.throwIfAborted();
  const { generate } = await import('mqtt-packet');
  const read = await createConnackReader();
  const beganMs = clock.monotonicMs();
  const connect = generate({
    cmd: 'connect',
    protocolId: 'MQTT',
    protocolVersion: 4,
    clean: false,
    clientId,
    keepalive: KEEPALIVE_S,
  });
  try {
    const answer = await exchange(stream, connect, { read, ended, timeoutMs, signal, clock });
    const tookMs = Math.round(clock.monotonicMs() - beganMs);
    // Errors while it closes are of no interest.
    stream.on('error', () => {});
    if (answer.kind === 'accepted') await closeSession(stream, generate({ cmd: 'disconnect' }), clock);
    return answer.kind === 'no-answer' ? { kind: 'no-connack', tookMs } : { ...answer, tookMs };
  } finally {
    stream.destroy();
  }
}

/** A return code with its name in the standard; a reserved code stays a number. */
export function returnCodeText(code: number): string {
  const name = returnCodes[code];
  return name === undefined ? `return code ${code}` : `return code ${code}, ${name}`;
}

/** Parses bytes in chunks of any size, until they are a CONNACK or cannot become one. */
export async function createConnackReader(): Promise<(bytes: Uint8Array) => Connack | undefined> {
  const { parser: createParser } = await import('mqtt-packet');
  const parser = createParser({ protocolVersion: 4 });
  let received = Buffer.alloc(0);
  let answer: Connack | undefined;
  const notMqtt = (): Connack => ({
    kind: 'not-mqtt',
    looksLikeHttp: received.subarray(0, 5).toString('latin1') === 'HTTP/',
  });
  parser.on('error', () => {
    answer ??= notMqtt();
  });
  parser.on(
    'packet',
    (packet: { readonly cmd: string; readonly sessionPresent?: boolean; readonly returnCode?: number }) => {
      const { cmd, returnCode, sessionPresent = false } = packet;
      if (answer !== undefined) return;
      if (cmd !== 'connack' || returnCode === undefined) answer = notMqtt();
      else answer = returnCode === 0 ? { kind: 'accepted', sessionPresent } : { kind: 'refused', returnCode };
    },
  );
  return (bytes) => {
    if (answer !== undefined) return answer;
    received = Buffer.concat([received, bytes.subarray(0, INSPECTED_BYTES)]);
    // Checked first, because the parser accepts lengths that a CONNACK never has and would wait for megabytes.
    if ((received[0] ?? CONNACK_TYPE) !== CONNACK_TYPE || (received[1] ?? CONNACK_LENGTH) !== CONNACK_LENGTH) {
      answer = notMqtt();
      return answer;
    }
    if (received.length >= CONNACK_BYTES) {
      parser.parse(received.subarray(0, CONNACK_BYTES));
      answer ??= notMqtt();
    }
    return answer;
  };
}

/** Sends DISCONNECT and the end of the stream; a broker then closes its side. */
async function closeSession(stream: Duplex, disconnect: Buffer, clock: Clock): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  using _late = clock.after(CLOSE_TIMEOUT_MS, resolve);
  stream.once('close', () => resolve());
  stream.resume();
  stream.end(disconnect);
  await promise;
}
