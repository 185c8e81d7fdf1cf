import { constants, type FileHandle, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { asGwError, GwError } from '../error/index.ts';
import { assertOwnFolder, ensureFolder, openExisting, openFresh, readWhole, syncFolder } from '../lifecycle/index.ts';
import { keepPhoto } from './attachment.ts';
import {
  type Begun,
  broken,
  JOURNAL_FORMAT,
  type JournalLine,
  type JournalState,
  parseJournal,
  stateOf,
} from './journal-lines.ts';
import { claimJournal } from './journal-lock.ts';
import type { Attachment } from './record.result.ts';

/**
 * The journal of a run: one JSON line for everything that happened, each on disk before a person sees that it was
 * taken. It is what a run goes on from after a crash; the record is made of it.
 */

const JOURNAL_MAX_BYTES = 64 * 1024 * 1024;

export interface Journal extends AsyncDisposable {
  readonly path: string;
  /** Folder of the photos that were kept; made with the first. */
  readonly attachmentsDir: string;
  /** What earlier sittings left; empty for a new run. */
  readonly state: JournalState;
  /** Resolves once the line is on disk. Throws FILE_UNWRITABLE. */
  write(line: JournalLine): Promise<void>;
  /** Keeps a photo: first the file, then its line. Throws ATTACHMENT_INVALID, FILE_UNWRITABLE. */
  keepPhoto(stepId: string, path: string): Promise<Attachment>;
  /** Removes journal and photos: the record has all of it. */
  remove(): Promise<void>;
}

/** Begins the journal of a new run in a folder. Throws FILE_UNWRITABLE. */
export async function beginJournal(dir: string, begun: Omit<Begun, 'kind' | 'format'>): Promise<Journal> {
  const stamp = begun.at.replace(/[-:]|\.\d+/g, '');
  const path = join(dir, `${begun.checklist.name}-${stamp}-${begun.id.slice(0, 8)}.jsonl`);
  const head: Begun = { kind: 'begun', format: JOURNAL_FORMAT, ...begun };
  try {
    await ensureFolder(dir);
    await assertOwnFolder(dir);
    await using file = await openFresh(path);
    await file.writeFile(`${JSON.stringify(head)}\n`);
    await file.sync();
    await syncFolder(dir);
  } catch (cause) {
    throw unwritable(path, cause);
  }
  return openClaimed(path, stateOf(head, []), await claim(path));
}

/** The newest run of this checklist for these robots; undefined when there is none. Throws JOURNAL_BROKEN. */
export async function findJournal(
  dir: string,
  name: string,
  serials: readonly string[],
): Promise<{ readonly path: string; readonly state: JournalState } | undefined> {
  const all = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw unreadable(dir, error);
  });
  const files = all.filter((file) => file.startsWith(`${name}-`) && JOURNAL_FILE.test(file));
  const dated = await Promise.all(
    files.map(async (file) => {
      const path = join(dir, file);
      const { mtimeMs, size } = await orUnreadable(path, () => stat(path));
      return { path, at: mtimeMs, size };
    }),
  );
  for (const { path, size } of dated.toSorted((a, b) => b.at - a.at)) {
    // One that a crash left at its very beginning.
    if (size === 0 || !(await orUnreadable(path, () => isBegun(path)))) continue;
    const state = await readJournal(path);
    const { checklist, robots } = state.begun;
    if (checklist.name === name && robots.map(({ serial }) => serial).join() === serials.join()) return { path, state };
  }
  return undefined;
}

async function isBegun(path: string): Promise<boolean> {
  await using file = await openExisting(path, constants.O_RDONLY);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(64 * 1024), 0, 64 * 1024, 0);
  return buffer.subarray(0, bytesRead).includes(0x0a);
}

const JOURNAL_FILE = /^[a-z0-9-]+-\d{8}T\d{6}Z-[0-9a-f]{8}\.jsonl$/;

