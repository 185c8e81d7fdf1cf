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
  /** Of its first byte in the file. */
  readonly offset: number;
  /** False: the end of the file, without a line end. */
  readonly isWhole: boolean;
}

/** Lines of a file from an offset on. A longer one than a record can be comes cut to the longest length. */
export async function* readLines(path: string, from = 0): AsyncGenerator<Line> {
  await using file = await openExisting(path, constants.O_RDONLY);
  let rest: Buffer = Buffer.alloc(0);
  let restAt = from;
  let at = from;
  for (;;) {
    // A chunk of its own each time, since the lines of the last one may still be in use.
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafeSlow(CHUNK_BYTES), 0, CHUNK_BYTES, at);
    if (bytesRead === 0) break;
    const chunk = buffer.subarray(0, bytesRead);
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
      const part = chunk.subarray(start, end);
      yield { bytes: rest.byteLength === 0 ? part : joined(rest, part), offset: restAt, isWhole: true };
      rest = Buffer.alloc(0);
      start = end + 1;
      restAt = at + start;
    }
    rest = joined(rest, chunk.subarray(start));
    at += bytesRead;
  }
  if (at > restAt) yield { bytes: rest, offset: restAt, isWhole: false };
}

function joined(rest: Buffer, part: Buffer): Buffer {
  return rest.byteLength >= MAX_LINE_BYTES ? rest : Buffer.concat([rest, part.subarray(0, MAX_LINE_BYTES)]);
}

/** Whole lines of a file, the last one first, without their line ends. */
export async function* readLinesBackwards(path: string): AsyncGenerator<Buffer> {
  await using file = await openExisting(path, constants.O_RDONLY);
  const { size } = await file.stat();
  let at = size;
  // The bytes after the last line end are no whole line.
  let rest: Buffer | null = null;
  while (at > 0) {
    const from = Math.max(0, at - CHUNK_BYTES);
    const chunk = await readAt(file, from, at - from);
    let end = chunk.byteLength;
    for (let start = chunk.lastIndexOf(0x0a); start !== -1; start = lastBefore(chunk, start)) {
      const part = chunk.subarray(start + 1, end);
      if (rest !== null) yield rest.byteLength === 0 ? part : joined(part, rest);
      rest = Buffer.alloc(0);
      end = start;
    }
    if (rest !== null) rest = joined(chunk.subarray(0, end), rest);
    at = from;
  }
  if (rest !== null && rest.byteLength > 0) yield rest;
}

function lastBefore(chunk: Buffer, at: number): number {
  return at === 0 ? -1 : chunk.lastIndexOf(0x0a, at - 1);
}

async function readAt(file: FileHandle, from: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await file.read(buffer, done, length - done, from + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return buffer.subarray(0, done);
}
