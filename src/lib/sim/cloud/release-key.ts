import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { GwError } from '../../error/index.ts';
import { replaceFile } from '../../lifecycle/index.ts';
import { makeFolder, readIfThere } from '../files.ts';

/** Public key of releases, relative to the folder of the simulator. */
const PUBLIC_KEY_FILE = 'release-key.pem';
const SIGNING_KEY_FILE = join('secrets', 'release-signing-key.pem');

/**
 * The key pair (Ed25519) that signs releases for this robot: kept in the folder, made when there is none. Returns the
 * file of the public key, relative to the folder. Throws FILE_UNREADABLE, FILE_UNWRITABLE.
 */
export async function openReleaseKey(dir: string): Promise<string> {
  const path = join(dir, SIGNING_KEY_FILE);
  const text = await readIfThere(path);
  const key = text === undefined ? await makeKey(dir, path) : readKey(path, text);
  const publicPem = createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString();
  await replaceFile(join(dir, PUBLIC_KEY_FILE), publicPem);
  return PUBLIC_KEY_FILE;
}

async function makeKey(dir: string, path: string): Promise<KeyObject> {
  const key = generateKeyPairSync('ed25519').privateKey;
  await makeFolder(join(dir, 'secrets'), 0o700);
  await replaceFile(path, key.export({ type: 'pkcs8', format: 'pem' }).toString(), { mode: 0o600 });
  return key;
}

/** Never replaced: packages may be signed with it already. */
function readKey(path: string, text: string): KeyObject {
  let key: KeyObject | undefined;
  let cause: unknown;
  try {
    key = createPrivateKey(text);
  } catch (error) {
    cause = error;
  }
  if (key?.asymmetricKeyType === 'ed25519') return key;
  throw new GwError('FILE_UNREADABLE', `${path} is not an unencrypted Ed25519 private key (PEM).`, {
    remedy: 'Restore it, or remove it to have a new one made.',
    cause,
  });
}
