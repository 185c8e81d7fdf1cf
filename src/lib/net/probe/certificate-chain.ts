import { X509Certificate } from 'node:crypto';
import type { VerifiedBy } from './trust-lists.ts';

/** One certificate of a chain, cut to what a person compares. Names are foreign text. */
export interface ChainLink {
  /** `CN=…, O=…` in one line. */
  readonly subject: string;
  readonly issuer: string;
  readonly notBefore: string;
  readonly notAfter: string;
  /** SHA-256 in hex with colons. */
  readonly fingerprintSha256: string;
}

/** Whether a chain ends where it must, and if not, what that means. */
export type Trust =
  | { readonly kind: 'trusted'; readonly by: VerifiedBy }
  /** It does not end in a trusted certificate: somebody opens TLS on the way, or the trusted file is the wrong one. */
  | { readonly kind: 'foreign'; readonly reason: string }
  /** It names another host. */
  | { readonly kind: 'other-name'; readonly reason: string }
  /** By the clock of this machine. */
  | { readonly kind: 'expired' | 'not-yet-valid'; readonly reason: string }
  /** Nothing was given to hold it against. */
  | { readonly kind: 'no-anchor' };

const foreignErrors = new Set([
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
 * Sorts what node's TLS says of a chain (`authorizationError`) by what it means. Unknown words count as foreign. `by` counts
 * for a chain that is trusted.
 */
export function trustOf(authorizationError: unknown, by: VerifiedBy): Trust {
  if (authorizationError === null || authorizationError === undefined) return { kind: 'trusted', by };
  const code = codeOf(authorizationError);
  if (code === 'CERT_HAS_EXPIRED') return { kind: 'expired', reason: code };
  if (code === 'CERT_NOT_YET_VALID') return { kind: 'not-yet-valid', reason: code };
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return { kind: 'other-name', reason: code };
  return { kind: 'foreign', reason: foreignErrors.has(code) ? code : `not verified (${code})` };
}

/** How many certificates of a chain are looked at; no sound one is longer. */
const MOST_LINKS = 10;

/** A chain as a list, the server's own certificate first. Ends where no issuer is known or one signs itself. */
export function chainOf(leaf: X509Certificate | undefined): ChainLink[] {
  const links: ChainLink[] = [];
  const seen = new Set<string>();
  for (let at = leaf; at !== undefined && links.length < MOST_LINKS; at = at.issuerCertificate) {
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

function codeOf(error: unknown): string {
  if (typeof error === 'string') return error;
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' ? code : 'UNKNOWN';
}

/**
 * The name in a certificate on one line, in the order of RFC 4514: the narrowest part first. The library gives the parts
 * one a line as they are encoded, which is the other way round.
 */
export function nameLine(name: string | undefined): string {
  return (name ?? '').split('\n').reverse().join(', ').slice(0, 300);
}

function iso(date: Date): string {
  return Number.isNaN(date.getTime()) ? 'unknown' : date.toISOString();
}
