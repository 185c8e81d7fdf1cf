import { createHash, createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { GwError } from '../error/index.ts';
import { readSecret } from '../site/index.ts';

export const KEY_BYTES = 32;
const KEY_TEXT = /^[0-9a-f]{64}$/i;

/** A key of the site. `id` tells keys apart and gives nothing of the key away. */
export interface HeartbeatKey {
  /** The first four bytes of a hash, as a number. */
  readonly id: number;
  sign(bytes: Uint8Array): Buffer;
  /** In constant time. */
  verifies(bytes: Uint8Array, signature: Uint8Array): boolean;
}

/** By which people tell keys apart. */
export function keyName({ id }: HeartbeatKey): string {
  return id.toString(16).padStart(8, '0');
}

/** The key that signs, and every key that is accepted: that one, and during a rotation the other. */
export interface KeyRing {
  readonly signing: HeartbeatKey;
  byId(id: number): HeartbeatKey | undefined;
}

export function createKey(secret: Uint8Array): HeartbeatKey {
  const key: KeyObject = createSecretKey(secret);
  const hash = createHash('sha256').update('gw heartbeat key id\0').update(secret).digest();
  const sign = (bytes: Uint8Array) => createHmac('sha256', key).update(bytes).digest();
  return {
    id: hash.readUInt32BE(0),
    sign,
    verifies(bytes, signature) {
      const own = sign(bytes);
      return own.length === signature.length && timingSafeEqual(own, signature);
    },
  };
}

/**
 * The first key signs. Throws SECRET_UNREADABLE when two keys have one id: only one of them would ever be asked, and
 * the same key twice is a file that was copied by mistake.
 */
export function createKeyRing([signing, ...accepted]: readonly [HeartbeatKey, ...HeartbeatKey[]]): KeyRing {
  const keys = new Map([signing, ...accepted].map((key) => [key.id, key]));
  if (keys.size !== accepted.length + 1) {
    throw new GwError(
      'SECRET_UNREADABLE',
      'The keys of the heartbeat cannot be used: fleet.keyFile and fleet.acceptedKeyFiles hold one key twice.',
      { remedy: 'Name each key once. When a new key was to be made, make it again and copy it to every robot.' },
    );
  }
  return { signing, byId: (id) => keys.get(id) };
}

/**
 * Reads the key file, and the files of keys that are accepted beside it. Throws SECRET_UNREADABLE; no message holds
 * anything of a key.
 */
export async function readKeyRing(fleet: {
  readonly keyFile: string;
  readonly acceptedKeyFiles: readonly string[];
}): Promise<KeyRing> {
  const signing = await readKey(fleet.keyFile, 'fleet.keyFile');
  const accepted: HeartbeatKey[] = [];
  for (const file of fleet.acceptedKeyFiles) accepted.push(await readKey(file, 'fleet.acceptedKeyFiles'));
  return createKeyRing([signing, ...accepted]);
}

async function readKey(path: string, what: string): Promise<HeartbeatKey> {
  const text = await readSecret(path, `${what}, the key of the heartbeat`);
  if (!KEY_TEXT.test(text)) {
    throw new GwError(
      'SECRET_UNREADABLE',
      `The secret file ${path} (${what}) cannot be used: it does not hold one key of ${KEY_BYTES} bytes as ${KEY_BYTES * 2} hex digits.`,
      { remedy: 'Put the key of the site there, the same on every robot: `openssl rand -hex 32` makes one.' },
    );
  }
  return createKey(Buffer.from(text, 'hex'));
}
