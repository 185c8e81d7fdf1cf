import { randomBytes } from 'node:crypto';
import { link, lstat, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { GwError } from '../../error/index.ts';
import { ensureFolder, openFresh, readBounded, sha256, syncFolder } from '../../lifecycle/index.ts';
import type { ArchiveFile, MapArchive } from '../model.ts';
import { invalid, packArchive, parseArchive } from './archive.ts';
import { bounds } from './manifest.ts';

/**
 * Reads and verifies an archive file. Throws ARCHIVE_INVALID, FILE_UNREADABLE.
 */
export async function readArchive(path: string): Promise<ArchiveFile> {
  const bytes = await readArchiveBytes(path, path);
  return { path, bytes: bytes.byteLength, sha256: sha256(bytes), archive: await parseArchive(bytes, path) };
}

async function readArchiveBytes(path: string, name: string): Promise<Uint8Array> {
  const read = await readBounded(path, bounds.totalBytes).catch((cause) => {
    throw accessError(name, 'read', cause);
  });
  if (read.kind === 'too-large') throw invalid(name, [`it exceeds ${bounds.totalBytes} bytes`]);
  if (read.kind !== 'bytes') throw invalid(name, ['not a regular file']);
  return read.bytes;
}

const reasons: Readonly<Record<string, { readonly read: string; readonly written: string }>> = {
  ENOENT: { read: 'no such file', written: 'its folder cannot be created' },
  EEXIST: { read: 'no such file', written: 'its folder is a file' },
  ENOTDIR: { read: 'no such file', written: 'its folder is a file' },
  EACCES: { read: 'permission denied', written: 'permission denied' },
  EPERM: { read: 'permission denied', written: 'permission denied' },
  EROFS: { read: 'the file system is read-only', written: 'the file system is read-only' },
  ENOSPC: { read: 'no space left', written: 'no space left' },
  EISDIR: { read: 'it is a folder', written: 'it is a folder' },
};

function accessError(name: string, access: 'read' | 'written', cause: unknown): GwError {
  const { code = 'unknown reason' } = cause as NodeJS.ErrnoException;
  const reason = reasons[code]?.[access] ?? code;
  const errorCode = access === 'read' ? 'FILE_UNREADABLE' : 'FILE_UNWRITABLE';
  return new GwError(errorCode, `${name} cannot be ${access}: ${reason}.`, { cause });
}

/** Throws FILE_EXISTS before a backup is read; writing checks again. */
export async function refuseExistingArchive(path: string): Promise<void> {
  if (await lstat(path).catch(() => undefined)) throw existsError(path);
}

function existsError(path: string): GwError {
  return new GwError('FILE_EXISTS', `${path} already exists.`);
}

/**
 * Writes an archive atomically: to a temporary file beside `path`, synced, read back and verified, then moved. Creates
 * the folder. `mayNumber`: a generated name, which gets the next free number when it exists; the result has the final
 * path. Throws FILE_EXISTS without `force` and `mayNumber`, FILE_UNWRITABLE, FILE_UNREADABLE, ARCHIVE_INVALID when the
 * file read back is not valid; in each case `path` is unchanged.
 */
export async function writeArchive(
  path: string,
  archive: MapArchive,
  { force = false, mayNumber = false }: { readonly force?: boolean; readonly mayNumber?: boolean },
): Promise<ArchiveFile> {
  let finalPath = path;
  const bytes = await packArchive(archive);
  const target = resolve(path);
  const draft = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}`);
  try {
    await writeDraft(draft, bytes);
    const back = await readArchiveBytes(draft, path);
    if (sha256(back) !== sha256(bytes)) throw invalid(path, ['the file read back differs from the written one']);
    await parseArchive(back, path);
    if (mayNumber) finalPath = await linkNumbered(draft, path);
    else if (force) await rename(draft, target);
    else await linkNew(draft, target, path);
    // Some file systems cannot sync folders; the file itself is written and verified.
    await syncFolder(dirname(target)).catch(() => {});
  } catch (cause) {
    throw cause instanceof GwError ? cause : accessError(path, 'written', cause);
  } finally {
    await rm(draft, { force: true }).catch(() => {});
  }
  return { path: finalPath, bytes: bytes.byteLength, sha256: sha256(bytes), archive };
}

async function writeDraft(draft: string, bytes: Uint8Array): Promise<void> {
  await ensureFolder(dirname(draft));
  await using file = await openFresh(draft);
  await file.writeFile(bytes);
  await file.sync();
}

/** Moves a file to a path that must not exist. Throws FILE_EXISTS. */
async function linkNew(draft: string, target: string, name: string): Promise<void> {
  try {
    await link(draft, target).catch(async (cause: NodeJS.ErrnoException) => {
      // FAT and exFAT have no hard links: there the name is reserved first.
      if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(cause.code ?? '')) throw cause;
      await (await openFresh(target)).close();
      await rename(draft, target).catch(async (error: unknown) => {
        await rm(target, { force: true }).catch(() => {});
        throw error;
      });
    });
  } catch (cause) {
    throw (cause as NodeJS.ErrnoException).code === 'EEXIST' ? existsError(name) : cause;
  }
}

const MAX_NUMBER = 99;

/** Moves a file to this path or, if it exists, to the first free numbered one; returns that path. */
async function linkNumbered(draft: string, path: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const candidate = numberedPath(path, number);
    try {
      await linkNew(draft, resolve(candidate), candidate);
      return candidate;
    } catch (error) {
      const isTaken = error instanceof GwError && error.code === 'FILE_EXISTS';
      if (!isTaken || number === MAX_NUMBER) throw error;
    }
  }
}

/** `maps-SN0001-20260131T120000Z2.tar.gz` is the second backup of that second, and sorts after the first. */
function numberedPath(path: string, number: number): string {
  return number === 1 ? path : path.replace(/(\.tar\.gz)?$/, (ending) => `${number}${ending}`);
}

/**
 * The default name of a backup: `maps-SN0001-20260131T120000Z.tar.gz`, with an optional `occasion` before the time.
 */
export function archiveFileName(serial: string, at: Date, occasion?: string): string {
  const time = at
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replace(/[-:]/g, '');
  const name = serial.replace(/[^A-Za-z0-9._-]/g, '_');
  return ['maps', name, ...(occasion === undefined ? [] : [occasion]), `${time}.tar.gz`].join('-');
}
