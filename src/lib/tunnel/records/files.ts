import { constants, type FileHandle, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openExisting } from '../../lifecycle/index.ts';
import { MAX_LINE_BYTES } from './line.ts';

/** The file that records are appended to. */
export const CURRENT_FILE = 'sessions.jsonl';
/** `seq` and `hash` of the last record, so that a cut end is found. */
export const HEAD_FILE = 'head.json';
/** `seq` of the last record that the outbox has. */
export const SENT_FILE = 'sent.json';
/** Rotated files that are kept. Project decision: with 8 MB each, some hundred thousand records. */
export const MAX_ROTATED_FILES = 20;

const ROTATED = /^sessions-(\d{6,9})\.jsonl$/;
const TORN = /^sessions-torn-.*\.part$/;
const CHUNK_BYTES = 256 * 1024;

export interface RotatedFile {
  readonly path: string;
  readonly number: number;
}

export function rotatedName(number: number): string {
  return `sessions-${String(number).padStart(6, '0')}.jsonl`;
}

/** Files in the folder of the records: rotated ones, oldest first, and parts of torn lines. Rejects with the system's error. */
export async function listFolder(
  dir: string,
): Promise<{ readonly rotated: readonly RotatedFile[]; readonly torn: readonly string[] }> {
  const names = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const rotated = names.flatMap((name) => {
    const match = ROTATED.exec(name);
    return match === null ? [] : [{ path: join(dir, name), number: Number(match[1]) }];
  });
  return { rotated: rotated.toSorted((a, b) => a.number - b.number), torn: names.filter((name) => TORN.test(name)) };
}

export interface Line {
  /** Without its line end; valid until the next one is read. */
  readonly bytes: Buffer;
  /** Whether it is longer than the longest length, so that only its beginning is here. */
  readonly isCut: boolean;
  /** False: the end of the bytes, without a line end. */
  readonly isWhole: boolean;
  /** Where the next one begins. */
  readonly end: number;
}

/** Bytes of a file up to a size; each part is valid until the next one is read. Rejects with the error of the system. */
export async function* partsOf(file: FileHandle, size: number, from = 0): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  for (let at = from; at < size; ) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(CHUNK_BYTES, size - at), at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Cuts bytes into lines, however they are cut before. */
export async function* linesOf(parts: AsyncIterable<Uint8Array>, maxBytes: number, from = 0): AsyncGenerator<Line> {
  /** The line that has begun, as far as it is kept, and where it began. */
  let begun: Buffer = Buffer.alloc(0);
  let beginsAt = from;
  let partAt = from;
  const line = (bytes: Buffer, end: number, isWhole: boolean): Line => {
    const isCut = end - beginsAt > maxBytes;
    const whole = begun.byteLength === 0 ? bytes : Buffer.concat([begun, bytes]);
    return { bytes: whole.subarray(0, maxBytes), isCut, isWhole, end: isWhole ? end + 1 : end };
  };
  for await (const { buffer, byteOffset, byteLength } of parts) {
    const part = Buffer.from(buffer, byteOffset, byteLength);
    let start = 0;
    for (let end = part.indexOf(0x0a); end !== -1; end = part.indexOf(0x0a, start)) {
      yield line(part.subarray(start, end), partAt + end, true);
      begun = Buffer.alloc(0);
      start = end + 1;
      beginsAt = partAt + start;
    }
    // A copy, since the part is valid only until the next one.
    begun = Buffer.concat([begun, part.subarray(start, start + maxBytes)]).subarray(0, maxBytes);
    partAt += byteLength;
  }
  if (partAt > beginsAt) yield line(Buffer.alloc(0), partAt, false);
}

/** Lines of a file of records from a place on. */
export async function* readLines(path: string, from = 0): AsyncGenerator<Line> {
  await using file = await openExisting(path, constants.O_RDONLY);
  yield* linesOf(partsOf(file, Number.POSITIVE_INFINITY, from), MAX_LINE_BYTES, from);
}
