import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { GwError, systemReason } from '../../error/index.ts';
import { readWhole } from '../../lifecycle/index.ts';

const MAX_KEY_BYTES = 16 * 1024;
/** Both hold while the key that signs releases is changed. Project decision. */
const MAX_KEYS = 2;
const BLOCK = /-----BEGIN PUBLIC KEY-----[\s\S]*?-----END PUBLIC KEY-----/g;

/** The public keys that verify releases, one or two; each alone suffices. */
export type ReleaseKeys = readonly [KeyObject, ...KeyObject[]];

/**
 * Reads the public keys of a file: PEM, one key, or two during a change of key. Throws FILE_UNREADABLE, RELEASE_INVALID
 * when the file holds anything but Ed25519 public keys.
 */
export async function readReleaseKeys(path: string): Promise<ReleaseKeys> {
  const pem = await readKeyFile(path);
  const blocks = pem.match(BLOCK) ?? [];
  const keys = blocks.map(readKey).filter((key) => key !== null);
  const [first, second] = keys;
  // Node would derive the public key from a private one, which has no place on a device.
  const isWhole = keys.length === (pem.match(/-----BEGIN/g) ?? []).length;
  if (first === undefined || !isWhole) {
    throw new GwError('RELEASE_INVALID', `Release key ${path} is not an Ed25519 public key (PEM).`, {
      remedy: 'Name the public key that signs releases: cloud.release.keyFile, or --key FILE.',
    });
  }
  if (keys.length > MAX_KEYS) {
    throw new GwError(
      'RELEASE_INVALID',
      `${path} holds ${keys.length} release keys, at most ${MAX_KEYS} are accepted.`,
      {
        remedy: 'Keep the one that signs releases now, and the one that will sign the next.',
      },
    );
  }
  if (second !== undefined && first.equals(second)) {
    throw new GwError('RELEASE_INVALID', `${path} holds the same release key twice.`, {
      remedy: 'For a change of key it holds the old and the new one; see docs/cloud.md, "A change of the release key".',
    });
  }
  return [first, ...keys.slice(1)];
}

function readKey(pem: string): KeyObject | null {
  try {
    const key = createPublicKey(pem);
    return key.asymmetricKeyType === 'ed25519' ? key : null;
  } catch {
    return null;
  }
}

async function readKeyFile(path: string): Promise<string> {
  try {
    return Buffer.from(await readWhole(await realpath(path), MAX_KEY_BYTES)).toString('utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new GwError('FILE_UNREADABLE', `Release key ${path} cannot be read (${systemReason({ code })}).`, {
      cause,
      remedy: 'Name the public key that signs releases: cloud.release.keyFile, or --key FILE.',
    });
  }
}

/** The key whose signature (Ed25519, 64 bytes) this is; null: none of them. */
export function signerOf(bytes: Uint8Array, signature: Uint8Array, keys: ReleaseKeys): KeyObject | null {
  return keys.find((key) => verify(null, bytes, key, signature)) ?? null;
}

/** Why a signature is refused. */
export function unsignedText(name: string, keys: ReleaseKeys): string {
  return `the signature of ${name} does not match ${keys.length > 1 ? 'either release key' : 'the release key'}`;
}

/** SHA-256 of the public key (SPKI), upper-case hex pairs with colons. */
export function keyFingerprint(publicKey: KeyObject): string {
  const hex = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex');
  return (hex.toUpperCase().match(/../g) ?? []).join(':');
}
