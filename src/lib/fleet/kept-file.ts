import { readFile } from 'node:fs/promises';
import type { z } from 'zod';
import { GwError } from '../error/index.ts';
import { replaceFile } from '../lifecycle/index.ts';

const OWNER_ONLY = 0o600;

/**
 * Reads what an earlier life kept in a JSON file; null where there is none. Throws FILE_UNWRITABLE for one that cannot
 * be read or is not what it should be: beginning anew would let recordings of earlier beats pass as new ones.
 */
export async function readKept<T>(path: string, schema: z.ZodType<T>): Promise<T | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw unreadable(path, (cause as NodeJS.ErrnoException).code ?? 'unknown reason', cause);
  }
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw unreadable(path, 'its content is not what gw writes there', cause);
  }
}

/** Whole or not at all, and on the disk when it resolves. Throws FILE_UNWRITABLE. */
export function keep(path: string, value: object): Promise<void> {
  return replaceFile(path, `${JSON.stringify(value)}\n`, { mode: OWNER_ONLY });
}

function unreadable(path: string, why: string, cause: unknown): GwError {
  return new GwError('FILE_UNWRITABLE', `The file ${path} of the heartbeat cannot be read: ${why}.`, {
    remedy:
      'Look at it. When it is lost, move it away: the robot then counts as started anew, and recordings of earlier beats may pass once.',
    cause,
  });
}
