import { createHash } from 'node:crypto';

/**
 * Fingerprint of an ADB key as shown in the prompt of the tablet: MD5 of the public key as pairs of uppercase hex
 * digits. Null when the text is not an ADB public key.
 */
export function keyFingerprint(publicKeyFile: string): string | null {
  const [key = ''] = publicKeyFile.trim().split(/\s/);
  if (!/^[A-Za-z0-9+/]{100,4096}={0,2}$/.test(key)) return null;
  const digest = createHash('md5').update(Buffer.from(key, 'base64')).digest('hex').toUpperCase();
  return (digest.match(/../g) ?? []).join(':');
}
