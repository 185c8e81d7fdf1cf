import { X509Certificate } from 'node:crypto';
import type { VerifiedBy } from './trust-lists.ts';

/** The displayed fields of one certificate of a chain. Names are untrusted text. */
export interface ChainLink {
  /** `CN=…, O=…` in one line. */
  readonly subject: string;
  readonly issuer: string;
  readonly notBefore: string;
  readonly notAfter: string;
  /** SHA-256 in hex with colons. */
  readonly fingerprintSha256: string;
}

/** The result of the chain verification. */
export type Trust =
  | { readonly kind: 'trusted'; readonly by: VerifiedBy }
  /** The chain does not end in a trusted CA: TLS interception, or the wrong CA file. */
  | { readonly kind: 'untrusted'; readonly reason: string }
  /** The certificate is for another host name. */
  | { readonly kind: 'hostname-mismatch'; readonly reason: string }
  /** By the clock of this machine. */
  | { readonly kind: 'expired' | 'not-yet-valid'; readonly reason: string }
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

/**
 * Classifies `authorizationError` of node's TLS. Unknown codes count as untrusted. `by` applies to a trusted chain.
 */
export function trustOf(authorizationError: unknown, by: VerifiedBy): Trust {
  if (authorizationError === null || authorizationError === undefined) return { kind: 'trusted', by };
  const code = verifyCode(authorizationError);
  if (code === 'CERT_HAS_EXPIRED') return { kind: 'expired', reason: code };
  if (code === 'CERT_NOT_YET_VALID') return { kind: 'not-yet-valid', reason: code };
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return { kind: 'hostname-mismatch', reason: code };
  return { kind: 'untrusted', reason: untrustedErrors.has(code) ? code : `not verified (${code})` };
}

/** Bound for the certificates of a chain. */
const MAX_LINKS = 10;

/** The chain from the server certificate on, up to a self-signed certificate or an unknown issuer. */
export function chainOf(leaf: X509Certificate | undefined): ChainLink[] {
  const links: ChainLink[] = [];
  const seen = new Set<string>();
  for (let at = leaf; at !== undefined && links.length < MAX_LINKS; at = at.issuerCertificate) {
    if (seen.has(at.fingerprint256)) break;
    seen.add(at.fingerprint256);
    links.push({
      subject: nameLine(at.subject),
      issuer: nameLine(at.issuer),
      notBefore: iso(at.validFromDate),
      notAfter: iso(at.validToDate),
      fingerprintSha256: at.fingerprint256,
    });
  }
  return links;
}

/** The certificates of a PEM text, in order. Null when it holds none, or one that cannot be read. */
export function certificatesOf(pem: string): X509Certificate[] | null {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]*-----END CERTIFICATE-----/g) ?? [];
  try {
    const certificates = blocks.map((block) => new X509Certificate(block));
    return certificates.length > 0 ? certificates : null;
  } catch {
    return null;
  }
}

function verifyCode(error: unknown): string {
  if (typeof error === 'string') return error;
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' ? code : 'UNKNOWN';
}

/**
 * A distinguished name on one line in the order of RFC 4514, most specific part first. The library returns one part per
 * line in encoding order, which is the reverse.
 */
export function nameLine(name: string | undefined): string {
  return (name ?? '').split('\n').reverse().join(', ').slice(0, 300);
}

function iso(date: Date): string {
  return Number.isNaN(date.getTime()) ? 'unknown' : date.toISOString();
}
