import { createHash, createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { GwError } from '../error/index.ts';
import { readSecret } from '../site/index.ts';

export const KEY_BYTES = 32;
const KEY_TEXT = /^[0-9a-f]{64}$/i;

/** A site key. `id` identifies it without revealing it. */
export interface HeartbeatKey {
  /** The first four bytes of a hash, as a number. */
  readonly id: number;
  sign(bytes: Uint8Array): Buffer;
  /** In constant time. */
  verifies(bytes: Uint8Array, signature: Uint8Array): boolean;
}

/** The displayed name of a key: its id as 8 hex digits. */
export function keyName({ id }: HeartbeatKey): string {
  return id.toString(16).padStart(8, '0');
}

/** The signing key, and all accepted keys: the signing key, and others during a key rotation. */
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
 * The first key signs. Throws SECRET_UNREADABLE when two keys have the same id, usually one key file copied twice.
 */
export function createKeyRing([signing, ...accepted]: readonly [HeartbeatKey, ...HeartbeatKey[]]): KeyRing {
  const keys = new Map([signing, ...accepted].map((key) => [key.id, key]));
  if (keys.size !== accepted.length + 1) {
    throw new GwError('SECRET_UNREADABLE', 'Duplicate heartbeat key in fleet.keyFile and fleet.acceptedKeyFiles.', {
      remedy:
        'Configure each key once. For a new key run `gw heartbeat key new FILE` and copy the file to every robot.',
    });
  }
  return { signing, byId: (id) => keys.get(id) };
}

/**
 * Reads the key file and the files of further accepted keys. Throws SECRET_UNREADABLE; no message contains key material.
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
  const text = await readSecret(path, `${what}, the heartbeat key`);
  if (!KEY_TEXT.test(text)) {
    throw new GwError(
      'SECRET_UNREADABLE',
      `Invalid heartbeat key in ${path} (${what}): ${KEY_BYTES * 2} hex digits expected.`,
      {
        remedy:
          'Copy the site key to this file, the same on every robot; `gw heartbeat key new` or `openssl rand -hex 32` makes one.',
      },
    );
  }
  return createKey(Buffer.from(text, 'hex'));
}
