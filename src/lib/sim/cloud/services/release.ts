import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { join } from 'node:path';
import type { ReleaseDocumentWire } from '../../../cloud/wire.ts';
import { GwError } from '../../../error/index.ts';
import { replaceFile } from '../../../lifecycle/index.ts';
import { isRecord } from '../../chassis/maps/map-store.ts';
import { makeFolder, readIfThere } from '../../files.ts';
import { placeholderFor } from './jobs.ts';

/** Changes to the document of a release; a value of undefined removes a field. */
export type DocumentChanges = Readonly<Record<string, unknown>>;

/** The document of a release job with a placeholder for the URL. */
export function releaseDocument(options: {
  readonly bytes: Uint8Array;
  readonly key: string;
  readonly version: string;
  readonly stage?: number | undefined;
  readonly allowDowngrade?: boolean | undefined;
  readonly changes?: DocumentChanges | undefined;
}): object {
  const { bytes, key, version, stage, allowDowngrade, changes = {} } = options;
  const document: ReleaseDocumentWire = {
    schema: 'gw/release-job/1',
    version,
    package: {
      url: placeholderFor(key),
      bytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    },
    ...(allowDowngrade && { allowDowngrade }),
    ...(stage !== undefined && { stage }),
  };
  const packageChanges = isRecord(changes.package) ? { package: { ...document.package, ...changes.package } } : {};
  return { ...document, ...changes, ...packageChanges };
}

const TAR_BLOCK_BYTES = 512;

/** The version in the manifest of a package, its first entry; null when it cannot be read. */
export function readPackageVersion(bytes: Uint8Array): string | null {
  const text = (from: number, to: number) =>
    Buffer.from(bytes.subarray(from, to))
      .toString('latin1')
      .replace(/[\0 ].*$/s, '');
  if (text(0, 100) !== 'manifest.json') return null;
  const size = Number.parseInt(text(124, 136), 8);
  try {
    const end = TAR_BLOCK_BYTES + size;
    const manifest: unknown = JSON.parse(Buffer.from(bytes.subarray(TAR_BLOCK_BYTES, end)).toString('utf8'));
    return isRecord(manifest) && typeof manifest.version === 'string' ? manifest.version : null;
  } catch {
    return null;
  }
}

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
