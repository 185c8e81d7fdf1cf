import { link, rm } from 'node:fs/promises';
import { GwError } from '../error/index.ts';
import { openFresh, placeFile, type ReplaceOptions, replaceFile } from './replace-file.ts';

/** A file system without hard links answers with one of these. */
const NO_HARD_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/**
 * As `replaceFile`, for a name that nothing has yet: a file that another program made in between stays. Throws
 * FILE_EXISTS, FILE_UNWRITABLE.
 */
export async function createFile(
  path: string,
  text: string | Uint8Array,
  options: Omit<ReplaceOptions, 'durable'> = {},
): Promise<void> {
  let refused: string | undefined;
  try {
    // A hard link fails where the name is taken, and the name has the whole content from its first moment.
    await placeFile(path, text, options, async (draft) => {
      await link(draft, path).catch((error) => {
        refused = error.code;
        throw error;
      });
      await rm(draft);
    });
  } catch (error) {
    if (refused === 'EEXIST') throw alreadyThere(path, error);
    if (refused === undefined || !NO_HARD_LINKS.has(refused)) throw error;
    await claim(path, options.mode);
    await replaceFile(path, text, options).catch(async (failure) => {
      await rm(path, { force: true }).catch(() => {});
      throw failure;
    });
  }
}

/** Takes the name with an empty file. */
async function claim(path: string, mode?: number): Promise<void> {
  const file = await openFresh(path, mode).catch((cause) => {
    if (cause.code === 'EEXIST') throw alreadyThere(path, cause);
    throw new GwError('FILE_UNWRITABLE', `${path} cannot be written (${cause.code ?? 'unknown reason'}).`, { cause });
  });
  await file.close();
}

function alreadyThere(path: string, cause: unknown): GwError {
  return new GwError('FILE_EXISTS', `There is already something at ${path}.`, { cause });
}
