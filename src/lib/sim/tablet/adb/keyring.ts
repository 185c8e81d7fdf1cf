import { constants, createHash, createPublicKey, type KeyObject, publicDecrypt, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../../lifecycle/index.ts';

/**
 * Public keys of debugging hosts. Format: base64 of little-endian words (length in words, -1/n mod 2^32, modulus,
 * R^2 mod n, exponent), a space, and an owner. The signature is RSA PKCS#1 over the 20 bytes of the token, used as a
 * SHA-1 digest. Source: Android's tools.
 */
interface HostKey {
  readonly key: KeyObject;
  /** As in the prompt of a tablet: MD5 of the decoded key. */
  readonly fingerprint: string;
  /** Stated owner, not verified. */
  readonly owner: string;
}

export const TOKEN_BYTES = 20;
const MODULUS_BYTES = 256;
const KEY_BYTES = 4 + 4 + MODULUS_BYTES + MODULUS_BYTES + 4;
/** Maximum length of an offered key: 524 bytes in base64, a space and a name. */
const MAX_OFFER_BYTES = 2048;
/** Algorithm identifier of SHA-1 in PKCS#1. */
const SHA1_PREFIX = Buffer.from('3021300906052b0e03021a05000414', 'hex');

/** Parses an offered key; undefined when it is malformed or not of 2048 bits. */
export function readHostKey(payload: Buffer): HostKey | undefined {
  if (payload.length > MAX_OFFER_BYTES) return undefined;
  const end = payload.indexOf(0);
  const text = payload.toString('latin1', 0, end === -1 ? payload.length : end);
  const [encoded = '', ...owner] = text.trim().split(' ');
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length !== KEY_BYTES || bytes.readUInt32LE(0) !== MODULUS_BYTES / 4) return undefined;
  const modulus = Buffer.from(bytes.subarray(8, 8 + MODULUS_BYTES)).reverse();
  const exponent = bytes.readUInt32LE(KEY_BYTES - 4);
  // An even modulus or an exponent of 1 would accept any signature.
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

/** Verifies a signature of the token with a key. */
function isSignedBy({ key }: HostKey, token: Buffer, signature: Buffer): boolean {
  if (signature.length !== MODULUS_BYTES) return false;
  try {
    const digest = publicDecrypt({ key, padding: constants.RSA_PKCS1_PADDING }, signature);
    const wanted = Buffer.concat([SHA1_PREFIX, token]);
    return digest.length === wanted.length && timingSafeEqual(digest, wanted);
  } catch {
    return false;
  }
}

/** Answer of the person at the tablet to 'Allow debugging?': at once, after a delay, or never. */
export type PromptAnswer = 'at-once' | 'never' | { readonly afterMs: number };

const MAX_KEYS = 64;

/** The allowed keys of debugging hosts, and the prompts for further keys. */
export function createKeyring(answer: () => PromptAnswer, clock: Clock) {
  const allowed = new Map<string, HostKey>();
  const unanswered = new Set<() => void>();
  let promptCount = 0;

  return {
    /** Number of prompts shown. */
    prompts: (): number => promptCount,
    allowed: (): readonly HostKey[] => [...allowed.values()],
    /** The allowed key that signed this token, if any. */
    signer: (token: Buffer, signature: Buffer): HostKey | undefined =>
      [...allowed.values()].find((key) => isSignedBy(key, token, signature)),
    /** Removes all allowed keys and prompts. */
    revoke(): void {
      allowed.clear();
      unanswered.clear();
    },
    /** The person allows every pending prompt. */
    allowAll(): void {
      for (const settle of unanswered) settle();
    },
    /** Shows a prompt; `allow` is called when the person allows it. Disposing removes the prompt. */
    prompt(key: HostKey, allow: () => void): Disposable {
      promptCount += 1;
      const settle = () => {
        if (!unanswered.delete(settle)) return;
        if (allowed.size >= MAX_KEYS) allowed.delete(allowed.keys().next().value ?? '');
        allowed.set(key.fingerprint, key);
        allow();
      };
      unanswered.add(settle);
      const reaction = answer();
      const timer =
        reaction === 'never' ? undefined : clock.after(reaction === 'at-once' ? 0 : reaction.afterMs, settle);
      return {
        [Symbol.dispose]() {
          unanswered.delete(settle);
          timer?.[Symbol.dispose]();
        },
      };
    },
  };
}

export type Keyring = ReturnType<typeof createKeyring>;
