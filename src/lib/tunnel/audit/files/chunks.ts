import type { FileHandle } from 'node:fs/promises';

const BUFFER_BYTES = 128 * 1024;

/** Whole lines of a file, one after the other in a buffer that is used again. */
export interface Chunk {
  readonly buffer: Buffer;
  /** End of the last line end. */
  readonly end: number;
  /** A line that is longer than the buffer, or has no line end: its length in bytes; null: none. */
  readonly rest: { readonly bytes: number; readonly isTorn: boolean } | null;
}

/**
 * Reads a file up to a size in chunks of whole lines. A line that does not fit comes as a chunk without content. Rejects
 * with the error of the operating system.
 */
export async function* readChunks(file: FileHandle, size: number): AsyncGenerator<Chunk> {
  const buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  let [at, kept, skipped] = [0, 0, 0];
  while (at < size) {
    const { bytesRead } = await file.read(buffer, kept, Math.min(buffer.byteLength - kept, size - at), at);
    if (bytesRead === 0) break;
    at += bytesRead;
    let length = kept + bytesRead;
    if (skipped > 0) {
      const end = buffer.indexOf(0x0a) + 1;
      if (end === 0 || end > length) {
        skipped += length;
        kept = 0;
        continue;
      }
      yield { buffer, end: 0, rest: { bytes: skipped + end - 1, isTorn: false } };
      skipped = 0;
      buffer.copyWithin(0, end, length);
      length -= end;
    }
    const end = length === 0 ? 0 : buffer.lastIndexOf(0x0a, length - 1) + 1;
    if (length > 0 && end > 0) yield { buffer, end, rest: null };
    kept = length - end;
    if (end === 0 && length === buffer.byteLength) {
      skipped = length;
      kept = 0;
    } else buffer.copyWithin(0, end, length);
  }
  if (skipped + kept > 0)
    yield { buffer: buffer.subarray(0, kept), end: 0, rest: { bytes: skipped + kept, isTorn: true } };
}
