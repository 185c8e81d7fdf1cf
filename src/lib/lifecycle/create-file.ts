import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { GwError } from '../error/index.ts';
import { ensureFolder } from './ensure-folder.ts';
import { openFresh, replaceFile } from './replace-file.ts';

/**
 * Like `replaceFile`, for a new file: the name is reserved first, so that no file of another program is replaced. Throws
 * FILE_EXISTS, FILE_UNWRITABLE.
 */
export async function createFile(
  path: string,
  text: string | Uint8Array,
  options: { readonly mode?: number; readonly folderMode?: number } = {},
): Promise<void> {
  await claim(path, options);
  try {
    await replaceFile(path, text, options);
  } catch (error) {
    await rm(path, { force: true }).catch(() => {});
    throw error;
  }
}

async function claim(path: string, { mode = 0o644, folderMode = 0o755 }): Promise<void> {
  const unwritable = (cause: NodeJS.ErrnoException) =>
    new GwError('FILE_UNWRITABLE', `${path} cannot be written (${cause.code ?? 'unknown reason'}).`, { cause });
  await ensureFolder(dirname(path), folderMode).catch((cause) => {
    throw unwritable(cause);
  });
  const file = await openFresh(path, mode).catch((cause) => {
    if (cause.code !== 'EEXIST') throw unwritable(cause);
    throw new GwError('FILE_EXISTS', `${path} exists already.`, { cause });
  });
  await file.close();
}
