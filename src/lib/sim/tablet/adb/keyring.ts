import { constants, createHash, createPublicKey, type KeyObject, publicDecrypt } from 'node:crypto';
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
}

export const TOKEN_BYTES = 20;
const MODULUS_BYTES = 256;
const KEY_BYTES = 4 + 4 + MODULUS_BYTES + MODULUS_BYTES + 4;
/** Algorithm identifier of SHA-1 in PKCS#1. */
const SHA1_PREFIX = Buffer.from('3021300906052b0e03021a05000414', 'hex');

/** Parses an offered key; undefined when it is malformed or not as adb makes it: 2048 bits, exponent 65537. */
export function readHostKey(payload: Buffer): HostKey | undefined {
  const bytes = Buffer.from(payload.toString('latin1').split(/[ \0]/, 1)[0] ?? '', 'base64');
  if (bytes.length !== KEY_BYTES || bytes.readUInt32LE(0) !== MODULUS_BYTES / 4) return undefined;
  const modulus = Buffer.from(bytes.subarray(8, 8 + MODULUS_BYTES)).reverse();
  // An even modulus or another exponent could accept any signature.
  if (modulus.readUInt8(0) < 0x80 || modulus.readUInt8(MODULUS_BYTES - 1) % 2 === 0) return undefined;
  if (bytes.readUInt32LE(KEY_BYTES - 4) !== 65537) return undefined;
  try {
    const key = createPublicKey({
      key: { kty: 'RSA', n: modulus.toString('base64url'), e: 'AQAB' },
      format: 'jwk',
    });
    const digest = createHash('md5').update(bytes).digest('hex').toUpperCase();
    return { key, fingerprint: digest.replace(/..(?!$)/g, '$&:') };
  } catch {
    return undefined;
  }
}

/** Verifies a signature of the token with a key. */
function isSignedBy({ key }: HostKey, token: Buffer, signature: Buffer): boolean {
  try {
    const digest = publicDecrypt({ key, padding: constants.RSA_PKCS1_PADDING }, signature);
    return digest.equals(Buffer.concat([SHA1_PREFIX, token]));
  } catch {
    return false;
  }
}

/** Answer of the person at the tablet to 'Allow debugging?': at once, after a delay, or never. */
export type PromptAnswer = 'at-once' | 'never' | { readonly afterMs: number };

/** The allowed keys of debugging hosts, and the prompts for further keys. */
export function createKeyring(answer: () => PromptAnswer, clock: Clock) {
  const allowed = new Map<string, HostKey>();
  const unanswered = new Set<() => void>();
  let promptCount = 0;

  return {
    /** Number of prompts shown. */
    prompts: (): number => promptCount,
    fingerprints: (): readonly string[] => [...allowed.keys()],
    /** Whether an allowed key signed this token. */
    isSigned: (token: Buffer, signature: Buffer): boolean =>
      [...allowed.values()].some((key) => isSignedBy(key, token, signature)),
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
