import type { Duplex } from 'node:stream';
import { type Clock, onAbort, systemClock } from '../../lifecycle/index.ts';
import { type TlsFailure, tlsFailureOf } from './tls-probe.ts';

/** What a broker said to CONNECT. */
export type Connack =
  | { readonly kind: 'accepted'; readonly sessionPresent: boolean }
  /** MQTT 3.1.1 return code, as it came. */
  | { readonly kind: 'refused'; readonly returnCode: number }
  /** The bytes begin another way: whoever answers is no broker of MQTT 3.1.1. */
  | { readonly kind: 'foreign'; readonly looksLikeHttp: boolean };

/** What return codes mean. @source MQTT 3.1.1, 3.2.2.3 */
const returnCodes = [
  'accepted',
  'the protocol version is not taken',
  'the client id is not taken',
  'the service is not available',
  'user name or password is not taken',
  'this client is not allowed in',
] as const;

/** A return code in words; a number that the standard does not name stays a number. */
export function returnCodeText(code: number): string {
  return returnCodes[code] ?? `return code ${code}`;
}

const CONNACK_TYPE = 0x20;
const CONNACK_LENGTH = 2;
const CONNACK_BYTES = 4;
/** Enough of every piece to tell what else it is. */
const LOOKED_AT_BYTES = 16;

/** Takes bytes as they come, in any pieces, until they are a CONNACK or cannot become one. */
export async function createConnackReader(): Promise<(bytes: Uint8Array) => Connack | undefined> {
  const { parser: createParser } = await import('mqtt-packet');
  const parser = createParser({ protocolVersion: 4 });
  let come = Buffer.alloc(0);
  let answer: Connack | undefined;
  const foreign = (): Connack => ({
    kind: 'foreign',
    looksLikeHttp: come.subarray(0, 5).toString('latin1') === 'HTTP/',
  });
  parser.on('error', () => {
    answer ??= foreign();
  });
  parser.on(
    'packet',
    (packet: { readonly cmd: string; readonly sessionPresent?: boolean; readonly returnCode?: number }) => {
      const { cmd, returnCode, sessionPresent = false } = packet;
      if (answer !== undefined) return;
      if (cmd !== 'connack' || returnCode === undefined) answer = foreign();
      else answer = returnCode === 0 ? { kind: 'accepted', sessionPresent } : { kind: 'refused', returnCode };
    },
  );
  return (bytes) => {
    if (answer !== undefined) return answer;
    come = Buffer.concat([come, bytes.subarray(0, LOOKED_AT_BYTES)]);
    // Looked at here first: the parser takes lengths that a CONNACK never has, and would wait for megabytes.
    if ((come[0] ?? CONNACK_TYPE) !== CONNACK_TYPE || (come[1] ?? CONNACK_LENGTH) !== CONNACK_LENGTH) {
      answer = foreign();
      return answer;
    }
    if (come.length >= CONNACK_BYTES) {
      parser.parse(come.subarray(0, CONNACK_BYTES));
      answer ??= foreign();
    }
    return answer;
  };
}

export interface MqttProbeOptions {
  /** The serial number. @source specification, 'Authentication' */
  readonly clientId: string;
  /** What has ended the stream before; null: nothing. */
  readonly ended?: () => TlsFailure | null;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
}

/** How the MQTT handshake came out. */
export type MqttProbe = { readonly tookMs: number } & (
  | Connack
  /** Nothing was said to CONNECT in time. */
  | { readonly kind: 'no-connack' }
  /** The connection ended without a CONNACK; `failure` says how. */
  | { readonly kind: 'closed'; readonly failure: TlsFailure }
);

const KEEPALIVE_S = 30;
/** How long the peer may take to close after DISCONNECT before we do. */
const CLOSE_WITHIN_MS = 250;

/**
 * Says CONNECT, waits for CONNACK and says DISCONNECT. The session of the client id is left as it is: `clean` would
 * have the broker drop what it keeps for the device, such as a stop that has not reached it yet. Nothing is
 * subscribed, published or acknowledged. Closes the stream. Never throws but for the signal.
 */
export async function probeMqtt(stream: Duplex, options: MqttProbeOptions): Promise<MqttProbe> {
  const { clientId, ended = () => null, timeoutMs, signal, clock = systemClock } = options;
  signal.throwIfAborted();
  const { generate } = await import('mqtt-packet');
  const read = await createConnackReader();
  const beganMs = clock.monotonicMs();
  const tookMs = () => Math.round(clock.monotonicMs() - beganMs);
  const { promise, resolve, reject } = Promise.withResolvers<MqttProbe>();
  const onData = (bytes: Buffer) => {
    const connack = read(bytes);
    if (connack !== undefined) resolve({ ...connack, tookMs: tookMs() });
  };
  const onError = (error: Error) => resolve({ kind: 'closed', failure: tlsFailureOf(error), tookMs: tookMs() });
  const onEnd = () => resolve({ kind: 'closed', failure: { kind: 'cut' }, tookMs: tookMs() });
  stream.on('error', onError);
  stream.on('data', onData);
  stream.once('end', onEnd);
  stream.once('close', onEnd);
  using _aborted = onAbort(signal, () => reject(signal.reason));
  using _late = clock.after(timeoutMs, () => resolve({ kind: 'no-connack', tookMs: tookMs() }));
  try {
    // With TLS 1.3 a broker refuses a certificate after the handshake, perhaps before anybody listened here.
    const failure = ended();
    if (failure !== null) resolve({ kind: 'closed', failure, tookMs: tookMs() });
    else if (stream.destroyed || stream.readableEnded) onEnd();
    stream.write(
      generate({
        cmd: 'connect',
        protocolId: 'MQTT',
        protocolVersion: 4,
        clean: false,
        clientId,
        keepalive: KEEPALIVE_S,
      }),
    );
    const probe = await promise;
    if (probe.kind === 'accepted') await sayGoodbye(stream, generate({ cmd: 'disconnect' }), clock);
    return probe;
  } finally {
    stream.off('data', onData);
    stream.destroy();
  }
}

/** DISCONNECT, then the end of the stream; a broker closes its side at once. */
async function sayGoodbye(stream: Duplex, disconnect: Buffer, clock: Clock): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  using _late = clock.after(CLOSE_WITHIN_MS, resolve);
  stream.once('close', () => resolve());
  stream.resume();
  stream.end(disconnect);
  await promise;
}
