import { link, readdir, realpath, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { asGwError, GwError } from '../error/index.ts';
import {
  ensureFolder,
  type FolderProblem,
  openFresh,
  privateFolderProblem,
  sha256,
  syncFolder,
} from '../lifecycle/index.ts';

/**
 * The identity folder. An installed identity is one file, so that there is no moment at which a part of it is there:
 * `identity.json`. The key of an enrolment that is under way is `pending.json`; it becomes part of the identity, and
 * the file goes. Both belong to their owner only. Decision of ours, see docs/enrolment.md.
 */
export const IDENTITY_FILE = 'identity.json';
const PENDING_FILE = 'pending.json';
const DRAFT = /^\.(identity|pending)\.json\.[0-9a-f-]{36}$/;

/** Where the key of an enrolment lies that was begun in this folder. */
export function pendingPath(identityDir: string): string {
  return join(identityDir, PENDING_FILE);
}

/**
 * Makes the folder ready for an enrolment, closed to everybody else, and takes it for this process alone until
 * disposed. What a run that was cut left half written is removed. Throws IDENTITY_BROKEN when the folder is open to
 * others, ENROLMENT_RUNNING, FILE_UNWRITABLE.
 */
export async function holdFolder(identityDir: string): Promise<AsyncDisposable> {
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
  const hold = await holdName(await onDisk(identityDir, () => realpath(identityDir)));
  try {
    await onDisk(identityDir, async () => {
      const names = await readdir(identityDir);
      for (const name of names) if (DRAFT.test(name)) await rm(join(identityDir, name), { force: true });
    });
  } catch (error) {
    await hold[Symbol.asyncDispose]();
    throw error;
  }
  return hold;
}

/** What makes a folder unfit for a key; null when nothing does, or when there is no folder. */
export async function identityFolderProblem(identityDir: string): Promise<FolderProblem | null> {
  return privateFolderProblem(identityDir).catch(({ code }: NodeJS.ErrnoException) =>
    code === 'ENOTDIR'
      ? null
      : { text: `it cannot be looked at (${code ?? 'unknown reason'})`, remedy: 'Run gw as the user of `gw serve`.' },
  );
}

/** Called after each step on disk, by the name of the step; a test ends the process there. */
export type OnStored = (step: 'draft' | 'placed' | 'kept') => Promise<void> | void;

/** Puts a whole file, for its owner only, in its place in one step. Throws FILE_UNWRITABLE, ENROLMENT_RUNNING. */
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
  // The name itself lies in the folder: without this a loss of power could still take it back.
  await onDisk(path, () => syncFolder(dirname(path)));
  await onStored('kept');
}

/** Removes a file of ours; one that is not there is fine. Throws FILE_UNWRITABLE. */
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
    // Only what the operating system says is about the file.
    if (typeof code !== 'string') throw asGwError(cause);
    throw new GwError('FILE_UNWRITABLE', `${path} cannot be written (${code}).`, { cause });
  }
}

/**
 * One run at a time: a name that the kernel of Linux gives to one process only and takes back when that process ends,
 * however it ends. Elsewhere there is no such name, and a second key is refused when it is put in its place.
 */
async function holdName(folder: string): Promise<AsyncDisposable> {
  if (process.platform !== 'linux') return { [Symbol.asyncDispose]: async () => {} };
  const server = createServer((socket) => socket.destroy());
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // Stays for the whole run: what happens to the name after it was given changes nothing.
  server.on('error', (cause) => reject(notHeld(folder, cause)));
  server.listen(`\0gw-enrolment-${sha256(folder)}`, resolve);
  await promise;
  server.unref();
  return {
    [Symbol.asyncDispose]: () => new Promise((done) => server.close(() => done())),
  };
}

/** Why the name was not given: another run has it, or the operating system gives none. */
export function notHeld(folder: string, cause: NodeJS.ErrnoException): GwError {
  const { code } = cause;
  if (code === 'EADDRINUSE') return running(folder, cause);
  if (typeof code !== 'string') return asGwError(cause);
  const message = `${folder} cannot be held for this run alone: the operating system gives no name for it (${code}).`;
  return new GwError('FILE_UNWRITABLE', message, {
    remedy:
      'Nothing was begun. Look at what this process may do and open (its limits, its confinement), then run it again.',
    cause,
  });
}

function running(folder: string, cause: unknown): GwError {
  return new GwError('ENROLMENT_RUNNING', `Another run of \`gw enrol\` is at work in ${folder}.`, { cause });
}
