import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { RECORD_FORMAT, type RecordBody, recordSchema, type SessionRecord } from './schema.ts';

/** `prev` of the first record. */
export const FIRST_PREV = '0'.repeat(64);
/** Of one line with its line end. Project decision: a record of gw has some hundred bytes. */
export const MAX_LINE_BYTES = 64 * 1024;

const HASH_KEY = ',"hash":"';
const PREV_KEY = ',"prev":"';
const HEX_DIGITS = 64;
const LINE_END = '"}';
/** From `,"hash":"` to the end of the line, without the line end: the part that the hash does not cover. */
export const HASH_PART_BYTES = HASH_KEY.length + HEX_DIGITS + LINE_END.length;
/** From `,"prev":"` to `,"hash":"`. */
const PREV_PART_BYTES = PREV_KEY.length + HEX_DIGITS + 1;
const MIN_LINE_BYTES = HASH_PART_BYTES + PREV_PART_BYTES + 2;
const HEX = /^[0-9a-f]{64}$/;

export interface RecordHead {
  readonly seq: number;
  readonly at: string;
  readonly serial: string;
  readonly prev: string;
}

/** A record with its line: canonical bytes, one line end at the end. */
export function encodeRecord(body: RecordBody, { seq, at, serial, prev }: RecordHead) {
  const fields = { format: RECORD_FORMAT, seq, at, serial, ...body, prev } as const;
  const covered = Buffer.from(JSON.stringify(fields).slice(0, -1));
  const own = hash('sha256', covered, 'hex');
  const line = Buffer.concat([covered, Buffer.from(`${HASH_KEY}${own}${LINE_END}\n`)]);
  return { record: { ...fields, hash: own } satisfies SessionRecord, line };
}

/** Hashes of a line, read by their position; null: not the layout of a record. `line` is without its line end. */
export function linksOf(line: Buffer): { readonly prev: string; readonly hash: string } | null {
  const end = line.byteLength;
  if (end < MIN_LINE_BYTES || end >= MAX_LINE_BYTES) return null;
  const tail = line.toString('latin1', end - HASH_PART_BYTES - PREV_PART_BYTES);
  const prev = tail.slice(PREV_KEY.length, PREV_KEY.length + HEX_DIGITS);
  const at = PREV_PART_BYTES + HASH_KEY.length;
  const own = tail.slice(at, at + HEX_DIGITS);
  if (tail !== `${PREV_KEY}${prev}"${HASH_KEY}${own}${LINE_END}` || !HEX.test(prev) || !HEX.test(own)) return null;
  return { prev, hash: own };
}

export type FieldsRead =
  | { readonly ok: true; readonly record: SessionRecord }
  | { readonly ok: false; readonly code: 'foreign-field' | 'invalid-record'; readonly what: string };

/** Reads one line without its line end as a record, and says what is wrong with it. Its hash is for the caller. */
export function readFields(line: Buffer): FieldsRead {
  const invalid = (what: string) => ({ ok: false, code: 'invalid-record', what }) as const;
  if (!isUtf8(line)) return invalid('UTF-8');
  const text = line.toString();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return invalid('JSON');
  }
  const parsed = recordSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    if (issue?.code === 'unrecognized_keys') {
      return { ok: false, code: 'foreign-field', what: issue.keys.map((key) => key.slice(0, 40)).join(', ') };
    }
    return invalid(issue?.path.join('.').slice(0, 60) || 'format');
  }
  // Repeated keys, another order or blanks: not the bytes that gw writes.
  return JSON.stringify(value) === text ? { ok: true, record: parsed.data } : invalid('canonical bytes');
}

/** The record of a line without its line end, whose own hash is right; null: none. Whether `prev` fits is for the caller. */
export function parseLine(line: Buffer): SessionRecord | null {
  const links = linksOf(line);
  if (links === null) return null;
  if (hash('sha256', line.subarray(0, line.byteLength - HASH_PART_BYTES), 'hex') !== links.hash) return null;
  const read = readFields(line);
  return read.ok ? read.record : null;
}
