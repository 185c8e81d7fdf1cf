import { dirname } from 'node:path';
import type { z } from 'zod';
import { GwError } from '../error/index.ts';
import { assertOwnFolder, readWhole, replaceFile } from '../lifecycle/index.ts';

/** The folder mode is that of the stop latch, which may create the folder first. */
const ownerOnly = { mode: 0o600, folderMode: 0o700, durable: true };
/** Bound above 4096 serials with their counters. */
const MAX_BYTES = 2 * 1024 * 1024;

/**
 * Reads a JSON state file; null when it does not exist. Throws FILE_UNREADABLE with this remedy for one that cannot be read
 * or is invalid, because starting without it would be a guess.
 */
export async function readStateFile<T>(path: string, schema: z.ZodType<T>, remedy: string): Promise<T | null> {
  await assertOwnFolder(dirname(path));
  let text: string;
  try {
    text = Buffer.from(await readWhole(path, MAX_BYTES)).toString('utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw unreadable(path, code ?? 'unknown reason', remedy, cause);
  }
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw unreadable(path, 'invalid content', remedy, cause);
  }
}

/** Replaces the file atomically and durably. Throws FILE_UNWRITABLE. */
export async function writeStateFile(path: string, value: object): Promise<void> {
  await assertOwnFolder(dirname(path));
  await replaceFile(path, `${JSON.stringify(value)}\n`, ownerOnly);
}

function unreadable(path: string, why: string, remedy: string, cause: unknown): GwError {
  return new GwError('FILE_UNREADABLE', `The heartbeat state file ${path} cannot be read: ${why}.`, { remedy, cause });
}
