import type { DatabaseSync } from 'node:sqlite';
import type { ThinnedWire } from '../../wire.ts';
import { MAX_PAYLOAD_BYTES, walBytes } from '../limits.ts';
import { type MessageClass, messageClasses } from '../message-class.ts';
import { bytesOnDisk, openDatabase, PAGE_SIZE_BYTES } from './database.ts';
import { DamagedContentError, OtherRobotError } from './failure.ts';
import { classIndexOf, keyOf, seqOf } from './keys.ts';
import { checksum, encodePayload, isOf, type Robot, readRow } from './message.ts';
import type { AppendResult, NewMessage, StoredMessage, StoreState } from './model.ts';
import { type ClassRow, prepareStatements, type Statements, type ThinningRow } from './statements.ts';

/** Bytes of a row beside topic and payload, generously. */
const ROW_OVERHEAD_BYTES = 64;
/** Pages that an insertion may need for the tree above. */
const TREE_PAGES = 4;
/** Telemetry removed in one step: at least so many messages, and at least this share. */
const THIN_MIN = 8;
const THIN_MAX = 1_000;
const THIN_SHARE = 0.01;

export interface StoreOptions extends Robot {
  readonly path: string;
  readonly maxBytes: number;
  /** Topic of the records about thinned telemetry. */
  readonly recordTopic: string;
}

/** The database of the outbox. All calls are synchronous and throw the errors of SQLite, DamagedContentError, OtherRobotError. */
export interface Store {
  /** In one transaction, durable when it returns. An entry can be refused alone. */
  append(messages: readonly NewMessage[]): AppendResult[];
  /** Kept messages of a class after a key, oldest first. */
  page(messageClass: MessageClass, after: number, limit: PageLimit): Page;
  /** Removes messages; those that are not kept any more are passed over. */
  remove(keys: readonly number[]): void;
  /** Makes the record about the telemetry that was thinned since the last one; its key, or null: there is none to make. */
  recordThinning(record: { readonly id: string; readonly atMs: number }): number | null;
  /** Writes to the disk without changing anything. */
  probe(): void;
  /** The last number of each class. */
  lastSeqs(): readonly number[];
  state(): StoreState;
  close(): void;
}

interface PageLimit {
  readonly maxMessages: number;
  readonly maxBytes: number;
}

interface Page {
  readonly messages: readonly StoredMessage[];
  readonly isEnd: boolean;
  readonly newestKey: number;
}

