import { constants, open } from 'node:fs/promises';

/**
 * Syncs a folder: without it a power failure can undo the creation, renaming or removal of a file in it. Rejects with
 * the error of the operating system.
 */
export async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  await folder.sync();
}
