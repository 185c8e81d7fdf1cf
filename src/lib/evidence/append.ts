import { constants, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { GwError, systemReason } from '../error/index.ts';
import { ensureFolder, openExisting, openFresh, syncFolder } from '../lifecycle/index.ts';
import type { EvidenceRecord } from './record.ts';
import { MAX_BYTES, readEvidenceFile } from './record-file.ts';

/** A measured value is a number, a string or a short structure. Project decision. */
const MAX_RECORD_BYTES = 16 * 1024;
const NEW_LINE = 0x0a;

export interface Appended {
  /** Whether the file is new. */
  readonly created: boolean;
  /** Every record of the file, read back, also those that do not count. */
  readonly records: readonly EvidenceRecord[];
  /** Where among them the new one is. */
  readonly index: number;
}

/**
 * Appends one record durably to a site's evidence file; creates the file and its folder if missing. Several processes
 * may append at the same time. Throws USAGE for an invalid record, EVIDENCE_FILE_INVALID when the file is invalid or
 * would become too large (nothing is written then), FILE_UNWRITABLE.
 */
export async function appendRecord(path: string, record: EvidenceRecord): Promise<Appended> {
  const text = await lineOf(record);
  // An invalid file is left unchanged, for a person to repair.
  await readEvidenceFile(path);
  let created: boolean;
  try {
    await ensureFolder(dirname(path));
    created = await append(path, Buffer.from(`${text}\n`));
  } catch (error) {
    if (error instanceof GwError) throw error;
    throw unwritable(path, error);
  }
  const records = await readEvidenceFile(path);
  const index = records.findLastIndex((other) => JSON.stringify(other) === text);
  if (index < 0) throw unwritable(path, { code: 'the written line is missing when read back' });
  return { created, records, index };
}

/** The line of a record, as it is parsed later. Throws USAGE with all problems. */
async function lineOf(record: EvidenceRecord): Promise<string> {
  const { evidenceRecordSchema, parseEvidenceFile } = await import('./record.ts');
  const result = evidenceRecordSchema.safeParse(record);
  if (!result.success) {
    const problems = result.error.issues.map((issue) => `${issue.path.join('.') || 'record'}: ${issue.message}`);
    throw refused(problems.join('; '));
  }
  const given = JSON.stringify(record);
  if (Buffer.byteLength(given) > MAX_RECORD_BYTES) throw refused(`a record has at most ${MAX_RECORD_BYTES} bytes`);
  let read: EvidenceRecord | undefined;
  try {
    [read] = parseEvidenceFile(given, 'record');
  } catch (error) {
    if (!(error instanceof GwError)) throw error;
    throw refused(error.message, error);
  }
  // A key such as `__proto__` is dropped by the parser.
  if (!isDeepStrictEqual(read, JSON.parse(given))) throw refused('part of its value would be lost when read again');
  return JSON.stringify(read);
}

function refused(why: string, cause?: unknown): GwError {
  return new GwError('USAGE', `Invalid record: ${why}.`, { cause });
}

async function append(path: string, line: Buffer): Promise<boolean> {
  let created = false;
  let handle: FileHandle;
  const appending = constants.O_RDWR | constants.O_APPEND;
  try {
    handle = await openExisting(path, appending);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    // Another process may create it at the same moment.
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
  if (size + line.length > MAX_BYTES) {
    throw new GwError('EVIDENCE_FILE_INVALID', `The evidence file ${path} would exceed ${MAX_BYTES} bytes.`, {
      remedy: 'Remove the records of old software versions from it, then record again.',
    });
  }
  // A single O_APPEND write is atomic between processes. If another process completed the last line meanwhile, an
  // empty line is left, which is ignored.
  const bytes = (await endsInLine(file, size)) ? line : Buffer.concat([Buffer.from('\n'), line]);
  const { bytesWritten } = await file.write(bytes);
  if (bytesWritten !== bytes.length) {
    await undo(file, bytesWritten);
    throw Object.assign(new Error('part of the line was written and removed again'), { code: 'ENOSPC' });
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

/** On a full disk: a partial line would make the whole file invalid. */
async function undo(file: FileHandle, bytes: number): Promise<void> {
  const { size } = await file.stat();
  await file.truncate(Math.max(0, size - bytes));
  await file.sync();
}

function unwritable(path: string, cause: unknown): GwError {
  const reason = systemReason(cause);
  return new GwError('FILE_UNWRITABLE', `The evidence file ${path} cannot be written (${reason}).`, { cause });
}
