import { open, rm } from 'node:fs/promises';
import { GwError } from '../error/index.ts';
import { replaceFile } from '../lifecycle/index.ts';

/**
 * Writes a document that a person asked for, whole or not at all. Returns its size in bytes. Throws FILE_EXISTS
 * without `force`, FILE_UNWRITABLE.
 */
export async function writeDocument(
  path: string,
  text: string,
  { force }: { readonly force: boolean },
): Promise<number> {
  if (force) {
    await replaceFile(path, text);
    return Buffer.byteLength(text);
  }
  await claim(path);
  try {
    await replaceFile(path, text);
  } catch (error) {
    await rm(path, { force: true }).catch(() => {});
    throw error;
  }
  return Buffer.byteLength(text);
}

/** Takes the name, so that no other program's file of that name is replaced a moment later. */
async function claim(path: string): Promise<void> {
  try {
    await (await open(path, 'wx')).close();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new GwError('FILE_EXISTS', `There is already something at ${path}.`, { cause });
    throw new GwError('FILE_UNWRITABLE', `${path} cannot be written (${code ?? 'unknown reason'}).`, { cause });
  }
}
