import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageClasses } from '../message-class.ts';
import { openDatabase, removeDatabase, SIDE_FILES } from './database.ts';
import { classIndexOf, seqOf } from './keys.ts';
import { isOf, parseRow, type Robot } from './message.ts';
import type { AsideKind, SetAside, StoredMessage } from './model.ts';
import { prepareStatements } from './statements.ts';

/** Damaged databases that are kept as evidence. Those with messages of another robot are all kept. */
export const MAX_KEPT = 3;
/** Messages of one transaction while they are moved to the new database. */
const BATCH = 500;

export interface SetAsideOptions extends Robot {
  readonly path: string;
  readonly maxBytes: number;
  readonly kind: AsideKind;
  readonly reason: string;
  /** Wall clock, for the name of the file. */
  readonly atMs: number;
  /** Numbers of the classes that the new database must go beyond, as far as they are known. */
  readonly lastSeqs: readonly number[];
}

/**
 * Renames a database and puts a new one in its place, with every message of this robot that could still be read and the
 * numbers of the classes. The new one is complete before the old one is renamed, so a crash in between loses nothing:
 * `finishSetAside` completes it. Throws the errors of SQLite and of the operating system.
 */
export function setAside(options: SetAsideOptions): SetAside {
  const { path, kind, reason, atMs } = options;
  const draft = `${path}.new`;
  removeDatabase(draft);
  const salvaged = salvage(draft, options);
  const aside = freeName(`${path}.${kind}-${new Date(atMs).toISOString().replaceAll(':', '-')}`);
  // The database itself first: with it and without its log, what was committed last would be lost.
  if (existsSync(path)) renameSync(path, aside);
  finishSetAside(path);
  removeOldest(path);
  return { kind, path: aside, reason, salvaged };
}

/** Completes what a crash has interrupted. */
export function finishSetAside(path: string): void {
  const draft = `${path}.new`;
  if (!existsSync(draft)) return;
  if (existsSync(path)) {
    removeDatabase(draft);
    return;
  }
  // The new database must not meet the log of the old one.
  const aside = newestAside(path);
  if (aside !== undefined && existsSync(`${path}-wal`) && !existsSync(join(dirname(path), `${aside}-wal`))) {
    renameSync(`${path}-wal`, join(dirname(path), `${aside}-wal`));
  }
  for (const end of SIDE_FILES) rmSync(path + end, { force: true });
  renameSync(draft, path);
}

function salvage(to: string, { path, kind, maxBytes, lastSeqs, ...robot }: SetAsideOptions): number {
  const source = openReadOnly(path);
  const target = openDatabase(to, maxBytes);
  try {
    const statements = prepareStatements(target);
    const classes = messageClasses.map(() => ({ lastSeq: 0, kept: 0 }));
    let salvaged = 0;
    let isInTransaction = false;
    for (const { message, atMs, crc } of source === null ? [] : readable(source)) {
      if (!isOf(robot, message)) continue;
      if (!isInTransaction) target.exec('BEGIN IMMEDIATE');
      isInTransaction = true;
      statements.insert(message.key, atMs, crc, message.topic, message.payload);
      const row = classes[classIndexOf(message.key)];
      if (row !== undefined) {
        row.kept += 1;
        row.lastSeq = Math.max(row.lastSeq, seqOf(message.key));
      }
      salvaged += 1;
      if (salvaged % BATCH !== 0) continue;
      target.exec('COMMIT');
      isInTransaction = false;
    }
    if (!isInTransaction) target.exec('BEGIN IMMEDIATE');
    const counts = source === null ? null : readableCounts(source);
    for (const [index, row] of classes.entries()) {
      const lastSeq = Math.max(row.lastSeq, counts?.classes[index]?.lastSeq ?? 0, lastSeqs[index] ?? 0);
      statements.setClass(index, { ...row, lastSeq });
    }
    // What was thinned of another robot is no news of this one.
    if (counts !== null && kind === 'corrupt') statements.setThinning(counts.thinning);
    target.exec('COMMIT');
    return salvaged;
  } finally {
    target.close();
    close(source);
  }
}

function openReadOnly(path: string): DatabaseSync | null {
  try {
    // SQLite would remove the log of an empty file, which is kept as evidence.
    return statSync(path).size === 0 ? null : new DatabaseSync(path, { readOnly: true });
  } catch {
    return null;
  }
}

export interface Readable {
  readonly message: StoredMessage;
  readonly atMs: number;
  readonly crc: number;
}

/** Every message that can be read: from the first one up to a damaged page, and from the last one down to it. */
export function* readable(source: DatabaseSync): Generator<Readable> {
  let last = -1;
  for (const found of rows(source, 'ASC')) {
    last = found.message.key;
    yield found;
  }
  for (const found of rows(source, 'DESC')) {
    if (found.message.key <= last) return;
    yield found;
  }
}

function* rows(source: DatabaseSync, order: 'ASC' | 'DESC'): Generator<Readable> {
  let before = order === 'ASC' ? -1 : Number.POSITIVE_INFINITY;
  const iterator = iterate(source, `SELECT key, at_ms, crc, topic, payload FROM message ORDER BY key ${order}`);
  for (;;) {
    const row = next(iterator);
    if (row === null) return;
    const message = parseRow(row);
    const { at_ms: atMs, crc } = row;
    if (message === null || typeof atMs !== 'number' || !isTime(atMs) || typeof crc !== 'number') continue;
    // A damaged tree can lead back to a page that was read before.
    if (order === 'ASC' ? message.key <= before : message.key >= before) return;
    before = message.key;
    yield { message, atMs, crc };
  }
}

function isTime(atMs: number): boolean {
  return Number.isSafeInteger(atMs) && !Number.isNaN(new Date(atMs).getTime());
}

type Rows = Iterator<Record<string, unknown>>;

function iterate(source: DatabaseSync, sql: string): Rows {
  try {
    return source.prepare(sql).iterate();
  } catch {
    return [][Symbol.iterator]();
  }
}

function next(iterator: Rows): Record<string, unknown> | null {
  try {
    const { done, value } = iterator.next();
    return done === true ? null : value;
  } catch {
    return null;
  }
}

function readableCounts(source: DatabaseSync) {
  try {
    const statements = prepareStatements(source);
    return { classes: statements.classes(), thinning: statements.thinning() };
  } catch {
    return null;
  }
}

function close(database: DatabaseSync | null): void {
  try {
    database?.close();
  } catch {
    // It was only read.
  }
}

function freeName(wanted: string): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? wanted : `${wanted}-${number}`;
    if (!existsSync(name)) return name;
  }
}

function removeOldest(path: string): void {
  for (const name of asideNames(path, 'corrupt').slice(0, -MAX_KEPT)) removeDatabase(join(dirname(path), name));
}

function newestAside(path: string): string | undefined {
  const times = (['corrupt', 'other-robot'] as const).flatMap((kind) =>
    asideNames(path, kind).map((name) => ({ name, time: name.slice(`${basename(path)}.${kind}-`.length) })),
  );
  return times.toSorted((a, b) => (a.time < b.time ? -1 : 1)).at(-1)?.name;
}

/** Databases that were set aside, the oldest first: their names sort by time. */
function asideNames(path: string, kind: AsideKind): string[] {
  const start = `${basename(path)}.${kind}-`;
  return readdirSync(dirname(path))
    .filter((name) => name.startsWith(start) && !SIDE_FILES.some((end) => name.endsWith(end)))
    .toSorted();
}
