import type { IncomingMessage } from 'node:http';
import { getCACertificates } from 'node:tls';
import WebSocket from 'ws';
import { asGwError, GwError } from '../../error/index.ts';
import { type Clock, onAbort } from '../../lifecycle/index.ts';
import { formatEndpoint } from '../../net/index.ts';
import { MIN_TLS_VERSION } from '../../site/index.ts';
import { encodeFrame } from '../wire/codec.ts';
import { createFrameReader } from '../wire/frames.ts';
import type { TunnelMessage } from '../wire.ts';
import { type ConnectFailure, connectFailure, refusalOf } from './handshake-failure.ts';
import { proxyLimits } from './limits.ts';

/** Largest WebSocket message. @source vendor (HINWEIS) */
const MAX_WEBSOCKET_BYTES = 131_076;

const HANDSHAKE_MS = 10_000;
/** @source vendor (HINWEIS): connections without traffic for a minute are dropped */
const PING_MS = 20_000;
/** Without any data for three pings the connection is lost. Project decision. */
const SILENT_MS = 60_000;

export interface TunnelSocketOptions {
  readonly mode: 'source' | 'destination';
  readonly host: string;
  readonly port: number;
  readonly subprotocol: string;
  /** CA certificates (PEM); null: those of Node and the operating system. */
  readonly caPem: string | null;
  readonly tokens: { readonly access: string; readonly client: string };
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** In order. May throw TUNNEL_PROTOCOL, which ends the WebSocket. */
  readonly onMessage: (message: TunnelMessage) => void;
  /** Something was sent. */
  readonly onSent: () => void;
}

export interface TunnelSocket {
  /** Header `channel-id` of the service. */
  readonly channelId: string | null;
  readonly localAddress: string;
  /** In a WebSocket message of its own. */
  send(message: Partial<TunnelMessage> & Pick<TunnelMessage, 'type'>): void;
  /** Bytes that the operating system has not accepted yet. */
  pendingBytes(): number;
  /** Resolves when no message follows any more. */
  readonly ended: Promise<TunnelSocketEnd>;
  /** Sends what is pending and a close frame, then ends. */
  close(): void;
  terminate(): void;
}

export type TunnelSocketEnd =
  /** By a close frame of the service that means the end of the tunnel. */
  | { readonly kind: 'closed'; readonly detail: string }
  /** The tunnel may still exist. */
  | { readonly kind: 'lost'; readonly detail: string };

/**
 * Close codes after which the tunnel may still exist: going away, no status received because TCP was cut, internal error,
 * restart, try again later, bad gateway. The codes of the service are not documented. Project decision.
 */
const TEMPORARY_CODES: ReadonlySet<number> = new Set([1001, 1006, 1011, 1012, 1013, 1014]);

/**
 * Opens the WebSocket to the tunnel service. Rejects with TUNNEL_REFUSED for a status of 300 to 499, with
 * TUNNEL_NOT_REACHABLE for anything else, and with the reason of the signal. No text contains a token.
 * @source vendor (HINWEIS)
 */
