import { constants, open } from 'node:fs/promises';

/**
 * Puts the names in a folder on the disk: without it a loss of power can still take back a file that was made, renamed
 * or removed there. Rejects with the error of the operating system.
 */
export async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  await folder.sync();
}