/** Opens or makes the store; throws as its calls do. */
export function openStore({ path, maxBytes, serial, recordTopic, shadowTopic }: StoreOptions): Store {
  const database = openDatabase(path, maxBytes);
  const pageLimit = Math.floor((maxBytes - walBytes(maxBytes)) / PAGE_SIZE_BYTES);
  const statements = orClosed(database, () => prepareStatements(database));
  /** As committed; no other process writes, since the database is locked. */
  let classes: readonly Readonly<ClassRow>[] = orClosed(database, statements.classes);
  let thinning: Readonly<ThinningRow> = orClosed(database, statements.thinning);
  // Before anything is written: the oldest messages are those of the robot before.
  orClosed(database, () => {
    for (const [index, name] of messageClasses.entries()) {
      const from = keyOf(name, 0);
      for (const row of statements.page(from, keyOf(name, classRow({ classes }, index).lastSeq), 1)) own(row);
    }
  });
  /** When the oldest message was made; undefined: to be read again. */
  let oldestAtMs: number | null | undefined;

  function own(row: Readonly<Record<string, unknown>>): StoredMessage {
    const message = readRow(row);
    if (!isOf({ serial, shadowTopic }, message)) throw new OtherRobotError(`one is for ${message.topic}`);
    return message;
  }

  /** Runs work on copies of the counts, which are kept when the transaction is committed. */
  function transaction<T>(work: (draft: Draft) => T): T {
    const draft: Draft = { classes: classes.map((row) => ({ ...row })), thinning: { ...thinning } };
    database.exec('BEGIN IMMEDIATE');
    try {
      const result = work(draft);
      for (const [index, row] of draft.classes.entries()) {
        const before = classes[index];
        if (row.lastSeq !== before?.lastSeq || row.kept !== before.kept) statements.setClass(index, row);
        if (before?.kept === 0 || row.kept < (before?.kept ?? 0)) oldestAtMs = undefined;
      }
      if (draft.thinning.total !== thinning.total) oldestAtMs = undefined;
      if (draft.thinning.total !== thinning.total || draft.thinning.pending !== thinning.pending) {
        statements.setThinning(draft.thinning);
      }
      database.exec('COMMIT');
      ({ classes, thinning } = draft);
      return result;
    } catch (error) {
      rollBack();
      throw error;
    }
  }

  function rollBack(): void {
    try {
      // Some errors have rolled it back already.
      if (database.isTransaction) database.exec('ROLLBACK');
    } catch {
      // The error before it names the cause.
    }
  }

  function insert(draft: Draft, message: NewMessage, isSpaceKnown: boolean): AppendResult {
    const row = classRow(draft, messageClasses.indexOf(message.class));
    const seq = row.lastSeq + 1;
    const payload = encodePayload(message, seq, serial);
    if (payload.byteLength > MAX_PAYLOAD_BYTES) {
      return { refused: `its payload has ${payload.byteLength} bytes, more than the limit of ${MAX_PAYLOAD_BYTES}` };
    }
    const space = { pages: pagesFor(payload.byteLength + message.topic.length), limit: pageLimit };
    if (!isSpaceKnown && !makeSpace(statements, space, classRow(draft, TELEMETRY), draft.thinning)) {
      return { refused: `the outbox is full (${maxBytes} bytes) of messages that are not thinned` };
    }
    statements.insert(
      keyOf(message.class, seq),
      message.atMs,
      checksum(message.topic, payload),
      message.topic,
      payload,
    );
    row.lastSeq = seq;
    row.kept += 1;
    return { seq };
  }

  function readOldest(): number | null {
    const times = messageClasses.flatMap((name, index) => {
      const { kept, lastSeq } = classRow({ classes }, index);
      return kept === 0 ? [] : statements.oldest(keyOf(name, 0), keyOf(name, lastSeq), 1).map(({ atMs }) => atMs);
    });
    return times.length === 0 ? null : Math.min(...times);
  }

  return {
    append(messages) {
      return transaction((draft) => {
        const pages = messages.reduce(
          (sum, { bodyJson, topic }) => sum + pagesFor(3 * bodyJson.length + topic.length),
          0,
        );
        const isSpaceKnown = pageLimit - statements.usedPages() >= pages;
        return messages.map((message) => insert(draft, message, isSpaceKnown));
      });
    },

    page(messageClass, after, { maxMessages, maxBytes: maxPageBytes }) {
      const { lastSeq } = classRow({ classes }, messageClasses.indexOf(messageClass));
      const newestKey = keyOf(messageClass, lastSeq);
      const messages: StoredMessage[] = [];
      let bytes = 0;
      for (const row of statements.page(Math.max(after, keyOf(messageClass, 0)), newestKey, maxMessages)) {
        const message = readRow(row);
        if (!isOf({ serial, shadowTopic }, message)) throw new OtherRobotError(`one is for ${message.topic}`);
        messages.push(message);
        bytes += message.payload.byteLength;
        if (bytes >= maxPageBytes) return { messages, isEnd: message.key === newestKey, newestKey };
      }
      return { messages, isEnd: messages.length < maxMessages, newestKey };
    },

    remove(keys) {
      // After a power failure a message that is still kept is sent again, so this needs no wait for the disk.
      database.exec('PRAGMA synchronous = NORMAL');
      try {
        transaction((draft) => {
          for (const [first, last] of runs(keys)) {
            classRow(draft, classIndexOf(first)).kept -= statements.removeRange(first, last);
          }
          if (draft.classes.some(({ kept }) => kept < 0)) throw new DamagedContentError('a count of messages is wrong');
        });
        if (classes.every(({ kept }) => kept === 0) && statements.freePages() > SHRINK_ABOVE_PAGES) {
          database.exec('PRAGMA incremental_vacuum');
        }
      } finally {
        database.exec('PRAGMA synchronous = FULL');
      }
    },

    recordThinning({ id, atMs }) {
      if (thinning.pending === 0) return null;
      return transaction((draft) => {
        const { pending: count, fromSeq, toSeq, fromMs, toMs } = draft.thinning;
        const [from, to] = [new Date(fromMs).toISOString(), new Date(toMs).toISOString()];
        const body: ThinnedWire = { kind: 'telemetry-thinned', count, fromSeq, toSeq, from, to };
        const bodyJson = JSON.stringify(body);
        draft.thinning.pending = 0;
        const made = insert(draft, { class: 'record', topic: recordTopic, bodyJson, idField: null, id, atMs }, false);
        // Full of messages that are not thinned: it is recorded once there is space.
        if ('refused' in made) draft.thinning.pending = count;
        return 'seq' in made ? keyOf('record', made.seq) : null;
      });
    },

    probe() {
      transaction((draft) => statements.setThinning(draft.thinning));
    },

    lastSeqs: () => classes.map(({ lastSeq }) => lastSeq),

    state() {
      oldestAtMs ??= readOldest();
      const kept = messageClasses.map((name, index) => [name, classRow({ classes }, index).kept]);
      return {
        kept: Object.fromEntries(kept) as StoreState['kept'],
        bytes: bytesOnDisk(path),
        oldestAtMs,
        thinned: thinning.total,
      };
    },

    close: () => database.close(),
  };
}

