import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect, type TLSSocket } from 'node:tls';
import { type Clock, onAbort, systemClock } from '../../lifecycle/index.ts';
import { MIN_TLS_VERSION } from '../../site/index.ts';
import { type ChainLink, chainOf, type Trust, trustOf } from './certificate-chain.ts';
import { listThatVerified, systemCertificates, systemContext } from './trust-lists.ts';

export interface TlsProbeOptions {
  /** The name or address that the certificate must bear. */
  readonly host: string;
  /**
   * PEM certificates that the chain must end in; 'system' for Node's bundled list and that of the operating system
   * beside it; null when there is nothing to compare the chain with.
   */
  readonly trusted: string | 'system' | null;
  /** PEM; both or none. */
  readonly credentials?: { readonly keyPem: string; readonly certificatePem: string } | undefined;
  /** The one application protocol that is offered. */
  readonly alpn?: string | undefined;
  /** Offers classic key exchange alone, so that the first words fit into one packet of any path. */
  readonly smallHello?: boolean;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
}

/** How a TLS handshake came out. */
export type TlsProbe =
  | {
      readonly kind: 'established';
      /** Open; whoever asked closes it. It must not be trusted unless `trust` says so. */
      readonly socket: TLSSocket;
      readonly protocol: string;
      readonly chain: readonly ChainLink[];
      readonly trust: Trust;
      /** The application protocol that the peer chose; null: it chose none. */
      readonly alpn: string | null;
      /** What has ended the connection since, if something did; a peer may refuse a certificate after the handshake. */
      readonly ended: () => TlsFailure | null;
      readonly tookMs: number;
    }
  | { readonly kind: 'failed'; readonly failure: TlsFailure; readonly tookMs: number };

/** How TLS failed, before or after the handshake. */
export type TlsFailure =
  | { readonly kind: 'no-answer' | 'cut' | 'not-tls' }
  /** The peer speaks TLS and knows no such application protocol. */
  | { readonly kind: 'alpn-refused' }
  /** The peer does not take the client certificate, or wants one. `alert` is its own word. */
  | { readonly kind: 'certificate-refused'; readonly alert: string }
  /** The peer ended it with another alert, or our side could not go on. */
  | { readonly kind: 'alert'; readonly alert: string };

/** Alerts by number, as far as they say something here. @source RFC 8446, 6 and RFC 7301, 3.2 */
const alertNames: Readonly<Record<number, string>> = {
  40: 'handshake failure',
  42: 'bad certificate',
  43: 'unsupported certificate',
  44: 'certificate revoked',
  45: 'certificate expired',
  46: 'certificate unknown',
  47: 'illegal parameter',
  48: 'unknown CA',
  49: 'access denied',
  70: 'protocol version',
  71: 'insufficient security',
  80: 'internal error',
  112: 'unrecognized name',
  116: 'certificate required',
};
const NO_APPLICATION_PROTOCOL = 120;
/** Alerts about the certificate that this side showed, or did not. */
const certificateAlerts = new Set([42, 43, 44, 45, 46, 48, 49, 116]);
const cutErrors = new Set([
  'ECONNRESET',
  'EPIPE',
  'ECONNABORTED',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_SSL_UNEXPECTED_EOF_WHILE_READING',
]);
const notTlsErrors = new Set([
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  'ERR_SSL_HTTP_REQUEST',
  'ERR_SSL_UNKNOWN_PROTOCOL',
  'ERR_SSL_BAD_RECORD_TYPE',
  'ERR_SSL_UNEXPECTED_MESSAGE',
  'EPROTO',
]);

