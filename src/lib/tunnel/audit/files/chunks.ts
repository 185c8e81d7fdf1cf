import type { FileHandle } from 'node:fs/promises';

const PART_BYTES = 128 * 1024;
/** A longer line is skipped. */
const MAX_LINE_BYTES = 128 * 1024;

/** Whole lines, one after the other; valid until the next chunk is read. */
export interface Chunk {
  readonly lines: Buffer;
  /** Instead of lines: one that is too long, which has no content here, or the last one without a line end. */
  readonly rest: { readonly isWhole: boolean; readonly isTorn: boolean } | null;
}

/** Bytes of a file up to a size; each part is valid until the next one is read. Rejects with the error of the system. */
export async function* partsOf(file: FileHandle, size: number): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(PART_BYTES);
  for (let at = 0; at < size; ) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(PART_BYTES, size - at), at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Cuts bytes into chunks of whole lines, however they are cut before. */
export async function* readChunks(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Chunk> {
  const none = Buffer.alloc(0);
  let begun: Buffer = none;
  let isSkipping = false;
  for await (const bytes of parts) {
    const part = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let from = 0;
    if (isSkipping || begun.byteLength > 0) {
      from = part.indexOf(0x0a) + 1;
      const line: Buffer = isSkipping ? none : Buffer.concat([begun, from === 0 ? part : part.subarray(0, from)]);
      isSkipping ||= line.byteLength > MAX_LINE_BYTES;
      begun = isSkipping ? none : line;
      if (from === 0) continue;
      if (isSkipping) yield { lines: none, rest: { isWhole: false, isTorn: false } };
      else yield { lines: line, rest: null };
      isSkipping = false;
    }
    const end = Math.max(from, part.lastIndexOf(0x0a) + 1);
    if (end > from) yield { lines: part.subarray(from, end), rest: null };
    // A copy, since the part is valid only until the next one.
    begun = Buffer.from(part.subarray(end));
  }
  if (isSkipping || begun.byteLength > 0) yield { lines: begun, rest: { isWhole: !isSkipping, isTorn: true } };
}
