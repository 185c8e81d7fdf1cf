import { constants, open } from 'node:fs/promises';
import { GwError } from '../../../error/index.ts';
import type { Place } from '../findings.ts';
import { partsOf, readChunks } from './chunks.ts';

/** Reads a file of lines in a stream. `line` is without its line end. Throws FILE_UNREADABLE. */
export async function readLinesOf(
  path: string,
  take: (line: Buffer | null, at: Place) => void,
  signal: AbortSignal | undefined,
): Promise<number> {
  try {
    // A log is often a link to the newest file. O_NONBLOCK: opening a pipe would wait for its other end.
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await file.stat();
    if (!stats.isFile()) throw new GwError('FILE_UNREADABLE', `${path} is not a regular file.`);
    const { size } = stats;
    let line = 0;
    for await (const { lines, rest } of readChunks(partsOf(file, size))) {
      signal?.throwIfAborted();
      if (rest !== null) {
        line += 1;
        take(rest.isWhole ? lines : null, { file: path, line });
        continue;
      }
      for (let from = 0; from < lines.byteLength; ) {
        const next = lines.indexOf(0x0a, from) + 1;
        line += 1;
        take(lines.subarray(from, next - 1), { file: path, line });
        from = next;
      }
    }
    return size;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (cause instanceof GwError || typeof code !== 'string') throw cause;
    const why = code === 'ENOENT' ? 'it does not exist' : code;
    throw new GwError('FILE_UNREADABLE', `${path} cannot be read: ${why}.`, { cause });
  }
}
