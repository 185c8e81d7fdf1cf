import type { X509Certificate } from 'node:crypto';
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
