import { type KeyObject, X509Certificate } from 'node:crypto';
import { nameLine } from '../net/probe/index.ts';
import type { CertificateView, Identity } from './model.ts';

/** Why a certificate cannot be, or can no longer be, the identity of this device. */
type CertificateFault =
  | 'wrong-key'
  | 'wrong-serial'
  | 'is-authority'
  | 'not-for-clients'
  | 'wrong-issuer'
  | 'expired'
  | 'not-yet-valid';

export interface CertificateProblem {
  readonly reason: CertificateFault;
  /** A sentence without its full stop, for a person. */
  readonly text: string;
}

/** More than any chain needs, and few enough that looking for issuers costs nothing. */
const MOST_CERTIFICATES = 8;
const CLIENT_USE = new Set(['1.3.6.1.5.5.7.3.2', '2.5.29.37.0']);
/** How far the clocks of two honest machines differ; decision of ours. */
export const CLOCK_TOLERANCE_MS = 5 * 60_000;

const block = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]*-----END CERTIFICATE-----/g;

/**
 * The certificates of a PEM text, 1 to 8, nothing between them but blanks. Undefined when it is anything else: a text
 * that also holds something else was not meant for this place.
 */
export function readCertificates(pem: string): readonly X509Certificate[] | undefined {
  const blocks = pem.match(block) ?? [];
  if (blocks.length === 0 || blocks.length > MOST_CERTIFICATES || pem.replace(block, '').trim() !== '')
    return undefined;
  try {
    return blocks.map((text) => {
      const certificate = new X509Certificate(text);
      // The library decodes the key only when it is asked for, and throws then.
      certificate.publicKey;
      return certificate;
    });
  } catch {
    return undefined;
  }
}

/** The same certificates as OpenSSL writes them. */
export function certificatesPem(certificates: readonly X509Certificate[]): string {
  return certificates.map(String).join('');
}

/** What people see of a certificate. */
export function viewCertificate(chain: readonly X509Certificate[]): CertificateView {
  const [own] = chain;
  if (own === undefined) throw new RangeError('a chain begins with a certificate');
  return {
    pem: certificatesPem(chain),
    subject: nameLine(own.subject),
    issuer: nameLine(own.issuer),
    notBefore: own.validFromDate.toISOString(),
    notAfter: own.validToDate.toISOString(),
    fingerprintSha256: own.fingerprint256,
  };
}

export interface Expected {
  readonly publicKey: KeyObject;
  readonly serial: string;
  readonly authorities: readonly X509Certificate[];
  /** The moment that validity is judged at; null leaves validity out. */
  readonly at: Date | null;
}

/**
 * Everything that is wrong with a certificate as the identity of a device: it must carry the device's key, name the
 * serial number as its only common name, be no authority, allow client use if it restricts its use, and lead through
 * the certificates behind it to a self-signed one among the authorities. Decision of ours, see docs/enrolment.md.
 */
export function judgeCertificate(chain: readonly X509Certificate[], expected: Expected): CertificateProblem[] {
  const [own, ...between] = chain;
  if (own === undefined) return [{ reason: 'wrong-key', text: 'there is no certificate' }];
  const problems: CertificateProblem[] = [];
  const wrong = (reason: CertificateFault, text: string) => problems.push({ reason, text });

  if (!own.publicKey.equals(expected.publicKey))
    wrong('wrong-key', 'it carries another key than the one of this device');
  const name = commonName(own);
  if (name !== expected.serial) {
    const found = name === undefined ? 'no common name, or several,' : `the common name ${JSON.stringify(name)}`;
    wrong('wrong-serial', `it has ${found} and not the serial number ${expected.serial}`);
  }
  if (own.ca) wrong('is-authority', 'it is the certificate of an authority, not of a device');
  // Without the extension the use is not restricted; the operating system's TLS library sees it the same way.
  const uses = own.keyUsage;
  if (uses !== undefined && !uses.some((use) => CLIENT_USE.has(use))) {
    wrong('not-for-clients', 'it does not allow its use as a client certificate');
  }
  const path = pathToRoot(own, between, expected.authorities);
  if (path === undefined)
    wrong('wrong-issuer', 'it does not lead to a self-signed certificate among the authorities given');
  return [...problems, ...validityProblems(path ?? [own], expected.at)];
}

/** What an identity is by its certificate and the authorities above it at a moment. */
export interface Validity {
  readonly problems: readonly CertificateProblem[];
  /** When the first of them ends. */
  readonly notAfter: Date;
  /** Which one that is; null for the certificate of the device itself. */
  readonly endsFirst: string | null;
}

/** How it stands with the validity of an identity, up to its authority: without that one nobody takes it either. */
export function judgeValidity({ certificate, caPem }: Pick<Identity, 'certificate' | 'caPem'>, at: Date): Validity {
  const [own, ...between] = readCertificates(certificate.pem) ?? [];
  if (own === undefined) throw new RangeError('an identity has a certificate');
  const path = pathToRoot(own, between, readCertificates(caPem) ?? []) ?? [own];
  const first = path.reduce((soonest, part) => (part.validToDate < soonest.validToDate ? part : soonest));
  return {
    problems: validityProblems(path, at),
    notAfter: first.validToDate,
    endsFirst: first === own ? null : nameLine(first.subject),
  };
}

/** Of the certificate of a device, which comes first, and those above it. */
function validityProblems(path: readonly X509Certificate[], at: Date | null): CertificateProblem[] {
  return path.flatMap((part, index): CertificateProblem[] => {
    const reason = validityFault(part, at);
    if (reason === undefined) return [];
    const what = index === 0 ? 'it' : `the certificate of its authority (${nameLine(part.subject)})`;
    return reason === 'expired'
      ? [{ reason, text: `${what} expired at ${part.validToDate.toISOString()}` }]
      : [{ reason, text: `${what} is valid from ${part.validFromDate.toISOString()} on only` }];
  });
}

/** Whether a moment lies outside the validity; before its begin the tolerance of clocks is granted. */
function validityFault(certificate: X509Certificate, at: Date | null): 'expired' | 'not-yet-valid' | undefined {
  if (at === null) return undefined;
  if (at.getTime() > certificate.validToDate.getTime()) return 'expired';
  if (at.getTime() + CLOCK_TOLERANCE_MS < certificate.validFromDate.getTime()) return 'not-yet-valid';
  return undefined;
}

/** From the device's certificate up to a self-signed one among the authorities. */
function pathToRoot(
  own: X509Certificate,
  between: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
): readonly X509Certificate[] | undefined {
  const path = [own];
  for (let step = 0; step <= MOST_CERTIFICATES * 2; step += 1) {
    const last = path.at(-1) ?? own;
    const root = authorities.find((other) => issued(last, other) && issued(other, other));
    if (root) return [...path, root];
    const next = [...authorities, ...between].find((other) => !path.includes(other) && issued(last, other));
    if (next === undefined) return undefined;
    path.push(next);
  }
  return undefined;
}

function issued(certificate: X509Certificate, by: X509Certificate): boolean {
  try {
    return by.ca && certificate.checkIssued(by) && certificate.verify(by.publicKey);
  } catch {
    // A key of a kind that this machine's library does not know.
    return false;
  }
}

/** Undefined when there is none, or more than one. */
function commonName(certificate: X509Certificate): string | undefined {
  const name: unknown = certificate.toLegacyObject().subject?.CN;
  return typeof name === 'string' ? name : undefined;
}
