import { constants, type FileHandle, open } from 'node:fs/promises';
import type { EvidenceRecord } from './record.ts';
import { unreadable } from './unreadable.ts';

/** A larger file is refused. */
export const MOST_BYTES = 4 * 1024 * 1024;

/**
 * Reads JSON Lines. Throws EVIDENCE_FILE_INVALID with every bad line: half a file of evidence is not used. A file
 * that is not there is an empty one.
 */
export async function loadEvidenceFile(path: string): Promise<EvidenceRecord[]> {
  let handle: FileHandle;
  try {
    // Not blocking, since a pipe in this place must not hold the daemon.
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw unreadable(path, 'it cannot be opened', error);
  }
  await using file = handle;
  const stats = await file.stat();
  if (!stats.isFile()) throw unreadable(path, stats.isDirectory() ? 'it is a folder' : 'it is not a regular file');
  if (stats.size > MOST_BYTES) throw unreadable(path, `it has ${stats.size} bytes, more than ${MOST_BYTES}`);
  return await recordsOf(await file.readFile(), path);
}

/** The schema's library is loaded only where there is something to read: many commands look at the ledger alone. */
async function recordsOf(content: Uint8Array, path: string): Promise<EvidenceRecord[]> {
  const { parseEvidenceFile } = await import('./record.ts');
  return parseEvidenceFile(content, path);
}
