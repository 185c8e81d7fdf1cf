import type { IncomingMessage } from 'node:http';
import { type RawData, WebSocket } from 'ws';
import { type Clock, onAbort } from '../../lifecycle/index.ts';
import { createDirectDialer, type Dialer, formatEndpoint, resolveHost } from '../../net/index.ts';
import {
  nameOutcome,
  openPath,
  type PathConnection,
  type PathPlan,
  tcpOutcome,
  tlsOutcome,
} from '../../net/path/index.ts';
import type { ProxySettings } from '../model.ts';
import { encodeFrame, type PartialMessage } from '../wire/codec.ts';
import { redacted, withoutTokens } from './redaction.ts';

/** Largest WebSocket message that the service may send. @source vendor (HINWEIS) */
const MAX_WEBSOCKET_BYTES = 131_076;
/** Timeout from the TLS handshake to the response. */
const HANDSHAKE_MS = 10_000;
/** Of the body of a refusal. */
const MAX_BODY_BYTES = 1_024;
const BODY_MS = 2_000;
/**
 * How long the service may take to end TCP after both close frames; the library would wait 30 s. Project decision. A spread,
 * since the types of the library lack the option.
 */
const closing = { closeTimeout: 1_000 };
const MAX_REASON_CHARACTERS = 300;
/** Project decision: longer ids, or other characters, are not recorded. */
const CHANNEL_ID = /^[\x21-\x7e]{1,128}$/;

export interface ProxyTokens {
  readonly access: string;
  /** Lets the access token be used again by the same client; null: none. */
  readonly client: string | null;
}

export interface SocketOptions {
  /** Which side of the tunnel this is. */
  readonly mode: 'destination' | 'source';
  readonly settings: Pick<ProxySettings, 'host' | 'port' | 'subprotocol'>;
  /** CA certificates (PEM), or those of Node and the operating system. */
  readonly trusted: string | 'system';
  readonly tokens: ProxyTokens;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** TCP is established, whatever becomes of TLS and HTTP: the network stands. */
  readonly onTcp: () => void;
}

/** An open WebSocket, paused until `ws.resume()`, so that no message is missed. */
export interface TunnelSocket {
  readonly ws: WebSocket;
  /** Value of the header `channel-id`; null: none, or unusable. */
  readonly channelId: string | null;
  readonly localAddress: string;
  bytesRead(): number;
  /** Sends one message of the tunnel as one WebSocket message; `onSent` is called also when that fails. */
  send(message: PartialMessage, onSent: () => void): void;
}

export type SocketResult =
  | { readonly kind: 'open'; readonly socket: TunnelSocket }
  /** 3xx or 4xx: the same request would be refused again. */
  | {
      readonly kind: 'refused';
      readonly detail: string;
      readonly status: number;
      /** What the service said, without the tokens. */
      readonly reason: string;
    }
  /** Everything else: may be tried again. */
  | { readonly kind: 'failed'; readonly detail: string };

/**
 * One attempt: name, TCP, TLS, WebSocket. The tokens are sent only over a TLS connection whose certificate was verified.
 * Throws only the reason of the signal.
 */
export async function openTunnelSocket(options: SocketOptions): Promise<SocketResult> {
  const { settings, trusted, clock, signal } = options;
  const { host, port } = settings;
  const plan: PathPlan = { host, port, trusted, credentials: null, alpn: null, application: 'https' };
  const direct = createDirectDialer({ clock });
  const dialer: Dialer = {
    way: 'direct',
    async dial(endpoint, limits) {
      const stream = await direct.dial(endpoint, limits);
      options.onTcp();
      return stream;
    },
  };
  const { connection, ...start } = await openPath(plan, {
    dialer,
    clock,
    signal,
    resolve: (name, timeoutMs) => resolveHost(name, { timeoutMs, clock }),
  });
  const result = { plan, ...start, tookMs: 0 };
  const failed = (detail: string): SocketResult => ({
    kind: 'failed',
    detail: `${formatEndpoint(settings)}: ${detail}`,
  });
  if (start.name.kind === 'unknown' || start.name.kind === 'no-answer') return failed(nameOutcome(result).detail);
  if (start.dial?.failure !== null) return failed(tcpOutcome(result).detail);
  if (connection === null) return failed(tlsOutcome(result).detail);
  if (connection.tls.trust.kind !== 'trusted') {
    connection.close();
    return failed(tlsOutcome(result).detail);
  }
  return await upgrade(connection, options);
}

