import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect, createSecureContext, getCACertificates, type SecureContext, type TLSSocket } from 'node:tls';
import { type Clock, onAbort, systemClock } from '../../lifecycle/index.ts';
import { MIN_TLS_VERSION } from '../../site/index.ts';
import { CERTIFICATE, type CertificateView, certificatesOf, isSignedBy, viewCertificate } from '../../x509/index.ts';
import { type Anchors, type ChainFault, chainFaultOf } from './chain-fault.ts';

/**
 * The trust list that verified a chain: a CA file of the site file; Node's bundled list (Mozilla's);
 * NODE_EXTRA_CA_CERTS; or the operating system's list alone. Only the first two exclude a TLS-inspecting proxy, because
 * the administrator of a machine can add a proxy's CA to the other two.
 */
export type VerifiedBy = 'file' | 'bundled' | 'extra' | 'system';

export const verifiedByText: Readonly<Record<VerifiedBy, string>> = {
  file: 'the CA file of the site file',
  bundled: "Node's bundled list",
  extra: 'NODE_EXTRA_CA_CERTS alone',
  system: "the operating system's list alone",
};

type List = Exclude<VerifiedBy, 'file'>;

/** By certificate (base64 of its DER encoding). */
let listOf: ReadonlyMap<string, List> | undefined;
let pem: string | undefined;
let context: SecureContext | undefined;

let anchors: Anchors | undefined;

type Verification =
  | { readonly kind: 'trusted'; readonly by: VerifiedBy }
  /**
   * 'untrusted': the chain does not lead to a trusted CA, or not by valid CA certificates. 'hostname-mismatch': it is for
   * another host. 'expired', 'not-yet-valid': one of its certificates, by the clock of this machine.
   */
  | { readonly kind: 'untrusted' | 'hostname-mismatch' | 'expired' | 'not-yet-valid'; readonly reason: string };

/** The result of the chain verification; what was not verified says why, and who can mend it. */
type Trust =
  | Extract<Verification, { kind: 'trusted' }>
  | (Exclude<Verification, { kind: 'trusted' }> & { readonly fault: ChainFault })
  /** No CA was given to verify the chain with. */
  | { readonly kind: 'no-trust-anchor' };

const untrustedErrors = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_UNTRUSTED',
  'CERT_SIGNATURE_FAILURE',
  'CERT_CHAIN_TOO_LONG',
  'INVALID_CA',
  'CERT_REJECTED',
]);

/** Bound for the certificates of a chain. */
const MAX_LINKS = 10;

export interface TlsProbeOptions {
  /** The host name or address that the certificate must be valid for. */
  readonly host: string;
  /**
   * CA certificates (PEM) to verify the chain with; 'system' for Node's bundled list and the operating system's; null
   * when there is no trust anchor.
   */
  readonly trusted: string | 'system' | null;
  /** PEM; both or none. */
  readonly credentials?: { readonly keyPem: string; readonly certificatePem: string } | undefined;
  /** The only ALPN protocol offered. */
  readonly alpn?: string | undefined;
  /** Offers classic key exchange only, so that the ClientHello fits into one packet. */
  readonly smallHello?: boolean;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
}

/** The result of a TLS handshake. */
export type TlsProbe =
  | {
      readonly kind: 'established';
      /** Open; the caller closes it. Not to be trusted unless `trust` is 'trusted'. */
      readonly socket: TLSSocket;
      readonly protocol: string;
      readonly chain: readonly CertificateView[];
      readonly trust: Trust;
      /** The ALPN protocol that the peer selected; null: none. */
      readonly alpn: string | null;
      /** Why the connection has ended since; a peer may reject a client certificate after the handshake. */
      readonly ended: () => TlsFailure | null;
      readonly tookMs: number;
    }
  | { readonly kind: 'failed'; readonly failure: TlsFailure; readonly tookMs: number };

/** How TLS failed, before or after the handshake. */
export type TlsFailure =
  | { readonly kind: 'no-answer' | 'cut' | 'not-tls' }
  /** Alert no_application_protocol. */
  | { readonly kind: 'alpn-refused' }
  /** The peer rejects the client certificate, or requires one. */
  | { readonly kind: 'certificate-refused'; readonly alert: string }
  /** The peer sent another alert, or a local error occurred. */
  | { readonly kind: 'alert'; readonly alert: string };

/** Alert descriptions by number. @source RFC 8446, 6 and RFC 7301, 3.2 */
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
/** Alerts about the client certificate. */
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

