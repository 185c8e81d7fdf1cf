import { chmodSync, existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { walBytes } from '../limits.ts';
import { messageClasses } from '../message-class.ts';
import { DamagedContentError, failureKind, NewerFormatError } from './failure.ts';

/**
 * Damage of the write-ahead log that SQLite does not report: it takes a log with a damaged header for empty, and one with
 * a damaged frame for shorter. @source sqlite.org/fileformat2.html, 4
 */

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const SALT_BYTES = 8;
const MAGIC_LITTLE = 0x377f0682;
const MAGIC_BIG = 0x377f0683;
/** Frames of earlier generations may follow the last one; each new generation adds one to the first salt. */
const MAX_GENERATIONS = 2 ** 24;
/** A power failure leaves the last transaction torn: one commit frame, and one frame header. More of them is damage. */
const MAX_TORN = 1;

type Sums = readonly [number, number];

const FORMAT = 1;
export const PAGE_SIZE_BYTES = 4096;

/**
 * `message.key` is class * 2^48 + seq: the table itself is in the order in which messages are sent, and every class has
 * its end of it. `crc` covers topic and payload, since SQLite has no checksums of its own.
 */
const TABLES = `
CREATE TABLE message (
  key INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, crc INTEGER NOT NULL, topic TEXT NOT NULL, payload BLOB NOT NULL
) STRICT;
CREATE TABLE class (class INTEGER PRIMARY KEY, last_seq INTEGER NOT NULL, kept INTEGER NOT NULL) STRICT;
CREATE TABLE thinning (
  one INTEGER PRIMARY KEY CHECK (one = 1), total INTEGER NOT NULL, pending INTEGER NOT NULL, from_seq INTEGER NOT NULL,
  to_seq INTEGER NOT NULL, from_ms INTEGER NOT NULL, to_ms INTEGER NOT NULL
) STRICT;
INSERT INTO class SELECT value, 0, 0 FROM json_each('${JSON.stringify(messageClasses.map((_, index) => index))}');
INSERT INTO thinning VALUES (1, 0, 0, 0, 0, 0, 0);
PRAGMA user_version = ${FORMAT};
`;

/** Opens or makes the database, for this user only. Throws the errors of SQLite, DamagedContentError, NewerFormatError. */
export function openDatabase(path: string, maxBytes: number): DatabaseSync {
  if (!existsSync(path)) {
    // A log whose database is gone; SQLite would remove it.
    if (bytesOf(`${path}-wal`) > 0) writeFileSync(path, '', { mode: 0o600 });
    else createDatabase(path);
  }
  // gw makes the file whole, so this is never a first start.
  if (bytesOf(path) === 0) throw new DamagedContentError('it is empty');
  const damage = bytesOf(`${path}-wal`) > 0 ? logDamage(readFileSync(`${path}-wal`), PAGE_SIZE_BYTES) : null;
  if (damage !== null) {
    assertNotInUse(path);
    throw new DamagedContentError(damage);
  }
  const database = new DatabaseSync(path);
  try {
    // The write-ahead log takes the mode of the file.
    chmodSync(path, 0o600);
    database.exec(pragmas(maxBytes));
    const version = numberOf(database, 'PRAGMA user_version');
    if (version > FORMAT) throw new NewerFormatError(`${path} has format ${version}; this gw knows ${FORMAT}`);
    if (version === 0) throw new DamagedContentError('it is no outbox of gw');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** What is wrong with a log of pages of this size; null: nothing that a crash or a power failure does not explain. */
export function logDamage(log: Buffer, pageBytes: number): string | null {
  if (log.length === 0) return null;
  if (log.length < HEADER_BYTES) return 'its log is cut off';
  const magic = log.readUInt32BE(0);
  const isBig = magic === MAGIC_BIG;
  let sums = addChecksum([0, 0], log.subarray(0, HEADER_BYTES - 8), isBig);
  const isHeader = (isBig || magic === MAGIC_LITTLE) && log.readUInt32BE(8) === pageBytes;
  if (!isHeader || !equals(sums, log, HEADER_BYTES - 8)) return 'the header of its log is damaged';
  const salts = log.subarray(16, 16 + SALT_BYTES);
  let isUsed = true;
  let [lostCommits, foreign] = [0, 0];
  for (let at = HEADER_BYTES; at + FRAME_HEADER_BYTES + pageBytes <= log.length; at += FRAME_HEADER_BYTES + pageBytes) {
    const frameSalts = log.subarray(at + 8, at + 8 + SALT_BYTES);
    const isCurrent = frameSalts.equals(salts);
    if (isUsed && isCurrent) {
      sums = addChecksum(sums, log.subarray(at, at + 8), isBig);
      const page = log.subarray(at + FRAME_HEADER_BYTES, at + FRAME_HEADER_BYTES + pageBytes);
      sums = addChecksum(sums, page, isBig);
      isUsed = equals(sums, log, at + 16);
      if (isUsed) continue;
    }
    isUsed = false;
    if (isCurrent) lostCommits += log.readUInt32BE(at + 4) > 0 ? 1 : 0;
    else if (!isEarlier(frameSalts.readUInt32BE(0), salts.readUInt32BE(0)) && frameSalts.some((byte) => byte !== 0)) {
      foreign += 1;
    }
  }
  return lostCommits > MAX_TORN || foreign > MAX_TORN ? 'a part of its log is damaged' : null;
}

function isEarlier(salt: number, current: number): boolean {
  const generations = (current - salt) >>> 0;
  return generations > 0 && generations < MAX_GENERATIONS;
}

function addChecksum([first, second]: Sums, bytes: Buffer, isBig: boolean): Sums {
  let [a, b] = [first, second];
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + (isBig ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)) + b) >>> 0;
    b = (b + (isBig ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4)) + a) >>> 0;
  }
  return [a, b];
}

