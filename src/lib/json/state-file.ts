import { dirname } from 'node:path';
import type { z } from 'zod';
import { GwError, systemReason } from '../error/index.ts';
import { assertOwnFolder, readWhole, replaceFile } from '../lifecycle/index.ts';
import { otherFormat } from './format.ts';
import { readJsonBytes } from './read.ts';

/** Bound above 4096 serials of the heartbeat with their counters. */
const MAX_BYTES = 2 * 1024 * 1024;
/** The folder mode is that of the stop latch, which may create the folder first. */
const ownerOnly = { mode: 0o600, folderMode: 0o700, durable: true };

/**
 * Reads a JSON state file of gw; null when it does not exist. Throws FILE_UNREADABLE with this remedy for one that cannot
 * be read or that the schema refuses.
 */
export async function readStateFile<T>(
  path: string,
  schema: z.ZodType<T>,
  remedy = 'Move the file away if it is damaged; gw then makes a new one.',
): Promise<T | null> {
  const unreadable = (why: string, cause?: unknown) =>
    new GwError('FILE_UNREADABLE', `${path} cannot be read: ${why}.`, { remedy, cause });
  await assertOwnFolder(dirname(path));
  let bytes: Uint8Array;
  try {
    bytes = await readWhole(path, MAX_BYTES);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw unreadable(systemReason({ code }), cause);
  }
  const read = readJsonBytes(bytes, 'file');
  const parsed = read.ok ? schema.safeParse(read.value) : null;
  if (parsed?.success === true) return parsed.data;
  const known = parsed?.error.issues.flatMap((issue) => (issue.code === 'invalid_value' ? issue.values : []));
  const format = read.ok
    ? known?.map((each) => otherFormat(read.value, String(each))).find((each) => each !== null)
    : null;
  throw unreadable(format ? `another version of gw has written it (${format})` : 'invalid content');
}

/** Replaces the file atomically and durably. Throws FILE_UNWRITABLE. */
export async function writeStateFile(path: string, value: object): Promise<void> {
  await assertOwnFolder(dirname(path));
  await replaceFile(path, `${JSON.stringify(value)}\n`, ownerOnly);
}

/** Access to state files; the promises of a disk that does not answer stay pending. */
export interface StateFiles {
  readonly read: typeof readStateFile;
  readonly write: typeof writeStateFile;
}

export const stateFiles: StateFiles = { read: readStateFile, write: writeStateFile };
