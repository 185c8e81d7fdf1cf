import { join } from 'node:path';
import { createChassisClient } from '../../chassis/index.ts';
import { GwError } from '../../error/index.ts';
import { archiveFileName, backUpMaps, refuseExistingArchive, writeArchive } from '../../maps/index.ts';
import { chassisAccess } from '../chassis/access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { viewArchive } from './archive.ts';
import type { MapArchiveView } from './map.result.ts';

export interface MapBackupOptions {
  /** Map numbers as texts; every map when empty. */
  readonly ids: readonly string[];
  /** Target file; default: a new file in `folder`, named by serial number and time. */
  readonly path?: string | undefined;
  /** Default: the current folder. */
  readonly folder?: string | undefined;
  /** Replace an existing file; a generated name never does. */
  readonly force: boolean;
  readonly gwVersion: string;
}

/**
 * Backs up the maps of a chassis into one file, which is read back and verified before it is moved to its path. Throws
 * FILE_EXISTS, FILE_UNWRITABLE, FILE_UNREADABLE, MAP_UNKNOWN, BACKUP_OUTDATED and the errors of the chassis client, with
 * nothing written. A damaged map and a missing file of a map are findings.
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
  if (archive.maps.length + archive.damaged.length === 0) {
    throw new GwError('MAP_UNKNOWN', 'The chassis has no maps to back up.', {
      remedy: 'If it had maps before, restore them from an older backup: `gw map restore FILE`.',
    });
  }
  onProgress('writing the backup and reading it back');
  return await viewArchive(
    await writeArchive(target, archive, { force, mayNumber }),
    ids.length === 0 ? 'all' : 'some',
  );
}
