import type { KeyObject, X509Certificate } from 'node:crypto';
import { CERTIFICATE, certificatesOf, commonNameOf, isIssuedBy, nameLine, viewCertificate } from '../x509/index.ts';
import type { Identity, InstalledCertificate } from './model.ts';

/** Why a certificate cannot be the identity of this device. */
type CertificateFault =
  | 'wrong-key'
  | 'wrong-serial'
  | 'is-ca'
  | 'not-for-clients'
  | 'wrong-issuer'
  | 'expired'
  | 'not-yet-valid';

export interface CertificateProblem {
  readonly reason: CertificateFault;
  /** A sentence without full stop. */
  readonly text: string;
}

/** Bound that keeps the search for issuers cheap. */
const MAX_CERTIFICATES = 8;
export const CA_TEXT = 'it is a CA certificate, not a device certificate';
const CLIENT_USE = new Set(['1.3.6.1.5.5.7.3.2', '2.5.29.37.0']);
/** Project decision: tolerated clock difference of two machines. */
export const CLOCK_TOLERANCE_MS = 5 * 60_000;

/**
 * Parses 1 to 8 PEM certificates, separated by white space only. Undefined for anything else.
 */
export function readCertificates(pem: string): readonly X509Certificate[] | undefined {
  if (pem.replace(CERTIFICATE, '').trim() !== '') return undefined;
  const count = pem.match(CERTIFICATE)?.length ?? 0;
  return count === 0 || count > MAX_CERTIFICATES ? undefined : certificatesOf(pem);
}

/** The certificates as PEM. */
export function certificatesPem(certificates: readonly X509Certificate[]): string {
  return certificates.map(String).join('');
}

export function installedCertificate(chain: readonly X509Certificate[]): InstalledCertificate {
  const [own] = chain;
  if (own === undefined) throw new RangeError('a chain begins with a certificate');
  return { pem: certificatesPem(chain), ...viewCertificate(own) };
}

export interface Expected {
  readonly publicKey: KeyObject;
  readonly serial: string;
  readonly cas: readonly X509Certificate[];
  /** The time for the validity check; null skips it. */
  readonly at: Date | null;
}

/**
 * All problems of a certificate as device identity: it must have the device's key, the serial number as its only common name,
 * no CA flag, clientAuth if it restricts its use, and a chain to a self-signed CA. Project decision, see docs/enrolment.md.
 */
export function judgeCertificate(chain: readonly X509Certificate[], expected: Expected): CertificateProblem[] {
  const [own, ...between] = chain;
  if (own === undefined) return [{ reason: 'wrong-key', text: 'no certificate' }];
  const problems: CertificateProblem[] = [];
  const wrong = (reason: CertificateFault, text: string) => problems.push({ reason, text });

  if (!own.publicKey.equals(expected.publicKey)) wrong('wrong-key', 'public key mismatch: not the key of this device');
  const name = commonNameOf(own);
  if (name !== expected.serial) {
    const found = name === undefined ? 'no common name, or several,' : `the common name ${JSON.stringify(name)}`;
    wrong('wrong-serial', `it has ${found}, expected the serial number ${expected.serial}`);
  }
  if (own.ca) wrong('is-ca', CA_TEXT);
  // Without the extension the use is unrestricted, as in OpenSSL.
  const uses = own.keyUsage;
  if (uses !== undefined && !uses.some((use) => CLIENT_USE.has(use))) {
    wrong('not-for-clients', 'extended key usage does not include clientAuth');
  }
  const path = pathToRoot(own, between, expected.cas);
  if (path === undefined) wrong('wrong-issuer', 'its chain does not end in a self-signed certificate of the given CAs');
  return [...problems, ...validityProblems(path ?? [own], expected.at)];
}

/** Validity of an identity with its CAs at a time. */
export interface Validity {
  readonly problems: readonly CertificateProblem[];
  /** The earliest end of validity. */
  readonly notAfter: Date;
  /** Subject of that certificate; null for the device certificate. */
  readonly endsFirst: string | null;
}

/** Judges the validity of an identity up to its root CA. */
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

/** Validity problems of the device certificate, which comes first, and its issuers. */
function validityProblems(path: readonly X509Certificate[], at: Date | null): CertificateProblem[] {
  return path.flatMap((part, index): CertificateProblem[] => {
    const reason = validityFault(part, at);
    if (reason === undefined) return [];
    const what = index === 0 ? 'it' : `its CA certificate (${nameLine(part.subject)})`;
    return reason === 'expired'
      ? [{ reason, text: `${what} expired at ${part.validToDate.toISOString()}` }]
      : [{ reason, text: `${what} is not valid before ${part.validFromDate.toISOString()}` }];
  });
}

/** Whether a time is outside the validity; before its begin the clock tolerance applies. */
function validityFault(certificate: X509Certificate, at: Date | null): 'expired' | 'not-yet-valid' | undefined {
  if (at === null) return undefined;
  if (at.getTime() > certificate.validToDate.getTime()) return 'expired';
  if (at.getTime() + CLOCK_TOLERANCE_MS < certificate.validFromDate.getTime()) return 'not-yet-valid';
  return undefined;
}

/** The chain from the device certificate to a self-signed CA. */
export function pathToRoot(
  own: X509Certificate,
  between: readonly X509Certificate[],
  cas: readonly X509Certificate[],
): readonly X509Certificate[] | undefined {
  const path = [own];
  for (let step = 0; step <= MAX_CERTIFICATES * 2; step += 1) {
    const last = path.at(-1) ?? own;
    const root = cas.find((other) => isIssuedBy(last, other) && isIssuedBy(other, other));
    if (root) return [...path, root];
    const next = [...cas, ...between].find((other) => !path.includes(other) && isIssuedBy(last, other));
    if (next === undefined) return undefined;
    path.push(next);
  }
  return undefined;
}
