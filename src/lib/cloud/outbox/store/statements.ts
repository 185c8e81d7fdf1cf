import type { DatabaseSync } from 'node:sqlite';
import { messageClasses } from '../message-class.ts';
import { DamagedContentError } from './failure.ts';

export interface ClassRow {
  lastSeq: number;
  kept: number;
}

/** Telemetry that was removed for lack of space; `pending`: not yet in a record. */
export interface ThinningRow {
  total: number;
  pending: number;
  fromSeq: number;
  toSeq: number;
  fromMs: number;
  toMs: number;
}

/** The prepared statements. Rows that gw would not write throw DamagedContentError. */
export function prepareStatements(database: DatabaseSync) {
  const insert = database.prepare('INSERT INTO message (key, at_ms, crc, topic, payload) VALUES (?, ?, ?, ?, ?)');
  const removeRange = database.prepare('DELETE FROM message WHERE key BETWEEN ? AND ?');
  const page = database.prepare(
    'SELECT key, crc, topic, payload FROM message WHERE key > ? AND key <= ? ORDER BY key LIMIT ?',
  );
  const oldest = database.prepare('SELECT key, at_ms FROM message WHERE key >= ? AND key <= ? ORDER BY key LIMIT ?');
  const classes = database.prepare('SELECT class, last_seq, kept FROM class ORDER BY class');
  const setClass = database.prepare('UPDATE class SET last_seq = ?, kept = ? WHERE class = ?');
  const thinning = database.prepare('SELECT total, pending, from_seq, to_seq, from_ms, to_ms FROM thinning');
  const setThinning = database.prepare(
    'UPDATE thinning SET total = ?, pending = ?, from_seq = ?, to_seq = ?, from_ms = ?, to_ms = ?',
  );
  const pageCount = database.prepare('PRAGMA page_count');
  const freeCount = database.prepare('PRAGMA freelist_count');

  return {
    insert: (key: number, atMs: number, crc: number, topic: string, payload: Uint8Array) =>
      void insert.run(key, atMs, crc, topic, payload),
    /** How many there were. */
    removeRange: (first: number, last: number): number => Number(removeRange.run(first, last).changes),
    /** Messages after `after` up to `last`, read one at a time. */
    page: (after: number, last: number, limit: number) => page.iterate(after, last, limit),
    /** Key and time of the first messages from `first` to `last`. */
    oldest: (first: number, last: number, limit: number) =>
      oldest.all(first, last, limit).map((row) => ({ key: integer(row.key), atMs: time(row.at_ms) })),
    classes(): ClassRow[] {
      const rows = classes.all();
      if (rows.length !== messageClasses.length) throw new DamagedContentError('the counts of the classes are missing');
      return rows.map((row) => ({ lastSeq: count(row.last_seq), kept: count(row.kept) }));
    },
    setClass: (index: number, { lastSeq, kept }: ClassRow) => void setClass.run(lastSeq, kept, index),
    thinning(): ThinningRow {
      const row = thinning.get();
      if (row === undefined) throw new DamagedContentError('the count of thinned messages is missing');
      return {
        total: count(row.total),
        pending: count(row.pending),
        fromSeq: count(row.from_seq),
        toSeq: count(row.to_seq),
        fromMs: time(row.from_ms),
        toMs: time(row.to_ms),
      };
    },
    setThinning: ({ total, pending, fromSeq, toSeq, fromMs, toMs }: ThinningRow) =>
      void setThinning.run(total, pending, fromSeq, toSeq, fromMs, toMs),
    /** Pages in use. */
    usedPages: () => count(pageCount.get()?.page_count) - count(freeCount.get()?.freelist_count),
    /** Pages that the file could do without. */
    freePages: () => count(freeCount.get()?.freelist_count),
  };
}

export type Statements = ReturnType<typeof prepareStatements>;

function integer(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw new DamagedContentError('a number is damaged');
  return value;
}

function count(value: unknown): number {
  const number = integer(value);
  if (number < 0) throw new DamagedContentError('a count is negative');
  return number;
}

/** Milliseconds that a date can hold. */
function time(value: unknown): number {
  const ms = integer(value);
  if (Number.isNaN(new Date(ms).getTime())) throw new DamagedContentError('a time is damaged');
  return ms;
}
