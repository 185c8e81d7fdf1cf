import { readArchive } from '../../maps/index.ts';
import type { MapArchiveView } from './archive.result.ts';
import { viewArchive } from './archive.ts';

/**
 * Proves a backup on the disk, without a site file and without a chassis. Throws ARCHIVE_INVALID with everything
 * that is wrong with it, FILE_UNWRITABLE when it cannot be read.
 */
export async function verifyMapBackup(options: { readonly path: string }): Promise<MapArchiveView> {
  return await viewArchive(await readArchive(options.path));
}