export function openTunnelSocket(options: TunnelSocketOptions): Promise<TunnelSocket> {
  const { mode, host, port, subprotocol, caPem, tokens, clock, signal } = options;
  signal.throwIfAborted();
  const beganMs = clock.monotonicMs();
  const web = new WebSocket(`wss://${formatEndpoint({ host, port })}/tunnel?local-proxy-mode=${mode}`, [subprotocol], {
    headers: { 'access-token': tokens.access, 'client-token': tokens.client },
    ca: caPem ?? systemTrust(),
    minVersion: MIN_TLS_VERSION,
    // Set, since the environment could switch it off.
    rejectUnauthorized: true,
    perMessageDeflate: false,
    followRedirects: false,
    maxPayload: MAX_WEBSOCKET_BYTES,
    handshakeTimeout: HANDSHAKE_MS,
    // Pongs are sent here: a peer that sends pings and does not read would fill the memory with pongs.
    autoPong: false,
  });
  const { promise, resolve, reject } = Promise.withResolvers<TunnelSocket>();
  let channelId: string | null = null;
  const fail = (failure: ConnectFailure) => {
    // The library emits an error for a handshake that is aborted here.
    web.off('error', onError);
    web.on('error', () => {});
    web.terminate();
    const tried = {
      address: host,
      port,
      action: `WebSocket /tunnel as ${mode}`,
      forMs: Math.round(clock.monotonicMs() - beganMs),
    };
    const { code, detail, remedy } = failure;
    reject(
      new GwError(code, detail, { tried, remedy, ...(failure.status && { details: { status: failure.status } }) }),
    );
  };
  const onError = (error: Error) => fail(connectFailure(error));
  const aborting = onAbort(signal, () => {
    web.off('error', onError);
    web.on('error', () => {});
    web.terminate();
    reject(signal.reason);
  });
  web.on('error', onError);
  web.on('upgrade', ({ headers }: IncomingMessage) => {
    const header = headers['channel-id'];
    channelId = typeof header === 'string' ? header : null;
  });
  web.on(
    'unexpected-response',
    (_request, response: IncomingMessage) => void refusalOf(response, tokens, clock).then(fail),
  );
  web.on('open', () => {
    web.off('error', onError);
    // Synchronously: the first messages may have arrived already.
    resolve(attach(web, options, channelId));
  });
  return promise.finally(() => aborting[Symbol.dispose]());
}

function attach(
  web: WebSocket,
  { clock, onMessage, onSent }: TunnelSocketOptions,
  channelId: string | null,
): TunnelSocket {
  const { promise: ended, resolve } = Promise.withResolvers<TunnelSocketEnd>();
  let lost: string | undefined;
  let lastMs = clock.monotonicMs();
  const reader = createFrameReader(onMessage);

  const lose = (detail: string) => {
    lost ??= detail;
    web.terminate();
  };
  const sent = (error?: Error | null) => {
    if (!error) onSent();
  };
  const beat = () => {
    if (clock.monotonicMs() - lastMs >= SILENT_MS) return lose(`no data received for ${SILENT_MS / 1_000} s`);
    if (web.readyState === WebSocket.OPEN && web.bufferedAmount < proxyLimits.unsentPauseBytes)
      web.ping(String(Date.now()));
  };
  const heard = () => {
    lastMs = clock.monotonicMs();
  };
  const beating = clock.every(PING_MS, beat);
  beat();

  web.on('message', (data: Buffer, isBinary) => {
    heard();
    if (lost !== undefined) return;
    if (!isBinary) return lose('text frame received, which the protocol does not have');
    try {
      reader.push(data);
    } catch (error) {
      lose(asGwError(error).message);
    }
  });
  web.on('ping', (data: Buffer) => {
    heard();
    if (web.readyState === WebSocket.OPEN && web.bufferedAmount < proxyLimits.unsentPauseBytes) web.pong(data);
  });
  web.on('pong', heard);
  web.on('error', (error) => lose(connectFailure(error).detail));
  web.on('close', (code) => {
    beating[Symbol.dispose]();
    if (lost !== undefined) resolve({ kind: 'lost', detail: lost });
    else if (code === 1006) resolve({ kind: 'lost', detail: 'connection lost without a close frame' });
    else if (TEMPORARY_CODES.has(code)) resolve({ kind: 'lost', detail: `service ended the connection, code ${code}` });
    else resolve({ kind: 'closed', detail: `close code ${code}` });
  });

  return {
    channelId,
    localAddress: (web as unknown as { _socket?: { localAddress?: string } })._socket?.localAddress ?? '',
    send(message) {
      if (web.readyState === WebSocket.OPEN) web.send(encodeFrame(message), { binary: true }, sent);
    },
    pendingBytes: () => web.bufferedAmount,
    ended,
    close: () => web.close(1000),
    terminate: () => lose('ended here'),
  };
}

let systemList: string[] | undefined;

/** The lists of Node and the operating system. */
function systemTrust(): string[] {
  systemList ??= [...new Set((['bundled', 'extra', 'system'] as const).flatMap((list) => getCACertificates(list)))];
  return systemList;
}
