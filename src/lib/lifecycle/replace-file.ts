import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { GwError } from '../error/index.ts';
import { ensureFolder } from './ensure-folder.ts';

/**
 * Puts a whole file in its place, so that neither a reader nor a crash ever finds half of one: written beside it,
 * synced, then renamed. Makes its folder. `mode` holds whatever the umask is. Throws FILE_UNWRITABLE.
 */
export async function replaceFile(
  path: string,
  text: string | Uint8Array,
  { mode = 0o644, folderMode = 0o755 }: { readonly mode?: number; readonly folderMode?: number } = {},
): Promise<void> {
  const draft = join(dirname(path), `.${basename(path)}.${crypto.randomUUID()}`);
  try {
    await ensureFolder(dirname(path), folderMode);
    {
      await using file = await open(draft, 'wx', mode);
      await file.chmod(mode);
      await file.writeFile(text);
      await file.sync();
    }
    await rename(draft, path);
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => {});
    const { code } = cause as NodeJS.ErrnoException;
    throw new GwError('FILE_UNWRITABLE', `${path} cannot be written (${code ?? 'unknown reason'}).`, { cause });
  }
}
