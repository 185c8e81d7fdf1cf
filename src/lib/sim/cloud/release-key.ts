import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { join } from 'node:path';
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
  let key = readKey(await readIfThere(path));
  if (key === undefined) {
    key = generateKeyPairSync('ed25519').privateKey;
    await makeFolder(join(dir, 'secrets'), 0o700);
    await replaceFile(path, key.export({ type: 'pkcs8', format: 'pem' }).toString(), { mode: 0o600 });
  }
  const publicPem = createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString();
  await replaceFile(join(dir, PUBLIC_KEY_FILE), publicPem);
  return PUBLIC_KEY_FILE;
}

function readKey(text: string | undefined): KeyObject | undefined {
  if (text === undefined) return undefined;
  try {
    const key = createPrivateKey(text);
    return key.asymmetricKeyType === 'ed25519' ? key : undefined;
  } catch {
    return undefined;
  }
}
