import { link, readdir, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { asGwError, GwError, systemReason } from '../error/index.ts';
import {
  ensureFolder,
  type FolderProblem,
  lockName,
  openFresh,
  privateFolderProblem,
  sha256,
  syncFolder,
} from '../lifecycle/index.ts';

/**
 * The identity folder. An installed identity is one file, so that there is no moment at which a part of it is there:
 * `identity.json`. The key of an enrolment that is under way is `pending.json`; it becomes part of the identity, and
 * the file goes. A renewal by the gateway has its key and what was issued for it in `renewal.json`. All belong to their owner only. Project decision, see docs/enrolment.md.
 */
export const IDENTITY_FILE = 'identity.json';
const PENDING_FILE = 'pending.json';
export const RENEWAL_FILE = 'renewal.json';
const DRAFT = /^\.(identity|pending|renewal)\.json\.[0-9a-f-]{36}$/;

/**
 * Creates the private folder and locks it for this process until disposed. Removes drafts of interrupted runs. Throws
 * IDENTITY_BROKEN when the folder is accessible to others, ENROLMENT_RUNNING, FILE_UNWRITABLE.
 */
export async function lockFolder(identityDir: string): Promise<AsyncDisposable> {
  await onDisk(identityDir, async () => {
    await ensureFolder(identityDir, 0o700);
    await syncFolder(dirname(identityDir));
  });
  const problem = await identityFolderProblem(identityDir);
  if (problem !== null) {
    throw new GwError('IDENTITY_BROKEN', `${identityDir} cannot hold the key of this device: ${problem.text}.`, {
      remedy: problem.remedy,
    });
  }
  const folder = await onDisk(identityDir, () => realpath(identityDir));
  // Where there is no lock, a second key is rejected when its file is placed.
  const lock = await lockName(`gw-enrolment-${sha256(folder)}`).catch((cause) => {
    throw lockFailure(folder, cause);
  });
  try {
    await onDisk(identityDir, async () => {
      const names = await readdir(identityDir);
      for (const name of names) if (DRAFT.test(name)) await rm(join(identityDir, name), { force: true });
    });
  } catch (error) {
    await lock[Symbol.asyncDispose]();
    throw error;
  }
  return lock;
}

/** The file with the key of an unfinished enrolment. */
export function pendingPath(identityDir: string): string {
  return join(identityDir, PENDING_FILE);
}

/** Why a folder must not hold a key; null when it may, or does not exist. */
export async function identityFolderProblem(identityDir: string): Promise<FolderProblem | null> {
  return privateFolderProblem(identityDir).catch(({ code }: NodeJS.ErrnoException) =>
    code === 'ENOTDIR'
      ? null
      : { text: `it cannot be read (${systemReason({ code })})`, remedy: 'Run gw as the user of `gw serve`.' },
  );
}

/** Called after each step on disk, by the name of the step; a test ends the process there. */
export type OnStored = (step: 'draft' | 'placed' | 'kept') => Promise<void> | void;

/** Writes a file atomically, for its owner only. Throws FILE_UNWRITABLE, ENROLMENT_RUNNING. */
export async function placeFile(
  path: string,
  text: string,
  { replace, onStored }: { readonly replace: boolean; readonly onStored: OnStored },
): Promise<void> {
  const draft = join(dirname(path), `.${basename(path)}.${crypto.randomUUID()}`);
  try {
    await onDisk(path, async () => {
      await using file = await openFresh(draft, 0o600);
      await file.writeFile(text);
      await file.sync();
    });
    await onStored('draft');
    await onDisk(path, () => (replace ? rename(draft, path) : link(draft, path)));
    await onStored('placed');
  } finally {
    await rm(draft, { force: true }).catch(() => {});
  }
  // Without syncing the folder, a power failure could undo the rename.
  await onDisk(path, () => syncFolder(dirname(path)));
  await onStored('kept');
}

/** Removes a file if it exists. Throws FILE_UNWRITABLE. */
export async function removeFile(path: string): Promise<void> {
  await onDisk(path, async () => {
    await rm(path, { force: true });
    await syncFolder(dirname(path));
  });
}

async function onDisk<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST' && basename(path) === PENDING_FILE) throw running(dirname(path), cause);
    // Only errors of the operating system are about the file.
    if (typeof code !== 'string') throw asGwError(cause);
    throw new GwError('FILE_UNWRITABLE', `${path} cannot be written (${systemReason({ code })}).`, { cause });
  }
}

/** Why the lock failed: another run holds it, or the operating system refused it. */
export function lockFailure(folder: string, cause: NodeJS.ErrnoException): GwError {
  const { code } = cause;
  if (code === 'EADDRINUSE') return running(folder, cause);
  if (typeof code !== 'string') return asGwError(cause);
  const message = `Identity folder ${folder} cannot be locked (${systemReason({ code })}).`;
  return new GwError('FILE_UNWRITABLE', message, {
    remedy:
      'Nothing was started. Check the limits and the confinement of this process (ulimit, AppArmor), then run the command again.',
    cause,
  });
}

function running(folder: string, cause: unknown): GwError {
  return new GwError(
    'ENROLMENT_RUNNING',
    `Another \`gw enrol\`, or a renewal by \`gw serve\`, is running in ${folder}.`,
    { cause },
  );
}