async function upgrade(connection: PathConnection, options: SocketOptions): Promise<SocketResult> {
  const { mode, settings, tokens, clock, signal } = options;
  const { socket } = connection.tls;
  const { promise, resolve, reject } = Promise.withResolvers<SocketResult>();
  const place = formatEndpoint(settings);
  const secrets = secretsOf(tokens);
  const failed = (why: string) => resolve({ kind: 'failed', detail: `${place}: ${withoutTokens(why, secrets)}` });

  const ws = new WebSocket(`wss://${place}/tunnel?local-proxy-mode=${mode}`, [settings.subprotocol], {
    createConnection: () => socket,
    headers: { 'access-token': tokens.access, ...(tokens.client !== null && { 'client-token': tokens.client }) },
    perMessageDeflate: false,
    maxPayload: MAX_WEBSOCKET_BYTES,
    handshakeTimeout: HANDSHAKE_MS,
    ...closing,
    followRedirects: false,
  });
  let channelId: string | null = null;
  // Stays: without a listener an error would end the process.
  ws.on('error', (error) => failed(`WebSocket handshake failed: ${handshakeFailure(error)}`));
  ws.once('upgrade', ({ headers }: IncomingMessage) => {
    const value = headers['channel-id'];
    if (typeof value === 'string' && CHANNEL_ID.test(value) && withoutTokens(value, secrets) === value)
      channelId = value;
  });
  ws.once('open', () => {
    ws.pause();
    const { localAddress = '' } = socket;
    const send = (message: PartialMessage, onSent: () => void) => ws.send(encodeFrame(message), onSent);
    resolve({ kind: 'open', socket: { ws, channelId, localAddress, bytesRead: () => socket.bytesRead, send } });
  });
  ws.once('close', () => failed('connection closed during the WebSocket handshake'));
  ws.once('unexpected-response', (_request, response: IncomingMessage) => {
    void readBody(response, clock).then((body) => {
      const status = response.statusCode ?? 0;
      const text = redacted(body, secrets, MAX_REASON_CHARACTERS);
      const detail = `${place} answered HTTP ${status}${text === '' ? '' : `: ${text}`}`;
      if (status >= 300 && status < 500) resolve({ kind: 'refused', detail, status, reason: text });
      else resolve({ kind: 'failed', detail });
    });
  });
  using _aborted = onAbort(signal, () => reject(signal.reason));
  // The library's own limit is one of silence: single bytes would extend it.
  using _late = clock.after(HANDSHAKE_MS + BODY_MS, () => failed(`no WebSocket within ${HANDSHAKE_MS} ms`));
  let result: SocketResult | undefined;
  try {
    result = await promise;
    return result;
  } finally {
    if (result?.kind !== 'open') {
      ws.terminate();
      connection.close();
    }
  }
}

/** What must appear in no text. */
export function secretsOf({ access, client }: ProxyTokens): string[] {
  return client === null ? [access] : [access, client];
}

/** Bytes of a message as the library delivers them; with its default settings always a Buffer. */
export function bytesOf(data: RawData): Uint8Array {
  if (Array.isArray(data)) return Buffer.concat(data);
  return data instanceof ArrayBuffer ? new Uint8Array(data) : data;
}

/** The beginning of a body, at most as long as the limits of size and time allow. */
function readBody(response: IncomingMessage, clock: Clock): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const parts: Buffer[] = [];
  let length = 0;
  const done = () => {
    late[Symbol.dispose]();
    response.destroy();
    resolve(Buffer.concat(parts).subarray(0, MAX_BODY_BYTES).toString('utf8'));
  };
  const late = clock.after(BODY_MS, done);
  response.on('data', (bytes: Buffer) => {
    parts.push(bytes);
    length += bytes.length;
    if (length >= MAX_BODY_BYTES) done();
  });
  response.once('end', done);
  response.on('error', done);
  response.once('close', done);
  return promise;
}

/** Codes of the system and of the library; their texts may contain what the peer sent. */
function handshakeFailure(error: Error & { readonly code?: unknown }): string {
  if (typeof error.code === 'string' && /^[A-Z0-9_]{1,60}$/.test(error.code)) return error.code;
  return redacted(error.message, [], 200);
}
