import { createPrivateKey, createPublicKey, generateKeyPairSync, webcrypto } from 'node:crypto';

/** A new device key: EC P-256, PKCS#8 in PEM. Only its public key ever leaves this machine. */
export function makeDeviceKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/**
 * What Node does not show of the extensions: whether the key usage allows digitalSignature, which TLS client
 * authentication requires, and whether the basic constraints say CA, which Node denies without keyCertSign. null:
 * malformed.
 */
export async function extensionsOf(
  certificatePem: string,
): Promise<{ isCa: boolean; allowsSignatures: boolean } | null> {
  await import('reflect-metadata');
  const { BasicConstraintsExtension, KeyUsageFlags, KeyUsagesExtension, X509Certificate } = await import(
    '@peculiar/x509'
  );
  try {
    const certificate = new X509Certificate(certificatePem);
    const usages = certificate.getExtension(KeyUsagesExtension);
    return {
      isCa: certificate.getExtension(BasicConstraintsExtension)?.ca === true,
      allowsSignatures: usages === null || (usages.usages & KeyUsageFlags.digitalSignature) !== 0,
    };
  } catch {
    return null;
  }
}

/** A certificate request (PKCS#10, PEM) for the key: the subject is the serial number alone, signed with SHA-256. */
export async function makeCertificateRequest(keyPem: string, serial: string): Promise<string> {
  // Imported here only, because the library is large.
  await import('reflect-metadata');
  const { Pkcs10CertificateRequestGenerator } = await import('@peculiar/x509');
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' } as const;
  const privateKey = createPrivateKey(keyPem);
  const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'der' });
  const spki = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: [{ CN: [serial] }],
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    keys: {
      privateKey: await webcrypto.subtle.importKey('pkcs8', pkcs8, algorithm, true, ['sign']),
      publicKey: await webcrypto.subtle.importKey('spki', spki, algorithm, true, ['verify']),
    },
  });
  return `${request.toString('pem').trim()}\n`;
}
