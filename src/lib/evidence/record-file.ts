import { type BoundedRead, type Clock, readBounded, systemClock } from '../lifecycle/index.ts';
import { sealedAttachments } from './attachment.ts';
import { findFact } from './ledger.ts';
import type { EvidenceRecord } from './record.ts';
import { confirms } from './reliance.ts';
import { unreadable } from './unreadable.ts';

/** A larger file is refused. */
export const MAX_BYTES = 4 * 1024 * 1024;

/** Project decisions: how often, and how far apart, a file with an incomplete last line is read again. */
const MAX_READS = 10;
const AGAIN_MS = 20;
const NEW_LINE = 0x0a;

/**
 * The records of the file that count. Throws EVIDENCE_FILE_INVALID with every invalid line: a partial file is not used.
 * A missing file counts as empty. `clock`: for the time between two reads.
 */
export async function loadEvidenceFile(path: string, clock?: Pick<Clock, 'sleep'>): Promise<EvidenceRecord[]> {
  return await countingRecords(path, await readEvidenceFile(path, clock));
}

/**
 * All but verifications of trials without their seal: one that had not ended, or with an alarm, when they were written,
 * or whose seal was lost since. Throws EVIDENCE_FILE_INVALID.
 */
export async function countingRecords(path: string, records: readonly EvidenceRecord[]): Promise<EvidenceRecord[]> {
  if (!records.some(needsSeal)) return [...records];
  // Read after the lines: a trial is sealed after its records were written.
  const sealed = await sealedAttachments(path).catch((error: unknown) => {
    throw unreadable(path, 'the folder of its trials cannot be read', error);
  });
  return records.filter((record) => !needsSeal(record) || sealed.has(record.attachment?.file ?? ''));
}

/** A contradiction counts without a seal. */
function needsSeal(record: EvidenceRecord): boolean {
  const fact = findFact(record.fact);
  return record.attachment?.needsSeal === true && fact !== undefined && confirms(record, fact);
}

/** Every record of the file, in JSON Lines, also those that do not count. Throws as `loadEvidenceFile`. */
export async function readEvidenceFile(
  path: string,
  clock: Pick<Clock, 'sleep'> = systemClock,
): Promise<EvidenceRecord[]> {
  for (let attempt = 1; ; attempt += 1) {
    const content = await readContent(path);
    if (content === null) return [];
    try {
      return await recordsOf(content, path);
    } catch (error) {
      // Another process may be appending a line; a complete one ends with a line break.
      if (content.at(-1) === NEW_LINE || attempt === MAX_READS) throw error;
      await clock.sleep(AGAIN_MS);
    }
  }
}

/** Null where there is no file. */
async function readContent(path: string): Promise<Uint8Array | null> {
  let read: BoundedRead;
  try {
    read = await readBounded(path, MAX_BYTES);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw unreadable(path, 'it cannot be opened', error);
  }
  switch (read.kind) {
    case 'bytes':
      return read.bytes;
    case 'too-large':
      throw unreadable(path, `it has ${read.size} bytes, more than ${MAX_BYTES}`);
    case 'folder':
      throw unreadable(path, 'it is a folder');
    case 'special':
      throw unreadable(path, 'it is not a regular file');
  }
}

/** Zod is loaded only when there are records: many commands need the ledger alone. */
async function recordsOf(content: Uint8Array, path: string): Promise<EvidenceRecord[]> {
  const { parseEvidenceFile } = await import('./record.ts');
  return parseEvidenceFile(content, path);
}
