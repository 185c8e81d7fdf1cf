import { constants, type FileHandle, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../lifecycle/index.ts';
import { openExisting, openFresh, syncFolder } from '../../lifecycle/index.ts';
import { CURRENT_FILE, listFolder, rotatedName } from './files.ts';
import type { Loaded } from './load.ts';

const COPY_BYTES = 64 * 1024;
const OTHERS = 0o077;

/** The file that records are appended to, open. */
export interface CurrentFile {
  readonly handle: FileHandle;
  /** Of whole lines. */
  bytes: number;
}

/**
 * Opens the current file of the records for appending, repaired: a torn last line is moved into a file beside it, a file
 * whose end is no record is rotated away as it is. Rejects with the error of the operating system.
 */
export async function openCurrent(
  dir: string,
  { current, isEndUnreadable }: Pick<Loaded, 'current' | 'isEndUnreadable'>,
  { log, stamp }: { readonly log: Log; readonly stamp: string },
): Promise<CurrentFile> {
  const path = join(dir, CURRENT_FILE);
  if (current !== null && isEndUnreadable) {
    const kept = await rotate(dir);
    log.error({ path, kept }, 'the last line of the session records is no record: they go on in a new file');
    return await createCurrent(dir);
  }
  if (current === null) return await createCurrent(dir);
  const handle = await openExisting(path, constants.O_RDWR);
  try {
    if (((await handle.stat()).mode & OTHERS) !== 0) await handle.chmod(0o600);
    if (current.tornBytes > 0) {
      const kept = join(dir, `sessions-torn-${stamp}-${crypto.randomUUID().slice(0, 8)}.part`);
      await copyTail(handle, current.bytes, kept);
      await syncFolder(dir);
      await handle.truncate(current.bytes);
      await handle.sync();
      log.error({ kept, bytes: current.tornBytes }, 'a torn last line of the session records was moved into a file');
    }
    return { handle, bytes: current.bytes };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Creates the current file, durably. Rejects with the error of the operating system. */
export async function createCurrent(dir: string): Promise<CurrentFile> {
  const handle = await openFresh(join(dir, CURRENT_FILE), 0o600);
  try {
    await handle.sync();
    await syncFolder(dir);
    return { handle, bytes: 0 };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Gives the current file its number; returns the new path. Rejects with the error of the operating system. */
export async function rotate(dir: string): Promise<string> {
  const { rotated } = await listFolder(dir);
  const path = join(dir, rotatedName((rotated.at(-1)?.number ?? 0) + 1));
  await rename(join(dir, CURRENT_FILE), path);
  await syncFolder(dir);
  return path;
}

/** Whether the path still leads to the open file, with these bytes: a person may have moved or edited it. */
export async function isSame({ handle, bytes }: CurrentFile, dir: string): Promise<boolean> {
  const [open, named] = await Promise.all([handle.stat(), stat(join(dir, CURRENT_FILE)).catch(() => null)]);
  return named !== null && named.ino === open.ino && named.dev === open.dev && open.size === bytes;
}

async function copyTail(from: FileHandle, start: number, path: string): Promise<void> {
  await using to = await openFresh(path, 0o600);
  const buffer = Buffer.allocUnsafe(COPY_BYTES);
  for (let at = start; ; ) {
    const { bytesRead } = await from.read(buffer, 0, COPY_BYTES, at);
    if (bytesRead === 0) break;
    await to.writeFile(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
  await to.sync();
}