/** Pages that a message may need; half-full pages after a split are counted. */
function pagesFor(payloadBytes: number): number {
  return Math.ceil((2 * (payloadBytes + ROW_OVERHEAD_BYTES)) / PAGE_SIZE_BYTES) + TREE_PAGES;
}

/**
 * Removes the oldest telemetry until so many pages are free below the limit. False when they are not, although no
 * telemetry is left. Both rows are changed in place; called inside a transaction.
 */
function makeSpace(
  statements: Statements,
  { pages, limit }: { readonly pages: number; readonly limit: number },
  telemetry: ClassRow,
  thinning: ThinningRow,
): boolean {
  while (limit - statements.usedPages() < pages) {
    if (telemetry.kept === 0) return false;
    const step = Math.min(THIN_MAX, Math.max(THIN_MIN, Math.ceil(telemetry.kept * THIN_SHARE)));
    const oldest = statements.oldest(keyOf('telemetry', 0), keyOf('telemetry', telemetry.lastSeq), step);
    const [first, last] = [oldest[0], oldest.at(-1)];
    if (first === undefined || last === undefined) return false;
    statements.removeRange(first.key, last.key);
    telemetry.kept -= oldest.length;
    if (thinning.pending === 0) {
      thinning.fromSeq = seqOf(first.key);
      thinning.fromMs = first.atMs;
    }
    thinning.toSeq = seqOf(last.key);
    thinning.toMs = last.atMs;
    thinning.pending += oldest.length;
    thinning.total += oldest.length;
  }
  return true;
}

const TELEMETRY = messageClasses.indexOf('telemetry');
/** Below it a file is not worth shrinking. */
const SHRINK_ABOVE_PAGES = 256;

/** Consecutive keys as ranges; keys of two classes are never consecutive, since the first number is 1. */
function runs(keys: readonly number[]): (readonly [number, number])[] {
  const found: [number, number][] = [];
  for (const key of keys.toSorted((a, b) => a - b)) {
    const run = found.at(-1);
    if (run !== undefined && key === run[1] + 1) run[1] = key;
    else found.push([key, key]);
  }
  return found;
}

function orClosed<T>(database: DatabaseSync, work: () => T): T {
  try {
    return work();
  } catch (error) {
    database.close();
    throw error;
  }
}

interface Draft {
  readonly classes: ClassRow[];
  readonly thinning: ThinningRow;
}

function classRow<T extends Readonly<ClassRow>>({ classes }: { readonly classes: readonly T[] }, index: number): T {
  const row = classes[index];
  if (row === undefined) throw new DamagedContentError('a message belongs to no class');
  return row;
}
