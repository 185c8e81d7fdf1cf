import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { GwError } from '../error/index.ts';

/** Writes a file so that nobody ever sees half of it; makes its folder. Throws FILE_UNWRITABLE. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}.new`;
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(draft, text, { flag: 'wx' });
    await rename(draft, path);
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => {});
    const { code } = cause as NodeJS.ErrnoException;
    throw new GwError('FILE_UNWRITABLE', `${path} cannot be written (${code ?? 'unknown reason'}).`, { cause });
  }
}
