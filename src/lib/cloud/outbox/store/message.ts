import { crc32 } from 'node:zlib';
import type { EnvelopeWire } from '../../wire.ts';
import { ID_LENGTH, MAX_PAYLOAD_BYTES, MAX_TOPIC_BYTES } from '../limits.ts';
import { messageClasses } from '../message-class.ts';
import { DamagedContentError } from './failure.ts';
import { classIndexOf, seqOf } from './keys.ts';
import type { NewMessage, StoredMessage } from './model.ts';

const encoder = new TextEncoder();
/** Names, punctuation and values of an envelope before its serial number, generously. */
const MAX_START_BYTES = 128 + ID_LENGTH;

/** The payload as every receiver of every copy gets it: the envelope, then the fields of the message. */
export function encodePayload(message: NewMessage, seq: number, serial: string): Uint8Array {
  const { id, idField, atMs, bodyJson } = message;
  const whole: EnvelopeWire = { id, seq, at: new Date(atMs).toISOString(), serial };
  const envelope = idField === null ? whole : { [idField]: id };
  const fields = bodyJson === '{}' ? '}' : `,${bodyJson.slice(1)}`;
  return encoder.encode(JSON.stringify(envelope).slice(0, -1) + fields);
}

export function checksum(topic: string, payload: Uint8Array): number {
  return crc32(payload, crc32(topic));
}

/** A row as it was stored; null for one that was damaged since. */
export function parseRow(row: Readonly<Record<string, unknown>>): StoredMessage | null {
  const { key, crc, topic, payload } = row;
  if (typeof key !== 'number' || typeof topic !== 'string' || !(payload instanceof Uint8Array)) return null;
  if (!Number.isSafeInteger(key) || seqOf(key) < 1 || messageClasses[classIndexOf(key)] === undefined) return null;
  // Before the checksum, which takes time for a length that gw never writes.
  if (payload.byteLength > MAX_PAYLOAD_BYTES || topic.length > MAX_TOPIC_BYTES) return null;
  return checksum(topic, payload) === crc ? { key, topic, payload } : null;
}

/** Throws DamagedContentError for a damaged row. */
export function readRow(row: Readonly<Record<string, unknown>>): StoredMessage {
  const message = parseRow(row);
  if (message === null) throw new DamagedContentError('the checksum of a message is wrong');
  return message;
}

/** Of which robot a database holds the messages. */
export interface Robot {
  readonly serial: string;
  /** Of its messages without the envelope, which do not name it. */
  readonly shadowTopic: string;
}

/** Up to the serial number, in the order of `encodePayload`. */
const BEFORE_SERIAL = /^\{"id":"[^"]*","seq":\d+,"at":"[^"]*","serial":/;

/** Whether a message was made for this robot: a chassis is replaced, and what was kept for the one before is not its own. */
export function isOf({ serial, shadowTopic }: Robot, { topic, payload }: StoredMessage): boolean {
  const quoted = JSON.stringify(serial);
  const { buffer, byteOffset, byteLength } = payload;
  const start = Buffer.from(buffer, byteOffset, Math.min(byteLength, MAX_START_BYTES + Buffer.byteLength(quoted)));
  const text = start.toString();
  const before = BEFORE_SERIAL.exec(text)?.[0];
  return before === undefined ? topic === shadowTopic : text.startsWith(quoted, before.length);
}
