import { constants, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { GwError } from '../error/index.ts';
import { ensureFolder, openExisting, openFresh, syncFolder } from '../lifecycle/index.ts';
import type { EvidenceRecord } from './record.ts';
import { loadEvidenceFile, MOST_BYTES } from './record-file.ts';

/** What was measured is a number, a word or a short structure. Decision of ours. */
const MOST_RECORD_BYTES = 16 * 1024;
const NEW_LINE = 0x0a;

export interface Appended {
  /** Whether the file is new. */
  readonly created: boolean;
  /** Every record of the file, read back. */
  readonly records: readonly EvidenceRecord[];
  /** Where among them the new one is. */
  readonly index: number;
}

/**
 * Puts one record at the end of a site's evidence file and on the disk; makes the file and its folder where there is
 * none. Several programs may do so at the same time. Throws USAGE when
 * the record is none, EVIDENCE_FILE_INVALID when the file is broken or would become too large (nothing is written
 * then), FILE_UNWRITABLE.
 */
export async function appendRecord(path: string, record: EvidenceRecord): Promise<Appended> {
  const text = await lineOf(record);
  // A broken file stays as it is, for a person to mend.
  await loadEvidenceFile(path);
  let created: boolean;
  try {
    await ensureFolder(dirname(path));
    created = await append(path, Buffer.from(`${text}\n`));
  } catch (error) {
    if (error instanceof GwError) throw error;
    throw unwritable(path, error);
  }
  const records = await loadEvidenceFile(path);
  const index = records.findLastIndex((other) => JSON.stringify(other) === text);
  if (index < 0) throw unwritable(path, { code: 'the line that was written is not there when read back' });
  return { created, records, index };
}

/** The record as the one line that it becomes, as it is read back later. Throws USAGE with everything wrong with it. */
async function lineOf(record: EvidenceRecord): Promise<string> {
  const { evidenceRecordSchema, parseEvidenceFile } = await import('./record.ts');
  const result = evidenceRecordSchema.safeParse(record);
  if (!result.success) {
    const problems = result.error.issues.map((issue) => `${issue.path.join('.') || 'record'}: ${issue.message}`);
    throw refused(problems.join('; '));
  }
  const given = JSON.stringify(record);
  if (Buffer.byteLength(given) > MOST_RECORD_BYTES) throw refused(`a record has at most ${MOST_RECORD_BYTES} bytes`);
  let read: EvidenceRecord | undefined;
  try {
    [read] = parseEvidenceFile(given, 'record');
  } catch (error) {
    if (!(error instanceof GwError)) throw error;
    throw refused(error.message, error);
  }
  // A key such as `__proto__` is left out by whoever reads it.
  if (!isDeepStrictEqual(read, JSON.parse(given))) throw refused('a part of its value would not be read again');
  return JSON.stringify(read);
}

function refused(why: string, cause?: unknown): GwError {
  return new GwError('USAGE', `This cannot be recorded: ${why}.`, { cause });
}

async function append(path: string, line: Buffer): Promise<boolean> {
  let created = false;
  let handle: FileHandle;
  const appending = constants.O_RDWR | constants.O_APPEND;
  try {
    handle = await openExisting(path, appending);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    // Another program may make it at the same moment: then it is there.
    await openFresh(path).then(
      async (fresh) => {
        created = true;
        await fresh.close();
      },
      (failure: NodeJS.ErrnoException) => {
        if (failure.code !== 'EEXIST') throw failure;
      },
    );
    handle = await openExisting(path, appending);
  }
  await using file = handle;
  const { size } = await file.stat();
  if (size + line.length > MOST_BYTES) {
    throw new GwError('EVIDENCE_FILE_INVALID', `The evidence file ${path} would have more than ${MOST_BYTES} bytes.`, {
      remedy: 'Take the records of old software versions out of it, then record again.',
    });
  }
  // One write: at the end of the file the operating system keeps those of several programs apart. Should somebody
  // else have ended the last line meanwhile, an empty one is left, and empty lines mean nothing.
  const bytes = (await endsInLine(file, size)) ? line : Buffer.concat([Buffer.from('\n'), line]);
  const { bytesWritten } = await file.write(bytes);
  if (bytesWritten !== bytes.length) {
    await takeBack(file, bytesWritten);
    throw Object.assign(new Error('a part of the line was written and taken back'), { code: 'ENOSPC' });
  }
  await file.sync();
  if (created) await syncFolder(dirname(path));
  return created;
}

async function endsInLine(file: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return true;
  const { buffer, bytesRead } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return bytesRead === 1 && buffer[0] === NEW_LINE;
}

/** On a full disk: half a line would make the whole file unreadable. */
async function takeBack(file: FileHandle, bytes: number): Promise<void> {
  const { size } = await file.stat();
  await file.truncate(Math.max(0, size - bytes));
  await file.sync();
}

function unwritable(path: string, cause: unknown): GwError {
  const reason = (cause as NodeJS.ErrnoException).code ?? 'unknown reason';
  return new GwError('FILE_UNWRITABLE', `The evidence file ${path} cannot be written (${reason}).`, { cause });
}