/** Sorts an error of node's TLS by what it says of the peer. */
export function tlsFailureOf(error: unknown): TlsFailure {
  const code = codeOf(error);
  // The words for an alert differ between versions of OpenSSL; its number does not.
  const number = Number(/SSL alert number (\d{1,3})\b/.exec(messageOf(error))?.[1]);
  if (number === NO_APPLICATION_PROTOCOL) return { kind: 'alpn-refused' };
  if (!Number.isNaN(number)) {
    const alert = alertNames[number] ?? `alert ${number}`;
    return certificateAlerts.has(number) ? { kind: 'certificate-refused', alert } : { kind: 'alert', alert };
  }
  if (cutErrors.has(code)) return { kind: 'cut' };
  if (notTlsErrors.has(code)) return { kind: 'not-tls' };
  return { kind: 'alert', alert: /^[A-Z0-9_]{1,80}$/.test(code) ? code : 'unknown' };
}

function codeOf(error: unknown): string {
  const code = (error as { readonly code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : '';
}

function messageOf(error: unknown): string {
  return error instanceof Error && typeof error.message === 'string' ? error.message : '';
}

/**
 * Shakes hands over an open stream and looks at what the peer shows, trusted or not: a chain that ends elsewhere is a
 * finding, and nothing that matters may be said over it. Closes the stream when it fails. Never throws but for the
 * signal.
 */
export async function probeTls(stream: Duplex, options: TlsProbeOptions): Promise<TlsProbe> {
  const { host, trusted, credentials, alpn, smallHello = false, timeoutMs, signal, clock = systemClock } = options;
  signal.throwIfAborted();
  const beganMs = clock.monotonicMs();
  const tookMs = () => Math.round(clock.monotonicMs() - beganMs);
  const { promise, resolve, reject } = Promise.withResolvers<TlsProbe>();
  let socket: TLSSocket;
  try {
    socket = connect({
      socket: stream,
      host,
      // An address must not stand in the extension that names the server.
      ...(isIP(host) === 0 && { servername: host }),
      ...(trusted !== null && trusted !== 'system' && { ca: trusted }),
      ...(trusted === 'system' &&
        (credentials || smallHello ? { ca: systemCertificates() } : { secureContext: systemContext() })),
      ...(credentials && { key: credentials.keyPem, cert: credentials.certificatePem }),
      ...(alpn !== undefined && { ALPNProtocols: [alpn] }),
      ...(smallHello && { ecdhCurve: 'X25519:P-256:P-384' }),
      // A given context brings its own.
      minVersion: MIN_TLS_VERSION,
      rejectUnauthorized: false,
    });
  } catch (error) {
    // A key or certificate that OpenSSL does not take.
    stream.destroy();
    return { kind: 'failed', failure: tlsFailureOf(error), tookMs: tookMs() };
  }
  const fail = (failure: TlsFailure) => resolve({ kind: 'failed', failure, tookMs: tookMs() });
  let ended: TlsFailure | null = null;
  const onError = (error: Error) => {
    ended ??= tlsFailureOf(error);
    fail(ended);
  };
  const onClose = () => fail({ kind: 'cut' });
  // Errors after the handshake belong to whoever uses the socket; this keeps an unheard one from ending the process.
  socket.on('error', onError);
  socket.once('close', onClose);
  using _aborted = onAbort(signal, () => reject(signal.reason));
  using _late = clock.after(timeoutMs, () => fail({ kind: 'no-answer' }));
  socket.once('secureConnect', () => {
    // Before the chain is asked for: after getPeerX509Certificate, getPeerCertificate is empty (measured, Node 24.21).
    const verifiedBy = socket.authorized && trusted === 'system' ? listThatVerified(socket) : 'file';
    resolve({
      kind: 'established',
      socket,
      protocol: socket.getProtocol() ?? 'unknown',
      chain: chainOf(socket.getPeerX509Certificate()),
      trust: trusted === null ? { kind: 'no-anchor' } : trustOf(socket.authorizationError, verifiedBy),
      alpn: typeof socket.alpnProtocol === 'string' ? socket.alpnProtocol : null,
      ended: () => ended,
      tookMs: tookMs(),
    });
  });
  let probe: TlsProbe | undefined;
  try {
    probe = await promise;
    return probe;
  } finally {
    socket.off('close', onClose);
    if (probe?.kind !== 'established') {
      socket.destroy();
      stream.destroy();
    }
  }
}
