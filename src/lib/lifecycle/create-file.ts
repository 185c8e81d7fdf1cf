import { constants, type FileHandle, link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { GwError, systemReason } from '../error/index.ts';

/** Content of a file; a function gives it in parts, anew for each call. */
type Content = string | Uint8Array | (() => AsyncIterable<Uint8Array>);

interface ReplaceOptions {
  readonly mode?: number;
  readonly folderMode?: number;
  /** Whether the folder is synced too: without it a power failure can bring the old file back. */
  readonly durable?: boolean;
}

/** Follows no link and overwrites nothing, since another user may have placed either in the folder. */
const FRESH = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

const DRAFT = /^\..+\.[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** Another process may still be writing a younger draft. */
const DRAFT_LEFT_MS = 10 * 60_000;

/** A file system without hard links answers with one of these. */
const NO_HARD_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/**
 * Like `replaceFile`, for a new file: a file that another program created meanwhile is kept. Throws
 * FILE_EXISTS, FILE_UNWRITABLE.
 */
export async function createFile(path: string, text: Content, options: ReplaceOptions = {}): Promise<void> {
  let refused: string | undefined;
  try {
    // A hard link fails where the name is taken, and the name has the whole content from its first moment.
    await placeFile(path, text, options, async (draft) => {
      await link(draft, path).catch((error) => {
        refused = error.code;
        throw error;
      });
      await rm(draft);
    });
  } catch (error) {
    if (refused === 'EEXIST') throw alreadyThere(path, error);
    if (refused === undefined || !NO_HARD_LINKS.has(refused)) throw error;
    await claim(path, options.mode);
    await replaceFile(path, text, options).catch(async (failure) => {
      await rm(path, { force: true }).catch(() => {});
      throw failure;
    });
  }
}

/**
 * Replaces a file atomically: writes a draft beside it, syncs it and renames it; a link at `path` is replaced and not
 * followed. Creates its folder. `mode` applies whatever the umask. Throws FILE_UNWRITABLE.
 */
export async function replaceFile(path: string, text: Content, options: ReplaceOptions = {}): Promise<void> {
  await placeFile(path, text, options, (draft) => rename(draft, path));
}

/** As `replaceFile`; `place` gives the draft its name, and may refuse. Throws FILE_UNWRITABLE with the cause. */
async function placeFile(
  path: string,
  text: Content,
  { mode = 0o644, folderMode = 0o755, durable = false }: ReplaceOptions,
  place: (draft: string) => Promise<void>,
): Promise<void> {
  const draft = draftPath(path);
  try {
    await ensureFolder(dirname(path), folderMode);
    {
      await using file = await openFresh(draft, mode);
      await file.writeFile(typeof text === 'function' ? text() : text);
      await file.sync();
    }
    await place(draft);
    if (durable) await syncFolder(dirname(path));
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => {});
    const { code } = cause as NodeJS.ErrnoException;
    throw new GwError('FILE_UNWRITABLE', `${path} cannot be written (${systemReason({ code })}).`, { cause });
  }
}

/** Creates a new file and opens it for writing. Rejects with the error of the operating system. */
export async function openFresh(path: string, mode = 0o644): Promise<FileHandle> {
  const file = await open(path, FRESH, mode);
  try {
    await file.chmod(mode);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

function draftPath(path: string): string {
  return join(dirname(path), `.${basename(path)}.${crypto.randomUUID()}`);
}

/** Whether a file of this name is the draft of another one: begun, and never finished where no process writes it. */
export const isDraftName = (name: string) => DRAFT.test(name);

/** Removes the drafts that a crash left in a folder. Never rejects. */
export async function removeLeftDrafts(dir: string, now: Date): Promise<void> {
  const names = await readdir(dir).catch(() => []);
  for (const name of names.filter(isDraftName)) {
    const path = join(dir, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (now.getTime() - mtimeMs > DRAFT_LEFT_MS) await rm(path, { force: true }).catch(() => {});
  }
}

/**
 * Creates a folder and its parents; an existing one is kept as it is. Rejects with the error of the operating system.
 * Step by step, since the recursive form of Node loops for ever where a file system answers ENOENT for an existing
 * folder (`/proc`).
 */
export async function ensureFolder(path: string, mode = 0o755): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return;
    const above = dirname(path);
    if (code !== 'ENOENT' || above === path) throw error;
    // Another process may have created it meanwhile.
    if (!(await isThere(above))) await ensureFolder(above, mode);
    await mkdir(path, { mode }).catch(async (again: NodeJS.ErrnoException) => {
      if (again.code !== 'EEXIST' || !(await stat(path)).isDirectory()) throw again;
    });
  }
}

async function isThere(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}

/**
 * Syncs a folder: without it a power failure can undo the creation, renaming or removal of a file in it. Rejects with
 * the error of the operating system.
 */
export async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  await folder.sync();
}

/** Takes the name with an empty file. */
async function claim(path: string, mode?: number): Promise<void> {
  const file = await openFresh(path, mode).catch((cause) => {
    if (cause.code === 'EEXIST') throw alreadyThere(path, cause);
    throw new GwError('FILE_UNWRITABLE', `${path} cannot be written (${systemReason(cause)}).`, { cause });
  });
  await file.close();
}

function alreadyThere(path: string, cause: unknown): GwError {
  return new GwError('FILE_EXISTS', `${path} exists already.`, { cause });
}