/**
 * Performs a TLS handshake over an open stream and returns the peer's chain, trusted or not; over an untrusted one no data
 * of the device may be sent. Closes the stream on failure. Throws only the reason of the signal.
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
      // SNI must not hold an address (RFC 6066, 3).
      ...(isIP(host) === 0 && { servername: host }),
      ...(trusted !== null && trusted !== 'system' && { ca: trusted }),
      ...(trusted === 'system' &&
        (credentials || smallHello ? { ca: systemCertificates() } : { secureContext: systemContext() })),
      ...(credentials && { key: credentials.keyPem, cert: credentials.certificatePem }),
      ...(alpn !== undefined && { ALPNProtocols: [alpn] }),
      ...(smallHello && { ecdhCurve: 'X25519:P-256:P-384' }),
      // A given secureContext sets its own minimum.
      minVersion: MIN_TLS_VERSION,
      rejectUnauthorized: false,
    });
  } catch (error) {
    // OpenSSL rejects the key or certificate.
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
  // Errors after the handshake belong to the user of the socket; this listener keeps them from ending the process.
  socket.on('error', onError);
  socket.once('close', onClose);
  using _aborted = onAbort(signal, () => reject(signal.reason));
  using _late = clock.after(timeoutMs, () => fail({ kind: 'no-answer' }));
  socket.once('secureConnect', () => {
    // Before the chain is read: after getPeerX509Certificate, getPeerCertificate is empty (measured, Node 24.21).
    const verifiedBy = socket.authorized && trusted === 'system' ? listThatVerified(socket) : 'file';
    const sent = sentChain(socket.getPeerX509Certificate());
    const explained = (found: Verification): Trust => {
      if (found.kind === 'trusted') return found;
      const code = verifyCode(socket.authorizationError);
      const fault = chainFaultOf({ sent, anchors: anchorsOf(trusted ?? 'system'), code, host, now: clock.wall() });
      return { ...found, fault };
    };
    resolve({
      kind: 'established',
      socket,
      protocol: socket.getProtocol() ?? 'unknown',
      chain: sent.map(viewCertificate),
      trust: trusted === null ? { kind: 'no-trust-anchor' } : explained(trustOf(socket.authorizationError, verifiedBy)),
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

/** The lists of Node and the operating system, read once: the system's takes some 50 ms. */
function certificates(): ReadonlyMap<string, List> {
  if (listOf === undefined) {
    const found = new Map<string, List>();
    // The most trusted list last, so that it wins for a certificate of several lists.
    for (const list of ['system', 'extra', 'bundled'] as const) {
      for (const pem of getCACertificates(list)) found.set(derOf(pem), list);
    }
    listOf = found;
  }
  return listOf;
}

/** The certificates of all lists, in PEM. */
export function systemCertificates(): string {
  pem ??= [...certificates().keys()]
    // An empty line makes a certificate invalid, and Node ignores all that follow it.
    .map((der) => `-----BEGIN CERTIFICATE-----\n${der.replace(/.{1,64}/g, '$&\n')}-----END CERTIFICATE-----\n`)
    .join('');
  return pem;
}

/** Parsed only for a chain that was not verified. */
function anchorsOf(trusted: string): Anchors {
  if (trusted !== 'system') return { certificates: certificatesOf(trusted) ?? [], isFile: true };
  // One that cannot be read must not make all others count as untrusted.
  const each = systemCertificates().match(CERTIFICATE) ?? [];
  anchors ??= { certificates: each.flatMap((one) => certificatesOf(one) ?? []), isFile: false };
  return anchors;
}

/** A cached secure context with all lists. */
function systemContext(): SecureContext {
  context ??= createSecureContext({ ca: systemCertificates(), minVersion: MIN_TLS_VERSION });
  return context;
}

/**
 * The list that verified an authorised connection. Each step of the chain is verified by its signature, because a proxy
 * could send a public root that never signed its certificates. 'system' when no step leads to a list.
 */
function listThatVerified(socket: TLSSocket): List {
  const seen = new Set<string>();
  let at = socket.getPeerCertificate(true);
  while (at?.raw !== undefined && at.issuerCertificate?.raw !== undefined && !seen.has(at.fingerprint256)) {
    seen.add(at.fingerprint256);
    const issuer = at.issuerCertificate;
    if (!isSignedBy(new X509Certificate(at.raw), new X509Certificate(issuer.raw))) return 'system';
    const list = certificates().get(issuer.raw.toString('base64'));
    if (list !== undefined) return list;
    at = issuer;
  }
  return 'system';
}

function derOf(pem: string): string {
  return pem.replace(/-----(BEGIN|END) CERTIFICATE-----|\s/g, '');
}

/**
 * Classifies `authorizationError` of node's TLS. Unknown codes count as untrusted. `by` applies to a trusted chain.
 */
export function trustOf(authorizationError: unknown, by: VerifiedBy): Verification {
  if (authorizationError === null || authorizationError === undefined) return { kind: 'trusted', by };
  const code = verifyCode(authorizationError);
  if (code === 'CERT_HAS_EXPIRED') return { kind: 'expired', reason: code };
  if (code === 'CERT_NOT_YET_VALID') return { kind: 'not-yet-valid', reason: code };
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return { kind: 'hostname-mismatch', reason: code };
  return { kind: 'untrusted', reason: untrustedErrors.has(code) ? code : `not verified (${code})` };
}

/** The certificates that the server sent, its own first. */
export function sentChain(leaf: X509Certificate | undefined): X509Certificate[] {
  const links: X509Certificate[] = [];
  const seen = new Set<string>();
  for (let at = leaf; at !== undefined && links.length < MAX_LINKS; at = at.issuerCertificate) {
    if (seen.has(at.fingerprint256)) break;
    seen.add(at.fingerprint256);
    links.push(at);
  }
  return links;
}

function verifyCode(error: unknown): string {
  if (typeof error === 'string') return error;
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' ? code : 'UNKNOWN';
}

/** Classifies an error of node's TLS. */
export function tlsFailureOf(error: unknown): TlsFailure {
  const code = codeOf(error);
  // The text of an alert differs between OpenSSL versions; its number does not.
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
