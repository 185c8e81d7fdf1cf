import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';

/**
 * The common name of the subject; undefined when there is none or more than one. Loads TLS before the first
 * toLegacyObject(): in Node 24.21 `tls.connect` fails in a process that loads TLS after it (measured).
 */
export function commonNameOf(certificate: X509Certificate): string | undefined {
  if (typeof createSecureContext !== 'function') throw new TypeError('TLS is not loaded');
  const name: unknown = certificate.toLegacyObject().subject?.CN;
  return typeof name === 'string' ? name : undefined;
}

/** A certificate in PEM. */
export const CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]*-----END CERTIFICATE-----/g;

/**
 * The certificates of a PEM text, in their order. Undefined when one is invalid, has an unsupported key, or a validity that
 * cannot be read: no comparison with it would ever say that it is over.
 */
export function certificatesOf(pem: string): X509Certificate[] | undefined {
  try {
    const certificates = (pem.match(CERTIFICATE) ?? []).map((text) => new X509Certificate(text));
    // The library decodes the key on first access, and throws then.
    for (const certificate of certificates) certificate.publicKey;
    return certificates.every(hasPeriod) ? certificates : undefined;
  } catch {
    return undefined;
  }
}

/** By the texts: of a time that OpenSSL cannot read, `validToDate` of Node 24.21 is any time at all (measured). */
export function hasPeriod({ validFrom, validTo }: X509Certificate): boolean {
  return [validFrom, validTo].every((text) => !Number.isNaN(Date.parse(text)));
}

/** By names and signature, also where the issuer lacks what a CA certificate must have. */
export function isSignedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  try {
    return certificate.issuer === issuer.subject && certificate.verify(issuer.publicKey);
  } catch {
    return false;
  }
}

/** Without extensions too; OpenSSL ends a chain in such a certificate. */
export const isSelfSigned = (certificate: X509Certificate): boolean => isSignedBy(certificate, certificate);

export function isIssuedBy(certificate: X509Certificate, ca: X509Certificate): boolean {
  try {
    return ca.ca && certificate.checkIssued(ca) && certificate.verify(ca.publicKey);
  } catch {
    // The key type is unsupported or does not match the signature.
    return false;
  }
}