/** Reads a journal. A last line that a crash cut off is no line. Throws JOURNAL_BROKEN. */
export async function readJournal(path: string): Promise<JournalState> {
  const { size } = await orUnreadable(path, () => stat(path));
  if (size > JOURNAL_MAX_BYTES) throw broken(path, 'it is larger than any journal of gw');
  return parseJournal(Buffer.from(await orUnreadable(path, () => readWhole(path, JOURNAL_MAX_BYTES))), path);
}

/** Goes on with a journal. A line that a crash cut off is cut away. Throws JOURNAL_BROKEN, RUN_OPEN, FILE_UNWRITABLE. */
export async function resumeJournal(path: string): Promise<Journal> {
  const lock = await claim(path);
  let state: JournalState;
  try {
    state = await readJournal(path);
    await cutToWholeLines(path);
  } catch (error) {
    await rm(lock, { force: true });
    throw unwritable(path, error);
  }
  return openClaimed(path, state, lock);
}

async function cutToWholeLines(path: string): Promise<void> {
  const bytes = Buffer.from(await readWhole(path, JOURNAL_MAX_BYTES));
  const whole = bytes.lastIndexOf(0x0a) + 1;
  if (whole === bytes.byteLength) return;
  await using file = await openExisting(path);
  await file.truncate(whole);
  await file.sync();
}

async function claim(path: string): Promise<string> {
  return await claimJournal(path).catch((error) => {
    throw unwritable(path, error);
  });
}

/** The journal of whoever has its lock; a lock for nothing is given back. */
async function openClaimed(path: string, state: JournalState, lock: string): Promise<Journal> {
  let file: FileHandle;
  try {
    file = await openExisting(path, constants.O_WRONLY | constants.O_APPEND);
  } catch (cause) {
    await rm(lock, { force: true });
    throw unwritable(path, cause);
  }
  const attachmentsDir = `${path.slice(0, -'.jsonl'.length)}.files`;
  let last: Promise<unknown> = Promise.resolve();
  let closed = false;

  async function append(line: JournalLine): Promise<void> {
    try {
      await file.appendFile(`${JSON.stringify(line)}\n`);
      await file.datasync();
    } catch (cause) {
      throw unwritable(path, cause);
    }
  }

  /** One after the other: two lines that run into each other would be two lost ones. */
  function write(line: JournalLine): Promise<void> {
    const mine = last.catch(() => {}).then(() => append(line));
    last = mine;
    return mine;
  }

  async function close(): Promise<void> {
    if (closed) return;
    closed = true;
    await last.catch(() => {});
    await file.close();
    await rm(lock, { force: true });
  }

  return {
    path,
    attachmentsDir,
    state,
    write,
    async keepPhoto(stepId, photo) {
      let attachment: Attachment;
      try {
        await ensureFolder(attachmentsDir);
        attachment = await keepPhoto(photo, stepId, attachmentsDir);
      } catch (cause) {
        throw unwritable(attachmentsDir, cause);
      }
      await write({ kind: 'attachment', attachment });
      return attachment;
    },
    async remove() {
      await close();
      await rm(path, { force: true });
      await rm(attachmentsDir, { recursive: true, force: true });
    },
    [Symbol.asyncDispose]: close,
  };
}

function unreadable(path: string, cause: NodeJS.ErrnoException): GwError {
  return broken(path, `it cannot be read (${cause.code ?? 'unknown reason'})`, cause);
}

async function orUnreadable<T>(path: string, work: () => Promise<T>): Promise<T> {
  return await work().catch((error) => {
    throw unreadable(path, error);
  });
}

function unwritable(path: string, cause: unknown): GwError {
  const { code } = cause as NodeJS.ErrnoException;
  // Only what the operating system says is about the file.
  if (cause instanceof GwError || typeof code !== 'string') return asGwError(cause);
  return new GwError('FILE_UNWRITABLE', `${path} cannot be written (${code}).`, { cause });
}
