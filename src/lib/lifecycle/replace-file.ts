import { constants, type FileHandle, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { GwError } from '../error/index.ts';
import { ensureFolder } from './ensure-folder.ts';
import { syncFolder } from './sync-folder.ts';

export interface ReplaceOptions {
  readonly mode?: number;
  readonly folderMode?: number;
  /** Whether the name is on the disk too when it resolves: without it a power cut can bring the old file back. */
  readonly durable?: boolean;
}

/** Never through a link, and never into something that is there: in a folder of another user both may be traps. */
const FRESH = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * Puts a whole file in its place, so that neither a reader nor a crash ever finds half of one: written beside it under
 * a fresh name, synced, then renamed; a link at `path` is replaced and not followed. Makes its folder. `mode` holds
 * whatever the umask is. Throws FILE_UNWRITABLE.
 */
export async function replaceFile(
  path: string,
  text: string | Uint8Array,
  options: ReplaceOptions = {},
): Promise<void> {
  await placeFile(path, text, options, (draft) => rename(draft, path));
}

/** As `replaceFile`; `place` gives the draft its name, and may refuse. Throws FILE_UNWRITABLE with the cause. */
export async function placeFile(
  path: string,
  text: string | Uint8Array,
  { mode = 0o644, folderMode = 0o755, durable = false }: ReplaceOptions,
  place: (draft: string) => Promise<void>,
): Promise<void> {
  const draft = draftPath(path);
  try {
    await ensureFolder(dirname(path), folderMode);
    {
      await using file = await openFresh(draft, mode);
      await file.writeFile(text);
      await file.sync();
    }
    await place(draft);
    if (durable) await syncFolder(dirname(path));
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => {});
    const { code } = cause as NodeJS.ErrnoException;
    throw new GwError('FILE_UNWRITABLE', `${path} cannot be written (${code ?? 'unknown reason'}).`, { cause });
  }
}

/** Opens a file that is not there yet, for writing. Rejects with the error of the operating system. */
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

const DRAFT = /^\..+\.[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** A younger one may be one that another process is writing just now. */
const DRAFT_LEFT_MS = 10 * 60_000;

/** Removes drafts that a crash left in a folder, so that they do not fill it in the course of years. Never rejects. */
export async function removeLeftDrafts(dir: string, now: Date): Promise<void> {
  const names = await readdir(dir).catch(() => []);
  for (const name of names.filter((each) => DRAFT.test(each))) {
    const path = join(dir, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (now.getTime() - mtimeMs > DRAFT_LEFT_MS) await rm(path, { force: true }).catch(() => {});
  }
}
