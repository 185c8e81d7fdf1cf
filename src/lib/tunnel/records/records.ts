import { constants, type FileHandle, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { asGwError, GwError, systemReason } from '../../error/index.ts';
import {
  assertOwnFolder,
  type Clock,
  ensureFolder,
  type Log,
  openExisting,
  openFresh,
  removeLeftDrafts,
  syncFolder,
} from '../../lifecycle/index.ts';
import { CURRENT_FILE, HEAD_FILE, listFolder, MAX_ROTATED_FILES, rotatedName, SENT_FILE } from './files.ts';
import { encodeRecord, FIRST_PREV, MAX_LINE_BYTES } from './line.ts';
import { type Loaded, loadRecords, remember } from './load.ts';
import { type Head, readSent, setAside, writeHead, writeSent } from './pointers.ts';
import { createUnsent, newestOfFile, newestRecords } from './read.ts';
import type { RecordBody, SessionRecord } from './schema.ts';

const COPY_BYTES = 64 * 1024;
const OTHERS = 0o077;

/** The file that records are appended to, open. */
interface CurrentFile {
  readonly handle: FileHandle;
  /** Of whole lines. */
  bytes: number;
}

/** Size of a file at which the next record goes to a new one. Project decision. */
export const DEFAULT_MAX_FILE_BYTES = 8 * 1024 * 1024;
const DEFAULT_BATCH = 100;
/** Files with records that the cloud does not have are kept longer, up to so many. Project decision. */
export const MAX_UNSENT_FILES = 2 * MAX_ROTATED_FILES;

export interface RecordsOptions {
  /** Created with the first record, for its owner only. */
  readonly dir: string;
  /** Of the robot; in every record. */
  readonly serial: string;
  readonly clock: Pick<Clock, 'wall'>;
  readonly log: Log;
  readonly maxFileBytes?: number;
}

/** The records of support sessions: hash-chained JSON lines. */
export interface Records extends AsyncDisposable {
  /**
   * Resolves when the record is on the disk; concurrent calls are written one after the other. Throws FILE_UNWRITABLE,
   * and then nothing of the record is kept.
   */
  append(body: RecordBody): Promise<SessionRecord>;
  /** Starts of earlier lives of gw that have no end yet, oldest first. */
  openSessions(): readonly { readonly session: string; readonly at: string }[];
  /** Whether a start or a refusal has this hash, among the last 10,000. */
  hasToken(tokenHash: string): boolean;
  /** Newest first, over rotated files; a line that is no record is left out. Throws FILE_UNREADABLE. */
  last(limit: number): Promise<readonly SessionRecord[]>;
  /** The next records that the cloud has not yet, oldest first. Throws FILE_UNREADABLE. */
  unsent(limit?: number): Promise<readonly SessionRecord[]>;
  /** Records up to this `seq` are not sent again. Throws FILE_UNWRITABLE. */
  markSent(seq: number): Promise<void>;
  /** Number of records that the cloud has not yet. */
  notSentYet(): number;
  /** Waits for what is being written. */
  close(): Promise<void>;
}

/**
 * Opens the records in a folder; it need not exist or be writable yet, since every append tries again. Throws
 * FILE_UNREADABLE, and FILE_UNWRITABLE for a folder that others may write to.
 */
export async function openRecords(options: RecordsOptions): Promise<Records> {
  const { dir, serial, clock, log, maxFileBytes = DEFAULT_MAX_FILE_BYTES } = options;
  const path = join(dir, CURRENT_FILE);
  const none: Head = { seq: 0, hash: FIRST_PREV, firstSeq: 1 };
  await assertOwnFolder(dir);
  const loaded = await orUnreadable(dir, () => loadRecords(dir, log, none));
  const sentRead = await orUnreadable(dir, () => readSent(join(dir, SENT_FILE)));
  if (sentRead.kind === 'damaged') log.error({ dir }, 'which session records were sent is unknown: all are sent again');
  const { open, tokens } = loaded;
  let last = loaded.last;
  // More than there are: the pointer of other records, so that all are sent.
  let sent = sentRead.kind === 'read' && sentRead.value <= last.seq ? sentRead.value : 0;
  let file: CurrentFile | null = null;
  let isClosed = false;
  const readUnsent = createUnsent(dir);

  let turn: Promise<unknown> = Promise.resolve();
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = turn.then(work, work);
    turn = mine.catch(() => {});
    return mine;
  }

  const stamp = () =>
    clock
      .wall()
      .toISOString()
      .replace(/[-:]|\.\d+/g, '');

  /** Opens and repairs the current file; `state` is what its folder holds. */
  async function prepare(state: Loaded): Promise<CurrentFile> {
    await ensureFolder(dir, 0o700);
    await assertOwnFolder(dir);
    if (state.isHeadDamaged) {
      const kept = await setAside(join(dir, HEAD_FILE), stamp());
      log.error({ kept }, 'the file with the last record was damaged: it is kept under another name');
    }
    const opened = await openCurrent(dir, state, { log, stamp: stamp() });
    file = opened;
    if (state.isHeadBehind || state.isHeadDamaged) await keepHead(last);
    return opened;
  }

  async function writable(): Promise<CurrentFile> {
    if (file !== null && (await isSame(file, dir))) return file;
    if (file !== null) log.error({ path }, 'the file of the session records was changed by another program');
    await discard();
    const state = await loadRecords(dir, log, last);
    last = state.last;
    for (const hash of state.tokens) remember(tokens, hash);
    return await prepare(state);
  }

  async function discard(): Promise<void> {
    const { handle } = file ?? {};
    file = null;
    await handle?.close().catch(() => {});
  }

  /** The record is durable already, so a failure is only logged; the next open repairs it. */
  async function keepHead(head: Head): Promise<void> {
    await writeHead(join(dir, HEAD_FILE), head).catch((error) => {
      log.error({ error: asGwError(error).message }, 'the number of the last session record cannot be saved');
    });
  }

  async function startFile(current: CurrentFile): Promise<CurrentFile> {
    file = null;
    await current.handle.close();
    await rotate(dir);
    const created = await createCurrent(dir);
    file = created;
    await prune().catch((error) => {
      log.error({ error: asUnwritable(dir, error).message }, 'old session records cannot be removed');
    });
    return created;
  }

  async function prune(): Promise<void> {
    const { rotated } = await listFolder(dir);
    const old = rotated.slice(0, -MAX_ROTATED_FILES);
    for (const [at, { path: oldest }] of old.entries()) {
      const [newest] = await newestOfFile(oldest);
      const isUnsent = newest !== undefined && newest.seq > sent;
      if (isUnsent && rotated.length - at <= MAX_UNSENT_FILES) break;
      // Before the removal, so that a crash between the two leaves no record that seems to be missing.
      if (newest !== undefined) {
        last = { ...last, firstSeq: Math.max(last.firstSeq, newest.seq + 1) };
        await writeHead(join(dir, HEAD_FILE), last);
      }
      await rm(oldest, { force: true });
      if (isUnsent) log.error({ path: oldest }, 'session records were removed that the cloud does not have');
      else log.info({ path: oldest }, 'an old file of the session records was removed');
    }
    if (old.length > 0) await syncFolder(dir);
  }

  async function appendNow(body: RecordBody): Promise<SessionRecord> {
    if (isClosed) throw new GwError('FILE_UNWRITABLE', `${path} cannot be written: the records are closed.`);
    let current = await writable();
    const head = { seq: last.seq + 1, at: clock.wall().toISOString(), serial, prev: last.hash };
    const { record, line } = encodeRecord(body, head);
    if (line.byteLength > MAX_LINE_BYTES) {
      throw new GwError('FILE_UNWRITABLE', `A session record of ${line.byteLength} bytes is too large.`, {
        remedy: `Shorten its texts: at most ${MAX_LINE_BYTES} bytes.`,
      });
    }
    if (current.bytes > 0 && current.bytes + line.byteLength > maxFileBytes) current = await startFile(current);
    try {
      for (let done = 0; done < line.byteLength; ) {
        const { bytesWritten } = await current.handle.write(line, done, line.byteLength - done, current.bytes + done);
        done += bytesWritten;
      }
      await current.handle.datasync();
    } catch (error) {
      // The next append reads the folder again, since after a failed sync the content of the disk is not known.
      await current.handle.truncate(current.bytes).catch(() => {});
      await discard();
      throw error;
    }
    current.bytes += line.byteLength;
    last = { ...last, seq: record.seq, hash: record.hash };
    await keepHead(last);
    if (record.kind === 'end') open.delete(record.session);
    else remember(tokens, record.tokenHash);
    return record;
  }

  await removeLeftDrafts(dir, clock.wall());
  if (loaded.current !== null || loaded.last.seq > 0) {
    await prepare(loaded).catch((error) => {
      log.error({ error: asUnwritable(path, error).message }, 'the session records cannot be written');
    });
  }

  const close = async () => {
    await inTurn(async () => {
      isClosed = true;
      await discard();
    });
  };

  return {
    append: (body) =>
      inTurn(() => appendNow(body)).catch((error) => {
        throw asUnwritable(path, error);
      }),
    openSessions: () => [...open.values()],
    hasToken: (tokenHash) => tokens.has(tokenHash),
    last: (limit) => inTurn(() => orUnreadable(dir, () => newestRecords(dir, limit))),
    unsent: (limit = DEFAULT_BATCH) =>
      inTurn(() => orUnreadable(dir, async () => (sent >= last.seq ? [] : await readUnsent(sent, limit)))),
    markSent: (seq) =>
      inTurn(async () => {
        const next = Math.min(seq, last.seq);
        if (!Number.isSafeInteger(next) || next <= sent) return;
        await writeSent(join(dir, SENT_FILE), next);
        sent = next;
      }),
    notSentYet: () => last.seq - sent,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/**
 * Opens the current file of the records for appending, repaired: a torn last line is moved into a file beside it, a file
 * whose end is no record is rotated away as it is. Rejects with the error of the operating system.
 */
async function openCurrent(
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
async function createCurrent(dir: string): Promise<CurrentFile> {
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
async function rotate(dir: string): Promise<string> {
  const { rotated } = await listFolder(dir);
  const path = join(dir, rotatedName((rotated.at(-1)?.number ?? 0) + 1));
  await rename(join(dir, CURRENT_FILE), path);
  await syncFolder(dir);
  return path;
}

/** Whether the path still leads to the open file, with these bytes: a person may have moved or edited it. */
async function isSame({ handle, bytes }: CurrentFile, dir: string): Promise<boolean> {
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

async function orUnreadable<T>(path: string, work: () => Promise<T>): Promise<T> {
  return await work().catch((cause) => {
    const { code } = cause as NodeJS.ErrnoException;
    if (cause instanceof GwError || typeof code !== 'string') throw asGwError(cause);
    throw new GwError('FILE_UNREADABLE', `The session records in ${path} cannot be read (${systemReason({ code })}).`, {
      cause,
    });
  });
}

function asUnwritable(path: string, cause: unknown): GwError {
  const { code } = cause as NodeJS.ErrnoException;
  if (cause instanceof GwError || typeof code !== 'string') return asGwError(cause);
  return new GwError('FILE_UNWRITABLE', `${path} cannot be written (${systemReason({ code })}).`, { cause });
}
