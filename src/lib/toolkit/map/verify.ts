import { readArchive } from '../../maps/index.ts';
import { viewArchive } from './archive.ts';
import type { MapArchiveView } from './map.result.ts';

/**
 * Verifies a backup file, without site file and chassis. Throws ARCHIVE_INVALID with every problem, FILE_UNREADABLE.
 */
export async function verifyMapBackup(options: { readonly path: string }): Promise<MapArchiveView> {
  return await viewArchive(await readArchive(options.path));
}
