import { chmodSync, constants, rmSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { openExisting, openFresh } from '../../../lifecycle/index.ts';
import { logDamage, PAGE_SIZE_BYTES, removeDatabase } from './database.ts';
import { DamagedContentError } from './failure.ts';

const CHUNK_BYTES = 1024 * 1024;
/** Salts and checksum of the log: another generation of it has another header. @source sqlite.org/fileformat2.html, 4.1 */
const LOG_HEADER_BYTES = 32;
const TRIES = 20;

/**
 * Copies an outbox to a new file, whole as of one moment, also while `gw serve` uses it. `draft` is a free path for what is
 * made in between. Rejects with the error of the operating system or of SQLite, and with DamagedContentError.
 */
export async function snapshotOutbox(path: string, to: string, draft: string): Promise<void> {
  try {
    await copyOutbox(path, draft);
    using database = openCopy(draft);
    const [verdict] = Object.values(database.prepare('PRAGMA integrity_check(1)').get() ?? {});
    if (verdict !== 'ok') throw new DamagedContentError(String(verdict));
    database.prepare('VACUUM INTO ?').run(to);
    chmodSync(to, 0o600);
  } catch (error) {
    rmSync(to, { force: true });
    throw error;
  } finally {
    removeDatabase(draft);
  }
}

/**
 * Copies the file of an outbox and its log as they are. The running gateway holds the lock, so that no other process may open
 * the database; nothing of it is changed or locked here. The file changes only by a checkpoint, whose pages are all in the
 * log: so a copy of the file, and after it one of the log, are consistent as long as the log was not begun anew meanwhile.
 * Rejects as `snapshotOutbox`.
 */
export async function copyOutbox(path: string, to: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const problem = await copyBoth(path, to);
    if (problem === null) return;
    removeDatabase(to);
    if (attempt === TRIES) throw new DamagedContentError(problem);
  }
}

/** Opens a copy, which has no other user: without shared memory beside it. */
export function openCopy(path: string): DatabaseSync {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA locking_mode = EXCLUSIVE');
  return database;
}

/** Why what was copied may not be of one moment; null: it is. */
async function copyBoth(path: string, draft: string): Promise<string | null> {
  const before = await markOf(path);
  await copy(path, draft);
  const head = await copy(`${path}-wal`, `${draft}-wal`).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  });
  const after = await markOf(path);
  if (before.log !== after.log || before.log !== head.toString('hex')) return 'its log was begun anew during the copy';
  const isStill = before.file === after.file && (head.length > 0 || before.time === after.time);
  if (!isStill) return 'it was replaced during the copy';
  // What is written meanwhile may look like damage as well.
  return head.length === 0 ? null : await damageOf(`${draft}-wal`);
}

interface Mark {
  readonly file: string;
  readonly time: string;
  readonly log: string;
}

async function markOf(path: string): Promise<Mark> {
  const { dev, ino, mtimeNs, size } = await stat(path, { bigint: true });
  const log = await headOf(`${path}-wal`);
  return { file: `${dev}:${ino}`, time: `${mtimeNs}:${size}`, log: log.toString('hex') };
}

async function headOf(path: string): Promise<Buffer> {
  try {
    await using file = await openExisting(path, constants.O_RDONLY);
    const head = Buffer.alloc(LOG_HEADER_BYTES);
    const { bytesRead } = await file.read(head, 0, LOG_HEADER_BYTES, 0);
    return head.subarray(0, bytesRead);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}

/** Up to its size when it was opened. Returns the first bytes. */
async function copy(from: string, to: string): Promise<Buffer> {
  await using source = await openExisting(from, constants.O_RDONLY);
  await using target = await openFresh(to, 0o600);
  const { size } = await source.stat();
  const buffer = Buffer.allocUnsafeSlow(Math.max(1, Math.min(CHUNK_BYTES, size)));
  let head: Buffer | null = null;
  for (let at = 0; at < size; ) {
    const { bytesRead } = await source.read(buffer, 0, Math.min(buffer.length, size - at), at);
    if (bytesRead === 0) break;
    head ??= Buffer.from(buffer.subarray(0, Math.min(bytesRead, LOG_HEADER_BYTES)));
    await target.writeFile(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
  return head ?? Buffer.alloc(0);
}

/** Damage of the log that SQLite does not report. */
async function damageOf(path: string): Promise<string | null> {
  await using file = await openExisting(path, constants.O_RDONLY);
  return logDamage(await file.readFile(), PAGE_SIZE_BYTES);
}
