import { join } from 'node:path';
import { createChassisClient } from '../../chassis/index.ts';
import { GwError } from '../../error/index.ts';
import { archiveFileName, backUpMaps, refuseExistingArchive, writeArchive } from '../../maps/index.ts';
import { chassisAccess } from '../chassis/access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { MapArchiveView } from './archive.result.ts';
import { viewArchive } from './archive.ts';

export interface MapBackupOptions {
  /** Numbers of the maps as texts; every map when there is none. */
  readonly ids: readonly string[];
  /** Where it goes; without it a new file in `folder`, named by serial number and time. */
  readonly path?: string | undefined;
  /** The current one when absent. */
  readonly folder?: string | undefined;
  /** Replace a file that is there; one that gw names itself never replaces another. */
  readonly force: boolean;
  readonly gwVersion: string;
}

/**
 * Takes the maps of a chassis into one file, which is read back and proven before it is put in its place. Throws
 * FILE_EXISTS, FILE_UNWRITABLE, MAP_UNKNOWN, BACKUP_OUTDATED, and as the client of the chassis does; then nothing
 * was written. What the chassis did not give of a map is a finding.
 */
export async function backUpMapsToFile(
  toolkit: Toolkit,
  { ids, path, folder = '', force, gwVersion }: MapBackupOptions,
  { signal, onProgress }: CheckContext,
): Promise<MapArchiveView> {
  const { clock } = toolkit;
  const target = path ?? join(folder, archiveFileName(toolkit.site.chassis.serial, clock.wall()));
  const mayNumber = path === undefined;
  if (!force && !mayNumber) await refuseExistingArchive(target);
  await using client = createChassisClient(await chassisAccess(toolkit));
  const which = ids.length === 0 ? 'all' : ids;
  const archive = await backUpMaps(client, { ids: which, gwVersion, clock, signal, onProgress });
  if (archive.maps.length === 0) {
    throw new GwError('MAP_UNKNOWN', 'The chassis has no maps, so there is nothing to back up.', {
      remedy: 'If it had maps before, an older backup brings them back: `gw map restore FILE`.',
    });
  }
  onProgress('writing the backup and reading it back');
  return await viewArchive(
    await writeArchive(target, archive, { force, mayNumber }),
    ids.length === 0 ? 'all' : 'some',
  );
}
