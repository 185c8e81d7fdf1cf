import type { DatabaseSync } from 'node:sqlite';
import { isRecord, readJsonBytes } from '../../../json/index.ts';
import { type MessageClass, messageClasses } from '../message-class.ts';
import { removeDatabase } from './database.ts';
import { classIndexOf, seqOf } from './keys.ts';
import { readable } from './set-aside.ts';
import { copyOutbox, openCopy } from './snapshot.ts';

/** A message of a database that is used no more, as it would have been sent. */
export interface KeptMessage {
  /** By its envelope, else by its topic; null: neither names a robot. */
  readonly serial: string | null;
  readonly class: MessageClass;
  readonly seq: number;
  readonly at: Date;
  readonly topic: string;
  readonly payload: Uint8Array;
}

export interface KeptMessages {
  readonly messages: readonly KeptMessage[];
  /** Messages that the database counts and that cannot be read; null: it cannot be counted. */
  readonly unreadable: number | null;
}

/**
 * Every message of an outbox that was set aside, read from a copy at the free path `draft`: the original stays as it is.
 * `owner` is the robot of messages that name none; null: that of their topic, among those that others of the file name.
 * Rejects with the error of the operating system or of SQLite.
 */
export async function readSetAside(path: string, owner: string | null, draft: string): Promise<KeptMessages> {
  try {
    await copyOutbox(path, draft);
    using database = openCopy(draft);
    const rows = [...readable(database)];
    const named = new Map(rows.map(({ message }) => [message.key, serialIn(message.payload)]));
    const serials = new Set([...named.values()].filter((serial) => serial !== null));
    const byTopic = (topic: string) => topic.split('/').find((element) => serials.has(element)) ?? null;
    const messages = rows.map(({ message: { key, topic, payload }, atMs }) => ({
      serial: named.get(key) ?? owner ?? byTopic(topic),
      class: messageClasses[classIndexOf(key)] ?? 'record',
      seq: seqOf(key),
      at: new Date(atMs),
      topic,
      payload,
    }));
    const total = countOf(database);
    return { messages, unreadable: total === null ? null : Math.max(0, total - rows.length) };
  } finally {
    removeDatabase(draft);
  }
}

function serialIn(payload: Uint8Array): string | null {
  const read = readJsonBytes(payload, 'file');
  if (!read.ok || !isRecord(read.value)) return null;
  const { id, seq, at, serial } = read.value;
  const isEnvelope = typeof id === 'string' && typeof seq === 'number' && typeof at === 'string';
  return isEnvelope && typeof serial === 'string' ? serial : null;
}

function countOf(database: DatabaseSync): number | null {
  try {
    const { count } = database.prepare('SELECT count(*) AS count FROM message').get() ?? {};
    return typeof count === 'number' ? count : null;
  } catch {
    return null;
  }
}
