import { type BoundedRead, readBounded, systemClock } from '../lifecycle/index.ts';
import type { EvidenceRecord } from './record.ts';
import { unreadable } from './unreadable.ts';

/** A larger file is refused. */
export const MOST_BYTES = 4 * 1024 * 1024;

/** Decisions of ours: so often, and so far apart, a file is looked at that ends in the middle of a line. */
const MOST_LOOKS = 10;
const AGAIN_MS = 20;
const NEW_LINE = 0x0a;

/**
 * Reads JSON Lines. Throws EVIDENCE_FILE_INVALID with every bad line: half a file of evidence is not used. A file
 * that is not there is an empty one.
 */
export async function loadEvidenceFile(path: string): Promise<EvidenceRecord[]> {
  for (let look = 1; ; look += 1) {
    const content = await readContent(path);
    if (content === null) return [];
    try {
      return await recordsOf(content, path);
    } catch (error) {
      // Another program may be in the middle of adding a line; a whole one ends with a line break.
      if (content.at(-1) === NEW_LINE || look === MOST_LOOKS) throw error;
      await systemClock.sleep(AGAIN_MS);
    }
  }
}

/** Null where there is no file. */
async function readContent(path: string): Promise<Uint8Array | null> {
  let read: BoundedRead;
  try {
    read = await readBounded(path, MOST_BYTES);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw unreadable(path, 'it cannot be opened', error);
  }
  switch (read.kind) {
    case 'bytes':
      return read.bytes;
    case 'too-large':
      throw unreadable(path, `it has ${read.size} bytes, more than ${MOST_BYTES}`);
    case 'folder':
      throw unreadable(path, 'it is a folder');
    case 'special':
      throw unreadable(path, 'it is not a regular file');
  }
}

/** The schema's library is loaded only where there is something to read: many commands look at the ledger alone. */
async function recordsOf(content: Uint8Array, path: string): Promise<EvidenceRecord[]> {
  const { parseEvidenceFile } = await import('./record.ts');
  return parseEvidenceFile(content, path);
}
