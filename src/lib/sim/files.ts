import { GwError } from '../error/index.ts';
import { ensureFolder, readWhole } from '../lifecycle/index.ts';

/** Larger than any file of the simulator. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

export async function makeFolder(path: string, mode = 0o755): Promise<void> {
  try {
    await ensureFolder(path, mode);
  } catch (error) {
    throw unwritable(path, error);
  }
}

/** The text of a file; undefined when it does not exist. Throws FILE_UNREADABLE. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return Buffer.from(await readWhole(path, MAX_FILE_BYTES)).toString('utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new GwError('FILE_UNREADABLE', `${path} cannot be read (${code}).`, {
      cause: error,
    });
  }
}

function unwritable(path: string, cause: unknown): GwError {
  const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
  return new GwError('FILE_UNWRITABLE', `${path} cannot be written (${reason}).`, { cause });
}