function equals([a, b]: Sums, log: Buffer, at: number): boolean {
  return log.readUInt32BE(at) === a && log.readUInt32BE(at + 4) === b;
}

/**
 * The settings of the database. WAL with synchronous=FULL: a commit returns when its content is on the disk. The lock is
 * held, so that two daemons never use one file, and no shared memory is needed. A quarter of the log's share of the disk
 * is for what is kept between checkpoints, the rest for the largest transaction (`maxBatchBytes`).
 */
export function pragmas(maxBytes: number): string {
  const wal = walBytes(maxBytes);
  return `
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA wal_autocheckpoint = ${Math.max(1, Math.floor(wal / 4 / PAGE_SIZE_BYTES))};
PRAGMA journal_size_limit = ${wal};
PRAGMA cache_size = -512;
PRAGMA temp_store = MEMORY;
PRAGMA trusted_schema = OFF;
PRAGMA cell_size_check = ON;`;
}

/** A log that another process writes may look damaged. Throws the error of SQLite for a locked database. */
function assertNotInUse(path: string): void {
  try {
    using database = new DatabaseSync(path, { readOnly: true });
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
  } catch (error) {
    if (failureKind(error) === 'disk') throw error;
  }
}

/** Makes the database under another name, so that a crash leaves no half of one. */
function createDatabase(path: string): void {
  const draft = `${path}.draft`;
  removeDatabase(draft);
  const database = new DatabaseSync(draft);
  try {
    chmodSync(draft, 0o600);
    database.exec(`PRAGMA page_size = ${PAGE_SIZE_BYTES}; PRAGMA auto_vacuum = INCREMENTAL;`);
    database.exec(`BEGIN IMMEDIATE; ${TABLES} COMMIT;`);
  } finally {
    database.close();
  }
  // Synced with the folder by the first commit, which makes the log.
  renameSync(draft, path);
}

/** Files beside a database. */
export const SIDE_FILES = ['-wal', '-shm', '-journal'];

export function removeDatabase(path: string): void {
  for (const end of ['', ...SIDE_FILES]) rmSync(path + end, { force: true });
}

/** The first column of the only row. */
function numberOf(database: DatabaseSync, sql: string): number {
  const [value] = Object.values(database.prepare(sql).get() ?? {});
  if (typeof value !== 'number') throw new DamagedContentError(`no number for ${sql}`);
  return value;
}

/** Size of database and write-ahead log. */
export function bytesOnDisk(path: string): number {
  return bytesOf(path) + bytesOf(`${path}-wal`);
}

function bytesOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
