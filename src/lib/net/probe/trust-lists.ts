import { X509Certificate } from 'node:crypto';
import { createSecureContext, getCACertificates, type SecureContext, type TLSSocket } from 'node:tls';
import { MIN_TLS_VERSION } from '../../site/index.ts';

/**
 * What a chain was verified with: a file that the site file names; the list that comes with Node (Mozilla's);
 * NODE_EXTRA_CA_CERTS; or the list of the operating system alone. Only the first two say that no proxy of the house is
 * on the way: whoever looks after a machine can put its certificate into the other two.
 */
export type VerifiedBy = 'file' | 'bundled' | 'extra' | 'system';

export const verifiedByText: Readonly<Record<VerifiedBy, string>> = {
  file: 'the CA file of the site file',
  bundled: "Node's bundled list",
  extra: 'NODE_EXTRA_CA_CERTS alone',
  system: "the operating system's list alone",
};

type List = Exclude<VerifiedBy, 'file'>;

/** By certificate (base64 of its DER form). */
let listOf: ReadonlyMap<string, List> | undefined;
let context: SecureContext | undefined;

/** The lists of Node and of the operating system together, read once: the system's takes some 50 ms. */
function certificates(): ReadonlyMap<string, List> {
  if (listOf === undefined) {
    const found = new Map<string, List>();
    // The strongest last: a certificate of several lists counts for that one.
    for (const list of ['system', 'extra', 'bundled'] as const) {
      for (const pem of getCACertificates(list)) found.set(derOf(pem), list);
    }
    listOf = found;
  }
  return listOf;
}

/** Every certificate that 'the system' trusts, in PEM. */
export function systemCertificates(): string {
  return [...certificates().keys()]
    .map((der) => `-----BEGIN CERTIFICATE-----\n${der.replace(/(.{64})/g, '$1\n')}\n-----END CERTIFICATE-----\n`)
    .join('');
}

/** A context with all of them, made once. */
export function systemContext(): SecureContext {
  context ??= createSecureContext({ ca: systemCertificates(), minVersion: MIN_TLS_VERSION });
  return context;
}

/**
 * The list that an authorised connection was verified with. Each step up is verified by its signature: a name alone
 * would let a proxy send a public root along that never signed anything of it. 'system' where no step leads to a list.
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
