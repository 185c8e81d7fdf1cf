import { createHash } from 'node:crypto';

/**
 * The fingerprint of an ADB key as the tablet shows it when it asks whether to allow this computer: MD5 of the
 * public key, as pairs of capital hex digits. Null when the text is no public key of ADB.
 */
export function keyFingerprint(publicKeyFile: string): string | null {
  const [key = ''] = publicKeyFile.trim().split(/\s/);
  if (!/^[A-Za-z0-9+/]{100,4096}={0,2}$/.test(key)) return null;
  const digest = createHash('md5').update(Buffer.from(key, 'base64')).digest('hex').toUpperCase();
  return (digest.match(/../g) ?? []).join(':');
}
