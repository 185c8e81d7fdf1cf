import { hash } from 'node:crypto';
import { RECORD_FORMAT, type RecordBody, type SessionRecord } from '../model.ts';
import { recordSchema } from './schema.ts';

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

/** What is wrong with a line by itself. */
type LineProblem =
  /** Not the layout of a record: `prev` and `hash` are not the last keys. */
  | 'no-record'
  /** The SHA-256 of the line is not its `hash`. */
  | 'changed'
  /** The hash is right and the content is no record of this format. */
  | 'invalid';

export type ParsedLine =
  | { readonly ok: true; readonly record: SessionRecord }
  | { readonly ok: false; readonly problem: LineProblem };

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

/** SHA-256 of the part of a line that its hash covers. */
function hashOfLine(line: Buffer): string {
  return hash('sha256', line.subarray(0, line.byteLength - HASH_PART_BYTES), 'hex');
}

/** Parses one line without its line end, and verifies its own hash; whether `prev` fits is for the caller. */
export function parseLine(line: Buffer): ParsedLine {
  const links = linksOf(line);
  if (links === null) return { ok: false, problem: 'no-record' };
  if (hashOfLine(line) !== links.hash) return { ok: false, problem: 'changed' };
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(line));
  } catch {
    return { ok: false, problem: 'invalid' };
  }
  const parsed = recordSchema.safeParse(value);
  return parsed.success ? { ok: true, record: parsed.data } : { ok: false, problem: 'invalid' };
}
