import { createHash, type KeyObject } from 'node:crypto';
import { constants, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemReason } from '../../error/index.ts';
import { quote } from '../../json/index.ts';
import { ensureFolder, openExisting, openFresh, readWhole, syncFolder } from '../../lifecycle/index.ts';
import { PARTIAL_SUFFIX } from './folder.ts';
import { type ReleaseKeys, signerOf, unsignedText } from './keys.ts';
import { MANIFEST_NAME, packageLimits, readManifest, SIGNATURE_NAME } from './manifest.ts';
import { invalidPackage, openPackage, type VerifiedPackage } from './read-package.ts';

export interface UnpackOptions {
  readonly keys: ReleaseKeys;
  /** Release folder, and the name of the new folder in it, which must be free. */
  readonly dir: string;
  readonly folder: string;
  readonly signal: AbortSignal;
  /** Called after the first file, and when all are synced but not yet in place. */
  readonly onStep?: ((step: 'file-unpacked' | 'all-unpacked') => Promise<void> | void) | undefined;
}

/**
 * Unpacks a package beside the installed versions, verifying every file while it is written, and gives the folder its
 * name when everything is on the disk. Throws RELEASE_INVALID, FILE_UNREADABLE, and errors of the disk.
 */
export async function unpackPackage(path: string, options: UnpackOptions): Promise<VerifiedPackage> {
  const { dir, folder, keys, signal, onStep = () => {} } = options;
  const partial = join(dir, `${folder}${PARTIAL_SUFFIX}`);
  await rm(partial, { recursive: true, force: true });
  await ensureFolder(partial, 0o700);
  const folders = new Set([partial]);
  let isFirst = true;
  const place = async (name: string, mode: number) => {
    const target = join(partial, name);
    for (let above = dirname(target); !folders.has(above); above = dirname(above)) folders.add(above);
    await ensureFolder(dirname(target), 0o700);
    return await openFresh(target, mode);
  };
  const verified = await openPackage(path, {
    keys,
    signal,
    sink: {
      onManifest: () => {},
      async openFile({ path: name, executable }) {
        const file = await place(name, executable ? 0o700 : 0o600);
        return {
          write: async (chunk) => await file.writeFile(chunk),
          async close() {
            try {
              await file.sync();
            } finally {
              await file.close();
            }
            if (isFirst) await onStep('file-unpacked');
            isFirst = false;
          },
        };
      },
    },
  });
  // Kept, so that the installed files can be verified again.
  for (const [name, bytes] of [
    [MANIFEST_NAME, verified.manifestBytes],
    [SIGNATURE_NAME, verified.signature],
  ] as const) {
    await using file = await place(name, 0o600);
    await file.writeFile(bytes);
    await file.sync();
  }
  for (const each of folders) await syncFolder(each);
  await onStep('all-unpacked');
  await rename(partial, join(dir, folder));
  await syncFolder(dir);
  return verified;
}

/**
 * Verifies an installed version: signature, manifest, every file, and that there is no other one. Throws
 * RELEASE_INVALID.
 */
export async function verifyInstalled(
  dir: string,
  folder: string,
  { keys, signal }: { readonly keys: ReleaseKeys; readonly signal?: AbortSignal | undefined },
): Promise<{ readonly version: string; readonly signer: KeyObject }> {
  const root = join(dir, folder);
  const problems: string[] = [];
  const [manifestBytes, signature] = await Promise.all([
    readWhole(join(root, MANIFEST_NAME), packageLimits.manifestBytes),
    readWhole(join(root, SIGNATURE_NAME), packageLimits.manifestBytes),
  ]).catch((error: NodeJS.ErrnoException) => {
    throw invalidPackage(root, [`its manifest or signature cannot be read (${systemReason(error)})`]);
  });
  const signer = signerOf(manifestBytes, signature, keys);
  if (signer === null) throw invalidPackage(root, [unsignedText(MANIFEST_NAME, keys)]);
  const reading = readManifest(manifestBytes);
  if (!reading.ok) throw invalidPackage(root, reading.problems);
  const { manifest } = reading;
  for (const { path, bytes, sha256 } of manifest.files) {
    signal?.throwIfAborted();
    const found = await hashOf(join(root, path));
    if (found === null) problems.push(`${quote(path)} is missing or not a regular file`);
    else if (found.bytes !== bytes || found.sha256 !== sha256) problems.push(`${quote(path)} was changed`);
  }
  const listed = new Set([MANIFEST_NAME, SIGNATURE_NAME, ...manifest.files.map(({ path }) => path)]);
  for (const path of await filesIn(root)) {
    if (!listed.has(path)) problems.push(`${quote(path)} is not in the manifest`);
  }
  if (problems.length > 0) throw invalidPackage(root, problems);
  return { version: manifest.version, signer };
}

async function hashOf(path: string): Promise<{ readonly bytes: number; readonly sha256: string } | null> {
  try {
    await using file = await openExisting(path, constants.O_RDONLY);
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of file.createReadStream({ autoClose: false })) {
      hash.update(chunk);
      bytes += chunk.byteLength;
    }
    return { bytes, sha256: hash.digest('hex') };
  } catch {
    return null;
  }
}

async function filesIn(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1));
}
