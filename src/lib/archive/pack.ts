import { pipeline, Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { createGzip } from 'node:zlib';
import { createTarPacker } from 'modern-tar';

/** One file of an archive that is being made. */
interface PackedFile {
  readonly name: string;
  /** Exactly as many as `parts` has. */
  readonly bytes: number;
  readonly parts: () => AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/**
 * The bytes of a tar.gz with these files, readable for their owner only. The same files and time give the same bytes.
 * Rejects with what `parts` throws, and where it does not have its number of bytes.
 */
export async function* packTarGz(files: Iterable<PackedFile>, mtime: Date): AsyncGenerator<Uint8Array> {
  const { readable, controller } = createTarPacker();
  const packing = (async () => {
    for (const { name, bytes, parts } of files) {
      const writer = controller.add({ name, size: bytes, mode: 0o600, uid: 0, gid: 0, mtime }).getWriter();
      for await (const chunk of parts()) await writer.write(chunk);
      await writer.close();
    }
    controller.finalize();
  })();
  packing.catch((error) => controller.error(error));
  // An error reaches the loop of the reader.
  yield* pipeline(Readable.fromWeb(readable as ReadableStream), createGzip(), () => {}) as AsyncIterable<Uint8Array>;
  await packing;
}
