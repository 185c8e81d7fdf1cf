import { constants, open } from 'node:fs/promises';
import { GwError } from '../../error/index.ts';
import { linesOf, partsOf } from '../records/files.ts';
import type { Place } from './findings.ts';

/** A longer line is skipped. */
export const MAX_AUDITED_LINE_BYTES = 128 * 1024;

/** Reads a file of lines in a stream; null: the line is too long. Returns the size. Throws FILE_UNREADABLE. */
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
    let line = 0;
    for await (const { bytes, isCut } of linesOf(partsOf(file, stats.size), MAX_AUDITED_LINE_BYTES)) {
      signal?.throwIfAborted();
      line += 1;
      take(isCut ? null : bytes, { file: path, line });
    }
    return stats.size;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (cause instanceof GwError || typeof code !== 'string') throw cause;
    const why = code === 'ENOENT' ? 'it does not exist' : code;
    throw new GwError('FILE_UNREADABLE', `${path} cannot be read: ${why}.`, { cause });
  }
}
