import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { GwError } from '../error/index.ts';

/** Writes a whole file or none: to a new file beside it, then renamed. Throws FILE_UNWRITABLE. */
export async function writeWhole(path: string, text: string, mode = 0o644): Promise<void> {
  const draft = join(dirname(path), `.gw-sim-${randomBytes(6).toString('hex')}`);
  try {
    await writeFile(draft, text, { mode, flag: 'wx' });
    // The mode above is cut by the umask.
    await chmod(draft, mode);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw unwritable(path, error);
  }
}

export async function makeFolder(path: string, mode = 0o755): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode });
  } catch (error) {
    throw unwritable(path, error);
  }
}

/** The text of a file; undefined when there is none. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new GwError('FILE_UNWRITABLE', `${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`, {
      cause: error,
    });
  }
}

function unwritable(path: string, cause: unknown): GwError {
  const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
  return new GwError('FILE_UNWRITABLE', `${path} cannot be written (${reason}).`, { cause });
}
