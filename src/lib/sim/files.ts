import { GwError } from '../error/index.ts';
import { ensureFolder, readWhole } from '../lifecycle/index.ts';

/** No file of the simulator is larger. */
const MOST_BYTES = 64 * 1024 * 1024;

export async function makeFolder(path: string, mode = 0o755): Promise<void> {
  try {
    await ensureFolder(path, mode);
  } catch (error) {
    throw unwritable(path, error);
  }
}

/** The text of a file; undefined when there is none. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return Buffer.from(await readWhole(path, MOST_BYTES)).toString('utf8');
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
