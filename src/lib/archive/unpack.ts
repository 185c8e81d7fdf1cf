import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar';
import { quote } from '../json/index.ts';
import { plural } from '../text/index.ts';

/** One entry of the tar. Its body must be read, or is skipped, before the next entry. */
export interface TarEntry {
  /** Unchecked name from the archive: only for comparison. */
  readonly name: string;
  /** `file`, `directory`, or a type that is not allowed. */
  readonly type: string;
  readonly linkName: string;
  readonly bytes: number;
  read(): Promise<Uint8Array>;
  /** The same in parts, for what does not fit into memory. */
  parts(): AsyncIterable<Uint8Array>;
}

/** Bytes that are read once, and their number. */
export interface ByteSource {
  readonly bytes: number;
  readonly parts: AsyncIterable<Uint8Array>;
}

export interface UnpackOptions {
  readonly maxEntries: number;
  /** Limit of the unpacked size with headers and padding; read again for every chunk. */
  readonly maxBytes: () => number;
  /** Returns false to stop. */
  readonly onEntry: (entry: TarEntry) => Promise<boolean>;
}

/** The archive is invalid; the message is shown to the user. */
class UnpackError extends Error {}

/**
 * Reads the entries of a tar.gz without extracting to disk. Returns null when the archive is complete, else the problem. The
 * unpacked size is limited. Rejects with what `onEntry` and the source throw, if that is no problem of the archive.
 */
export async function unpack(source: Uint8Array | ByteSource, options: UnpackOptions): Promise<string | null> {
  const total = source instanceof Uint8Array ? source.byteLength : source.bytes;
  if (total === 0) return 'it is empty';
  const bytes = source instanceof Uint8Array ? Readable.from([source]) : Readable.from(source.parts);
  const decoder = createTarDecoder({ strict: true });
  let ended = false;
  const feeding = feed(bytes, total, decoder.writable, options.maxBytes).catch((error: unknown) => {
    // After a stop the writing side fails, which is no error of the archive.
    if (!ended) throw error;
  });
  // The reader below fails with the same error; this avoids an unhandled rejection.
  feeding.catch(() => {});
  const reader = decoder.readable.getReader();
  let entries = 0;
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (done) break;
      entries += 1;
      if (entries > options.maxEntries) throw new UnpackError(`more than ${options.maxEntries} entries`);
      const isContinued = await options.onEntry(entryOf(value));
      if (!isContinued) {
        ended = true;
        await reader.cancel(new UnpackError('stopped'));
        break;
      }
      if (!value.body.locked) await value.body.cancel();
    }
    await feeding;
    return null;
  } catch (error) {
    ended = true;
    await reader.cancel(error).catch(() => {});
    return problemOf(error);
  }
}

async function feed(
  bytes: Readable,
  total: number,
  writable: WritableStream<Uint8Array>,
  maxBytes: () => number,
): Promise<void> {
  const writer = writable.getWriter();
  try {
    const gunzip = createGunzip({ chunkSize: 256 * 1024 });
    // An error reaches the loop below.
    pipeline(startingAsGzip(bytes), gunzip, () => {});
    let unpacked = 0;
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      unpacked += chunk.byteLength;
      if (unpacked > maxBytes()) throw new UnpackError('its unpacked size exceeds the manifest');
      await writer.write(chunk);
    }
    const left = total - gunzip.bytesWritten;
    if (left > 0) throw new UnpackError(`${plural(left, 'extra byte')} after its end`);
    await writer.close();
  } catch (error) {
    await writer.abort(error).catch(() => {});
    throw error;
  }
}

/** Throws UnpackError for other bytes, whose first two zlib would report in its own words. */
async function* startingAsGzip(bytes: Readable): AsyncGenerator<Uint8Array> {
  let at = 0;
  for await (const chunk of bytes as AsyncIterable<Uint8Array>) {
    for (let index = 0; at + index < MAGIC.length && index < chunk.byteLength; index += 1) {
      if (chunk[index] !== MAGIC[at + index]) throw new UnpackError('not a gzip file');
    }
    at += chunk.byteLength;
    yield chunk;
  }
}

/** @source RFC 1952, 2.3.1 */
const MAGIC = [0x1f, 0x8b];

function entryOf({ header, body }: ParsedTarEntry): TarEntry {
  return {
    name: header.name,
    type: header.type ?? 'file',
    linkName: header.linkname ?? '',
    bytes: header.size,
    async read() {
      const content = Buffer.allocUnsafe(header.size);
      let at = 0;
      for await (const chunk of body) {
        content.set(chunk, at);
        at += chunk.byteLength;
      }
      if (at !== header.size) throw new UnpackError('it is truncated');
      return content;
    },
    parts: () => body,
  };
}

/** The problem behind an error of zlib or the tar reader. */
function problemOf(error: unknown): string {
  if (error instanceof UnpackError) return error.message;
  const { code = '', message = '' } = error as { code?: string; message?: string };
  if (code === 'Z_BUF_ERROR' || message === 'Tar archive is truncated.') return 'it is truncated';
  if (message === 'incorrect data check' || message === 'incorrect length check') {
    return 'gzip checksum or length does not match';
  }
  if (message === 'incorrect header check') return 'unexpected data after its end';
  if (code.startsWith('Z_')) return `its gzip data is corrupt (${message})`;
  if (message === 'Invalid tar header checksum.') return 'a tar header has a wrong checksum';
  if (message === 'Invalid EOF.') return 'unexpected data after the end of its tar';
  return `its tar is corrupt (${quote(message).slice(1, -1)})`;
}
