import { dirname } from 'node:path';
import type { z } from 'zod';
import { GwError } from '../error/index.ts';
import { assertOwnFolder, readWhole, replaceFile } from '../lifecycle/index.ts';

/** Of the folder as well, which the stop latch makes in the same way when it comes first. */
const ownerOnly = { mode: 0o600, folderMode: 0o700, durable: true };
/** More than 4096 serials with their counters take. */
const MOST_BYTES = 2 * 1024 * 1024;

/**
 * Reads what an earlier life kept in a JSON file; null where there is none. Throws FILE_UNWRITABLE with this remedy for
 * one that cannot be read or is not what it should be: beginning anew would be a guess.
 */
export async function readKept<T>(path: string, schema: z.ZodType<T>, remedy: string): Promise<T | null> {
  await assertOwnFolder(dirname(path));
  let text: string;
  try {
    text = Buffer.from(await readWhole(path, MOST_BYTES)).toString('utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw unreadable(path, code ?? 'unknown reason', remedy, cause);
  }
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw unreadable(path, 'its content is not what gw writes there', remedy, cause);
  }
}

/** Whole or not at all, and on the disk when it resolves. Throws FILE_UNWRITABLE. */
export async function keep(path: string, value: object): Promise<void> {
  await assertOwnFolder(dirname(path));
  await replaceFile(path, `${JSON.stringify(value)}\n`, ownerOnly);
}

function unreadable(path: string, why: string, remedy: string, cause: unknown): GwError {
  return new GwError('FILE_UNWRITABLE', `The file ${path} of the heartbeat cannot be read: ${why}.`, { remedy, cause });
}
