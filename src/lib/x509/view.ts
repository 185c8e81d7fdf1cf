import type { X509Certificate } from 'node:crypto';
import type { z } from 'zod';
import type { certificateViewSchema } from './schema.ts';

export type CertificateView = Readonly<z.infer<typeof certificateViewSchema>>;

export function viewCertificate(certificate: X509Certificate): CertificateView {
  return {
    subject: nameLine(certificate.subject),
    issuer: nameLine(certificate.issuer),
    notBefore: iso(certificate.validFrom),
    notAfter: iso(certificate.validTo),
    fingerprintSha256: certificate.fingerprint256,
  };
}

/**
 * A distinguished name on one line in the order of RFC 4514, most specific part first. The library returns one part per
 * line in encoding order, which is the reverse.
 */
export function nameLine(name: string | undefined): string {
  return (name ?? '').split('\n').reverse().join(', ').slice(0, 300);
}

/** Of the text: what the library makes of a time that cannot be read is any time at all. */
function iso(text: string): string {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? 'unknown' : new Date(ms).toISOString();
}
