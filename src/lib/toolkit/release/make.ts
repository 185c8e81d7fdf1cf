import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { keyFingerprint, verifyPackage, writePackage } from '../../cloud/index.ts';
import { GwError, systemReason } from '../../error/index.ts';
import { isRecord, readJsonBytes } from '../../json/index.ts';
import { createFile, readWhole } from '../../lifecycle/index.ts';
import { readSecret } from '../../site/index.ts';
import type { ReleaseKeyNew, ReleaseMake } from './release.result.ts';

const MAX_MANIFEST_BYTES = 1024 * 1024;

/** Makes the key pair that signs releases; replaces no file. Throws FILE_EXISTS, FILE_UNWRITABLE. */
export async function newReleaseKey(file: string): Promise<ReleaseKeyNew> {
  const publicFile = `${file.replace(/\.pem$/, '')}.pub.pem`;
  // Before the first is written, so that no key is left without its other half.
  for (const path of [file, publicFile]) await refuseExisting(path, 'A key is never replaced: name another file.');
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  await createFile(file, String(privateKey.export({ type: 'pkcs8', format: 'pem' })), { mode: 0o600 });
  await createFile(publicFile, String(publicKey.export({ type: 'spki', format: 'pem' })), { mode: 0o644 });
  return { file, publicFile, fingerprintSha256: keyFingerprint(publicKey) };
}

/**
 * Packs a folder that holds gw whole as a signed release package, and verifies what was written. Throws RELEASE_INVALID
 * for a folder that is no gw or holds what a package may not, SECRET_UNREADABLE for the key, FILE_EXISTS.
 */
export async function makeRelease(options: {
  readonly folder: string;
  readonly keyFile: string;
  readonly out: string;
  readonly minimumVersion: string;
  readonly force: boolean;
  readonly signal: AbortSignal;
}): Promise<ReleaseMake> {
  const { folder, keyFile, out, minimumVersion, force, signal } = options;
  const version = await versionIn(folder);
  const privateKey = await readSigningKey(keyFile);
  if (!force) await refuseExisting(out);
  const { manifest, bytes, sha256 } = await writePackage(folder, { version, minimumVersion, privateKey, out });
  const publicKey = createPublicKey(privateKey);
  // By the bytes on the disk, as the gateway will.
  await verifyPackage(out, { keys: [publicKey], signal });
  return {
    verdict: 'ok',
    file: out,
    bytes,
    sha256,
    version,
    minimumVersion,
    files: manifest.files.length,
    unpackedBytes: manifest.files.reduce((sum, file) => sum + file.bytes, 0),
    key: { file: keyFile, fingerprintSha256: keyFingerprint(publicKey) },
  };
}

async function refuseExisting(path: string, remedy?: string): Promise<void> {
  const isThere = await access(path).then(
    () => true,
    () => false,
  );
  if (isThere) throw new GwError('FILE_EXISTS', `${path} exists already.`, remedy === undefined ? {} : { remedy });
}

async function versionIn(folder: string): Promise<string> {
  const path = join(folder, 'package.json');
  const remedy = 'Name the folder of a whole installation: one that `npm run package` has unpacked, for example.';
  const bytes = await readWhole(path, MAX_MANIFEST_BYTES).catch((cause: NodeJS.ErrnoException) => {
    throw new GwError('RELEASE_INVALID', `${folder} holds no gw: ${path} cannot be read (${systemReason(cause)}).`, {
      remedy,
      cause,
    });
  });
  const read = readJsonBytes(bytes, 'file');
  const manifest = read.ok && isRecord(read.value) ? read.value : {};
  if (manifest.name === 'gw' && typeof manifest.version === 'string') return manifest.version;
  throw new GwError('RELEASE_INVALID', `${folder} holds no gw: ${path} is not its package.json.`, { remedy });
}

async function readSigningKey(file: string): Promise<KeyObject> {
  const pem = await readSecret(file, '--signing-key');
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {}
  const isPublic = pem.includes('PUBLIC KEY');
  throw new GwError(
    'SECRET_UNREADABLE',
    `${file} is ${isPublic ? 'the public key, which verifies' : 'not an Ed25519 private key (PEM), which signs'}.`,
    { remedy: 'Name the private key that `gw release key new` has made.' },
  );
}
