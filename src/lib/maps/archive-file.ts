import { randomBytes } from 'node:crypto';
import { link, lstat, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { GwError } from '../error/index.ts';
import { ensureFolder, openFresh, readBounded, sha256, syncFolder } from '../lifecycle/index.ts';
import { invalid, packArchive, parseArchive } from './archive.ts';
import { bounds } from './manifest.ts';
import type { ArchiveFile, MapArchive } from './model.ts';

/**
 * Reads and proves an archive on the disk. Throws ARCHIVE_INVALID, and FILE_UNWRITABLE when the file is not there
 * or may not be read.
 */
export async function readArchive(path: string): Promise<ArchiveFile> {
  const bytes = await readWhole(path, path);
  return { path, bytes: bytes.byteLength, sha256: sha256(bytes), archive: await parseArchive(bytes, path) };
}

async function readWhole(path: string, name: string): Promise<Uint8Array> {
  const read = await readBounded(path, bounds.totalBytes).catch((cause) => {
    throw accessError(name, 'read', cause);
  });
  if (read.kind === 'too-large') throw invalid(name, [`it is larger than ${bounds.totalBytes} bytes`]);
  if (read.kind !== 'bytes') throw invalid(name, ['it is no ordinary file']);
  return read.bytes;
}

const reasons: Readonly<Record<string, { readonly read: string; readonly written: string }>> = {
  ENOENT: { read: 'there is no such file', written: 'its folder cannot be made' },
  EEXIST: { read: 'there is no such file', written: 'its folder is a file' },
  ENOTDIR: { read: 'there is no such file', written: 'its folder is a file' },
  EACCES: { read: 'this user may not read it', written: 'this user may not write there' },
  EPERM: { read: 'this user may not read it', written: 'this user may not write there' },
  EROFS: { read: 'the file system is read-only', written: 'the file system is read-only' },
  ENOSPC: { read: 'there is no room left', written: 'there is no room left' },
  EISDIR: { read: 'it is a folder', written: 'it is a folder' },
};

function accessError(name: string, what: 'read' | 'written', cause: unknown): GwError {
  const { code = 'unknown reason' } = cause as NodeJS.ErrnoException;
  const why = reasons[code]?.[what] ?? code;
  return new GwError('FILE_UNWRITABLE', `${name} cannot be ${what}: ${why}.`, {
    remedy: what === 'read' ? 'Check the name and the place of the file, and whose it is.' : undefined,
    cause,
  });
}

/** FILE_EXISTS now, so that nobody waits for a backup in vain. Writing checks again. */
export async function refuseExistingArchive(path: string): Promise<void> {
  if (await lstat(path).catch(() => undefined)) throw existsError(path);
}

function existsError(path: string): GwError {
  return new GwError('FILE_EXISTS', `${path} is there already.`);
}

/**
 * Writes an archive whole or not at all: beside its place first, synced, read back from there and proven, and only
 * then put in its place. Makes its folder. `mayNumber`: the name is ours, and where it is taken the next free one is
 * used; the result says which. Throws FILE_EXISTS without `force` and `mayNumber`, FILE_UNWRITABLE, ARCHIVE_INVALID when
 * what was read back is not sound; in each case nothing has changed at `path`.
 */
export async function writeArchive(
  path: string,
  archive: MapArchive,
  { force = false, mayNumber = false }: { readonly force?: boolean; readonly mayNumber?: boolean },
): Promise<ArchiveFile> {
  let place = path;
  const bytes = await packArchive(archive);
  const target = resolve(path);
  const draft = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}`);
  try {
    await writeDraft(draft, bytes);
    const back = await readWhole(draft, path);
    if (sha256(back) !== sha256(bytes)) throw invalid(path, ['what was read back is not what was written']);
    await parseArchive(back, path);
    if (mayNumber) place = await putBeside(draft, path);
    else if (force) await rename(draft, target);
    else await putNew(draft, target, path);
    // Some file systems cannot do this; the file itself is in its place and proven.
    await syncFolder(dirname(target)).catch(() => {});
  } catch (cause) {
    throw cause instanceof GwError ? cause : accessError(path, 'written', cause);
  } finally {
    await rm(draft, { force: true }).catch(() => {});
  }
  return { path: place, bytes: bytes.byteLength, sha256: sha256(bytes), archive };
}

async function writeDraft(draft: string, bytes: Uint8Array): Promise<void> {
  await ensureFolder(dirname(draft));
  await using file = await openFresh(draft);
  await file.writeFile(bytes);
  await file.sync();
}

/** Puts a file where none may be yet. Throws FILE_EXISTS. */
async function putNew(draft: string, target: string, name: string): Promise<void> {
  try {
    await link(draft, target).catch(async (cause: NodeJS.ErrnoException) => {
      // The file systems of most memory sticks know no links: there the name is taken first, and then filled.
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

const MOST_NUMBER = 99;

/** Puts a file under this name or, where it is taken, under the first numbered one that is free; that name. */
async function putBeside(draft: string, path: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const place = numbered(path, number);
    try {
      await putNew(draft, resolve(place), place);
      return place;
    } catch (error) {
      const isTaken = error instanceof GwError && error.code === 'FILE_EXISTS';
      if (!isTaken || number === MOST_NUMBER) throw error;
    }
  }
}

/** `maps-SN0001-20260131T120000Z2.tar.gz` is the second of its second: by name it comes after the first. */
function numbered(path: string, number: number): string {
  return number === 1 ? path : path.replace(/(\.tar\.gz)?$/, (ending) => `${number}${ending}`);
}

/**
 * The usual name of a backup: `maps-SN0001-20260131T120000Z.tar.gz`, with `occasion` before the time where one is
 * given.
 */
export function archiveFileName(serial: string, at: Date, occasion?: string): string {
  const time = at
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replace(/[-:]/g, '');
  const name = serial.replace(/[^A-Za-z0-9._-]/g, '_');
  return ['maps', name, ...(occasion === undefined ? [] : [occasion]), `${time}.tar.gz`].join('-');
}
