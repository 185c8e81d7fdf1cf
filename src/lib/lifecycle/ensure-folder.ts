import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Creates a folder and its parents; an existing one is kept as it is. Rejects with the error of the operating system.
 * Step by step, since the recursive form of Node loops for ever where a file system answers ENOENT for an existing
 * folder (`/proc`).
 */
export async function ensureFolder(path: string, mode = 0o755): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return;
    const above = dirname(path);
    if (code !== 'ENOENT' || above === path) throw error;
    // Another process may have created it meanwhile.
    if (!(await isThere(above))) await ensureFolder(above, mode);
    await mkdir(path, { mode }).catch(async (again: NodeJS.ErrnoException) => {
      if (again.code !== 'EEXIST' || !(await stat(path)).isDirectory()) throw again;
    });
  }
}

async function isThere(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}
