import { X509Certificate } from 'node:crypto';
import { createSecureContext, getCACertificates, type SecureContext, type TLSSocket } from 'node:tls';
import { MIN_TLS_VERSION } from '../../site/index.ts';

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

/** A cached secure context with all lists. */
export function systemContext(): SecureContext {
  context ??= createSecureContext({ ca: systemCertificates(), minVersion: MIN_TLS_VERSION });
  return context;
}

/**
 * The list that verified an authorised connection. Each step of the chain is verified by its signature, because a proxy
 * could send a public root that never signed its certificates. 'system' when no step leads to a list.
 */
export function listThatVerified(socket: TLSSocket): List {
  const seen = new Set<string>();
  let at = socket.getPeerCertificate(true);
  while (at?.raw !== undefined && at.issuerCertificate?.raw !== undefined && !seen.has(at.fingerprint256)) {
    seen.add(at.fingerprint256);
    const issuer = at.issuerCertificate;
    if (!isSignedBy(at.raw, issuer.raw)) return 'system';
    const list = certificates().get(issuer.raw.toString('base64'));
    if (list !== undefined) return list;
    at = issuer;
  }
  return 'system';
}

function isSignedBy(certificate: Buffer, issuer: Buffer): boolean {
  try {
    return new X509Certificate(certificate).verify(new X509Certificate(issuer).publicKey);
  } catch {
    return false;
  }
}

function derOf(pem: string): string {
  return pem.replace(/-----(BEGIN|END) CERTIFICATE-----|\s/g, '');
}
