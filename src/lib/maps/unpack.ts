import { createGunzip } from 'node:zlib';
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar';
import { quote } from '../json/index.ts';
import { plural } from '../text/index.ts';

/** One entry of the tar. Its body is read, or passed over, before the next entry comes. */
export interface TarEntry {
  /** As it stands in the archive: anything may stand there, so it is only ever compared. */
  readonly name: string;
  /** `file`, `directory`, or the kind of something that no archive of ours holds. */
  readonly type: string;
  readonly linkName: string;
  readonly bytes: number;
  read(): Promise<Uint8Array>;
}

export interface UnpackOptions {
  readonly mostEntries: number;
  /** How much may come out in all, headers and padding included; asked anew while it goes on. */
  readonly mostBytes: () => number;
  /** Returns false to end early. */
  readonly onEntry: (entry: TarEntry) => Promise<boolean>;
}

/** A compressed archive is not what it must be; the sentence is for a person. */
class Unsound extends Error {}

/**
 * Goes through the entries of a tar.gz, in memory only: nothing is ever extracted to a disk. Gives null when the
 * archive was read to its end and is whole, else what is wrong with it. Bounded in what comes out, however little
 * goes in.
 */
export async function unpack(bytes: Uint8Array, options: UnpackOptions): Promise<string | null> {
  if (bytes.byteLength === 0) return 'it is empty';
  if (bytes[0] !== 0x1f || (bytes.byteLength > 1 && bytes[1] !== 0x8b)) return 'it is not compressed with gzip';
  const decoder = createTarDecoder({ strict: true });
  let ended = false;
  const feeding = feed(bytes, decoder.writable, options.mostBytes).catch((error: unknown) => {
    // After an early end nobody reads any more: that the writing side notices is no fault of the archive.
    if (!ended) throw error;
  });
  // The reader below meets the same failure; here it only must not go unheard.
  feeding.catch(() => {});
  const reader = decoder.readable.getReader();
  let entries = 0;
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (done) break;
      entries += 1;
      if (entries > options.mostEntries) throw new Unsound(`it has more than ${options.mostEntries} entries`);
      const goOn = await options.onEntry(entryOf(value));
      if (!goOn) {
        ended = true;
        await reader.cancel(new Unsound('ended early'));
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

async function feed(bytes: Uint8Array, writable: WritableStream<Uint8Array>, mostBytes: () => number): Promise<void> {
  const writer = writable.getWriter();
  try {
    const gunzip = createGunzip({ chunkSize: 256 * 1024 });
    gunzip.end(bytes);
    let unpacked = 0;
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      unpacked += chunk.byteLength;
      if (unpacked > mostBytes()) throw new Unsound('more comes out of it than its manifest declares');
      await writer.write(chunk);
    }
    const left = bytes.byteLength - gunzip.bytesWritten;
    if (left > 0) throw new Unsound(`${plural(left, 'byte follows', 'bytes follow')} after its end`);
    await writer.close();
  } catch (error) {
    await writer.abort(error).catch(() => {});
    throw error;
  }
}

function entryOf({ header, body }: ParsedTarEntry): TarEntry {
  return {
    name: header.name,
    type: header.type ?? 'file',
    linkName: header.linkname ?? '',
    bytes: header.size,
    async read() {
      const whole = Buffer.allocUnsafe(header.size);
      let at = 0;
      for await (const piece of body) {
        whole.set(piece, at);
        at += piece.byteLength;
      }
      if (at !== header.size) throw new Unsound('it is cut off');
      return whole;
    },
  };
}

/** What zlib and the tar reader say, in our own words where it is one of the ordinary accidents. */
function problemOf(error: unknown): string {
  if (error instanceof Unsound) return error.message;
  const { code = '', message = '' } = error as { code?: string; message?: string };
  if (code === 'Z_BUF_ERROR' || message === 'Tar archive is truncated.') return 'it is cut off';
  if (message === 'incorrect data check' || message === 'incorrect length check') {
    return 'its content does not have the checksum of its compression';
  }
  if (message === 'incorrect header check') return 'something else follows after its end';
  if (code.startsWith('Z_')) return `its compression is damaged (${message})`;
  if (message === 'Invalid tar header checksum.') return 'a header of its tar does not have its checksum';
  if (message === 'Invalid EOF.') return 'something follows after the end of its tar';
  return `its tar is damaged (${quote(message).slice(1, -1)})`;
}
