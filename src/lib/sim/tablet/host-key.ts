import { constants, createHash, createPublicKey, type KeyObject, publicDecrypt, timingSafeEqual } from 'node:crypto';

/**
 * Keys of machines that debug a tablet. The form in which one is offered: base64 of words in little-endian order
 * (length in words, -1/n mod 2^32, modulus, R^2 mod n, exponent), a space, and who it belongs to. Source: Android's
 * own tools; the signature is RSA PKCS#1 over the 20 bytes of the token, taken for a SHA-1 digest.
 */
export interface HostKey {
  readonly key: KeyObject;
  /** As a tablet shows it in its question: MD5 of the decoded key. */
  readonly fingerprint: string;
  /** Who it says that it belongs to; nobody checks that. */
  readonly owner: string;
}

export const TOKEN_BYTES = 20;
const MODULUS_BYTES = 256;
const KEY_BYTES = 4 + 4 + MODULUS_BYTES + MODULUS_BYTES + 4;
/** Longest text of an offered key: 524 bytes in base64, a space and a name. */
const LONGEST_OFFER = 2048;
/** The digest of PKCS#1 names its kind: an algorithm identifier of SHA-1. */
const SHA1_PREFIX = Buffer.from('3021300906052b0e03021a05000414', 'hex');

/** Reads an offered key; undefined when it is none of 2048 bits. */
export function readHostKey(payload: Buffer): HostKey | undefined {
  if (payload.length > LONGEST_OFFER) return undefined;
  const end = payload.indexOf(0);
  const text = payload.toString('latin1', 0, end === -1 ? payload.length : end);
  const [encoded = '', ...owner] = text.trim().split(' ');
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length !== KEY_BYTES || bytes.readUInt32LE(0) !== MODULUS_BYTES / 4) return undefined;
  const modulus = Buffer.from(bytes.subarray(8, 8 + MODULUS_BYTES)).reverse();
  const exponent = bytes.readUInt32LE(KEY_BYTES - 4);
  // An even modulus or an exponent of 1 would make every signature right.
  if ((modulus[0] ?? 0) < 0x80 || (modulus.at(-1) ?? 0) % 2 === 0 || (exponent !== 3 && exponent !== 65537)) {
    return undefined;
  }
  const e = exponent === 3 ? Buffer.from([3]) : Buffer.from([1, 0, 1]);
  try {
    const key = createPublicKey({
      key: { kty: 'RSA', n: modulus.toString('base64url'), e: e.toString('base64url') },
      format: 'jwk',
    });
    const fingerprint = createHash('md5').update(bytes).digest('hex').toUpperCase().match(/../g)?.join(':') ?? '';
    return { key, fingerprint, owner: owner.join(' ').slice(0, 200) };
  } catch {
    return undefined;
  }
}

/** Whether this is the signature of that key over the token. */
export function isSignedBy({ key }: HostKey, token: Buffer, signature: Buffer): boolean {
  if (signature.length !== MODULUS_BYTES) return false;
  try {
    const digest = publicDecrypt({ key, padding: constants.RSA_PKCS1_PADDING }, signature);
    const wanted = Buffer.concat([SHA1_PREFIX, token]);
    return digest.length === wanted.length && timingSafeEqual(digest, wanted);
  } catch {
    return false;
  }
}
