import { createHash, type KeyObject, sign } from 'node:crypto';
import { constants, type FileHandle, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createTarPacker } from 'modern-tar';
import { GwError, systemReason } from '../../error/index.ts';
import { openExisting, openFresh } from '../../lifecycle/index.ts';
import { MANIFEST_NAME, type ReleaseManifest, readManifest, SIGNATURE_NAME } from './manifest.ts';
import { invalidPackage } from './read-package.ts';

export interface WriteOptions {
  readonly version: string;
  readonly minimumVersion: string;
  /** Ed25519. */
  readonly privateKey: KeyObject;
  /** Path of the package. */
  readonly out: string;
}

/**
 * Packs the files of a folder as a release package. The same files give the same bytes. Throws RELEASE_INVALID when the
 * folder holds anything that a package may not, FILE_UNREADABLE and FILE_UNWRITABLE.
 */
export async function writePackage(
  folder: string,
  { version, minimumVersion, privateKey, out }: WriteOptions,
): Promise<{ readonly manifest: ReleaseManifest; readonly bytes: number; readonly sha256: string }> {
  const files: ReleaseManifest['files'] = [];
  for (const path of await pathsIn(folder)) files.push(await fileOf(folder, path));
  const manifest: ReleaseManifest = { schema: 'gw/release/1', version, minimumVersion, files };
  const manifestBytes = Buffer.from(`${JSON.stringify(manifest, null, 1)}\n`, 'utf8');
  const reading = readManifest(manifestBytes);
  if (!reading.ok) throw invalidPackage(folder, reading.problems);
  const signature = sign(null, manifestBytes, privateKey);
  const draft = `${out}.${crypto.randomUUID()}`;
  try {
    const written = await writeTar(draft, folder, [
      { name: MANIFEST_NAME, body: manifestBytes },
      { name: SIGNATURE_NAME, body: signature },
      ...files.map(({ path, bytes, executable }) => ({ name: path, bytes, executable })),
    ]);
    await rename(draft, out);
    return { manifest, ...written };
  } catch (cause) {
    if (cause instanceof GwError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    throw new GwError('FILE_UNWRITABLE', `${out} cannot be written (${systemReason({ code })}).`, { cause });
  } finally {
    await rm(draft, { force: true });
  }
}

/** Paths of all files, in the order of their bytes. */
async function pathsIn(folder: string, inside = ''): Promise<string[]> {
  const entries = await readdir(join(folder, inside), { withFileTypes: true });
  const paths: string[] = [];
  for (const entry of entries) {
    const path = inside === '' ? entry.name : `${inside}/${entry.name}`;
    if (entry.isDirectory()) paths.push(...(await pathsIn(folder, path)));
    else if (entry.isFile()) paths.push(path);
    else throw invalidPackage(folder, [`${path} is neither a file nor a folder; a package holds files only`]);
  }
  return inside === '' ? paths.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))) : paths;
}

async function openToPack(folder: string, path: string): Promise<FileHandle> {
  return await openExisting(join(folder, path), constants.O_RDONLY).catch((cause) => {
    throw new GwError('FILE_UNREADABLE', `${join(folder, path)} cannot be read (${systemReason(cause)}).`, { cause });
  });
}

async function fileOf(folder: string, path: string): Promise<ReleaseManifest['files'][number]> {
  await using file = await openToPack(folder, path);
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of file.createReadStream({ autoClose: false })) {
    hash.update(chunk);
    bytes += chunk.byteLength;
  }
  const isExecutable = ((await file.stat()).mode & 0o111) !== 0;
  return { path, bytes, sha256: hash.digest('hex'), ...(isExecutable && { executable: true }) };
}

type Packed =
  | { readonly name: string; readonly body: Uint8Array }
  | { readonly name: string; readonly bytes: number; readonly executable: boolean | undefined };

async function writeTar(
  path: string,
  folder: string,
  entries: readonly Packed[],
): Promise<{ bytes: number; sha256: string }> {
  const { readable, controller } = createTarPacker();
  const hash = createHash('sha256');
  let bytes = 0;
  await using out = await openFresh(path);
  const writing = (async () => {
    for await (const chunk of readable) {
      hash.update(chunk);
      bytes += chunk.byteLength;
      await out.writeFile(chunk);
    }
  })();
  writing.catch((error) => controller.error(error));
  const packing = pack(controller, folder, entries);
  await Promise.all([packing, writing]);
  await out.sync();
  return { bytes, sha256: hash.digest('hex') };
}

async function pack(
  controller: ReturnType<typeof createTarPacker>['controller'],
  folder: string,
  entries: readonly Packed[],
): Promise<void> {
  for (const entry of entries) {
    const isMemory = 'body' in entry;
    const header = {
      name: entry.name,
      size: isMemory ? entry.body.byteLength : entry.bytes,
      mode: !isMemory && entry.executable ? 0o755 : 0o644,
      uid: 0,
      gid: 0,
      // Without the time of packing, so that the same files give the same package.
      mtime: new Date(0),
    };
    const writer = controller.add(header).getWriter();
    if (isMemory) await writer.write(entry.body);
    else {
      await using file = await openToPack(folder, entry.name);
      for await (const chunk of file.createReadStream({ autoClose: false })) await writer.write(chunk as Buffer);
    }
    await writer.close();
  }
  controller.finalize();
}
