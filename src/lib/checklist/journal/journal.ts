import { constants, type FileHandle, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { asGwError, GwError, systemReason } from '../../error/index.ts';
import {
  assertOwnFolder,
  ensureFolder,
  openExisting,
  openFresh,
  readWhole,
  syncFolder,
} from '../../lifecycle/index.ts';
import type { Attachment } from '../record.result.ts';
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

const MAX_LOCK_BYTES = 1_024;

/**
 * The journal of a run: one JSON line per event, on disk before the result is shown. A run resumes from it after a
 * crash, and the record is composed from it.
 */

export const JOURNAL_MAX_BYTES = 64 * 1024 * 1024;

export interface Journal extends AsyncDisposable {
  readonly path: string;
  /** Folder of the stored photos; created with the first. */
  readonly attachmentsDir: string;
  /** State of earlier sessions; empty for a new run. */
  readonly state: JournalState;
  /** Resolves once the line is on disk. Throws FILE_UNWRITABLE. */
  write(line: JournalLine): Promise<void>;
  /** Stores a photo: first the file, then its line. Throws ATTACHMENT_INVALID, FILE_UNWRITABLE. */
  keepPhoto(stepId: string, path: string): Promise<Attachment>;
  /** Removes journal and photos once the record holds them. */
  remove(): Promise<void>;
}

/** Creates the journal of a new run in a folder. Throws FILE_UNWRITABLE. */
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

/**
 * Locks a journal for this process. Returns the path of the lock file beside the journal; its owner removes it. Throws RUN_OPEN, and the error of the operating system.
 */
async function claimJournal(path: string): Promise<string> {
  const lock = `${path}.lock`;
  for (let attempt = 0; attempt < 2; attempt += 1) {
    try {
      const mark = await processMark(process.pid);
      await using file = await openFresh(lock);
      await file.writeFile(mark);
      return lock;
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
      const owner = await readWhole(lock, MAX_LOCK_BYTES).then(
        (bytes) => Buffer.from(bytes).toString(),
        () => '',
      );
      const pid = Number(owner.split(' ')[0]);
      if (isAlive(pid) && (await processMark(pid)) === owner) {
        throw new GwError('RUN_OPEN', `Process ${pid} is running this checklist.`, {
          remedy: `Wait until it ends. If it is not gw, remove ${lock}.`,
        });
      }
      await rm(lock, { force: true });
    }
  }
  throw new GwError('RUN_OPEN', 'Another process has just resumed this run.');
}

/** PID and start time: a PID is reused after a restart of the machine or the container. */
async function processMark(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name before the last bracket may hold anything; the start is the twentieth field behind it.
  const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  return `${pid} ${start}`;
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
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
    // Left without its first line by a crash.
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

/** Reads a journal. A last line truncated by a crash is ignored. Throws JOURNAL_BROKEN. */
export async function readJournal(path: string): Promise<JournalState> {
  const { size } = await orUnreadable(path, () => stat(path));
  if (size > JOURNAL_MAX_BYTES) throw broken(path, `it is larger than ${JOURNAL_MAX_BYTES / 1024 / 1024} MiB`);
  return parseJournal(Buffer.from(await orUnreadable(path, () => readWhole(path, JOURNAL_MAX_BYTES))), path);
}

/** Resumes a journal; a line truncated by a crash is removed. Throws JOURNAL_BROKEN, RUN_OPEN, FILE_UNWRITABLE. */
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

/** Opens a journal whose lock is held; releases the lock on failure. */
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

  /** Serialised, because interleaved lines would both be lost. */
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
  return broken(path, `it cannot be read (${systemReason(cause)})`, cause);
}

async function orUnreadable<T>(path: string, work: () => Promise<T>): Promise<T> {
  return await work().catch((error) => {
    throw unreadable(path, error);
  });
}

function unwritable(path: string, cause: unknown): GwError {
  const { code } = cause as NodeJS.ErrnoException;
  // Only errors of the operating system concern the file.
  if (cause instanceof GwError || typeof code !== 'string') return asGwError(cause);
  return new GwError('FILE_UNWRITABLE', `${path} cannot be written (${systemReason({ code })}).`, { cause });
}
