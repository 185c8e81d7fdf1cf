import type { ChassisClient, ChassisIdentity, CurrentMap, MapListItem } from '../chassis/index.ts';
import { mapWritesOf } from '../chassis/map-writes.ts';
import { GwError } from '../error/index.ts';
import type { Clock } from '../lifecycle/index.ts';
import { refuseExistingArchive } from './archive-file.ts';
import { backUpMaps, pickMap } from './backup.ts';
import { usualPace, type WriteTools, withGrace } from './checked-write.ts';
import { readLiveMaps, reasonOf } from './live-maps.ts';
import type { TopicAccess } from './map-announcements.ts';
import { takeIntoUse, type UseOutcome } from './map-use.ts';
import type { ArchiveFile, MapArchive } from './model.ts';
import { compareMaps, type MapFate } from './restart-comparison.ts';
import { compareWithRunning, keepState, type RestoreWrite } from './restore.ts';
import { checkRunningMap, type RunningMap, watchRunningMap } from './running-map.ts';
import { assertStill, type Stillness } from './stillness.ts';

export interface SelectOptions {
  readonly client: ChassisClient;
  /** Number of the map on the chassis. */
  readonly id: string;
  readonly topics: TopicAccess;
  /** null: say what would be done, send nothing. */
  readonly select: RestoreWrite | null;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
}

export interface SelectRun {
  readonly identity: ChassisIdentity;
  readonly target: MapListItem;
  /** The current map of before; null when none was in use. */
  readonly before: CurrentMap | null;
  /** What the robot drove by before, beside what was stored. */
  readonly runningBefore: RunningMap;
  /** null when nothing was sent. */
  readonly done: {
    readonly stillness: Stillness;
    readonly backup: ArchiveFile;
    readonly use: UseOutcome;
    readonly running: RunningMap;
    /** Every stored map beside what it was before; null when they could not be read again. */
    readonly maps: readonly MapFate[] | null;
    readonly interrupted: boolean;
  } | null;
}

/**
 * Makes a stored map the current one, also the one that is current already: then the chassis reads its overlays anew.
 * Without `select` it only says what would change. With it: the robot must stand still, the maps are kept in a file
 * first, the order is sent once, and the current map, the running overlays and every stored map are read back. Until
 * the order it throws what stands in the way (MAP_UNKNOWN, BACKUP_OUTDATED, CHASSIS_MOVING, FILE_EXISTS,
 * FILE_UNWRITABLE and as the client does); after it there is always a result.
 * @source vendor REST book (HINWEIS): POST /chassis/current-map; never measured on a device
 */
export async function selectMap(options: SelectOptions): Promise<SelectRun> {
  const { client, id, select, topics, clock, signal, onProgress } = options;
  const identity = await client.identity(signal);
  const target = pickMap(await client.listMaps(signal), id);
  const before = await client.currentMap(signal);
  const pace = select?.pace ?? usualPace;
  onProgress('comparing the running map with the stored one');
  const runningBefore = await checkRunningMap({
    client,
    access: topics,
    watched: null,
    announceMs: pace.announceMs,
    signal,
  });
  if (signal.aborted) signal.throwIfAborted();
  if (select === null) return { identity, target, before, runningBefore, done: null };

  if (before !== null && before.id < 0) throw notStored();
  if (select.mayNumber !== true) await refuseExistingArchive(select.backupPath);
  const stillness = await stillnessOf(options, select);
  const kept = await backUpMaps(client, { ids: 'all', gwVersion: select.gwVersion, clock, signal, onProgress });
  const backup = await keepState(select, kept);
  select.onBackup(backup);
  // The backup took its time: the robot must not have begun to move meanwhile.
  await stillnessOf(options, select);
  signal.throwIfAborted();

  const current = await client.currentMap(signal);
  using watched = await watchRunningMap(topics, { hadMap: current !== null });
  const onSend = () => watched.mark();
  const tools: WriteTools = { client, writes: mapWritesOf(client), clock, pace, signal, onProgress, onSend };
  const use = await takeIntoUse(tools, target.id, { wasCurrent: current?.id === target.id });
  const running = await compareWithRunning(tools, topics, watched);
  const maps = await compareStored(tools, kept);
  return {
    identity,
    target,
    before,
    runningBefore,
    done: { stillness, backup, use, running, maps, interrupted: signal.aborted },
  };
}

async function stillnessOf({ signal, onProgress }: SelectOptions, select: RestoreWrite): Promise<Stillness> {
  onProgress('listening whether the robot stands still');
  const stillness = await select.lookForStillness(signal);
  assertStill(stillness, select.personSeesItStand);
  return stillness;
}

function notStored(): GwError {
  return new GwError(
    'BACKUP_OUTDATED',
    'The current map was set from data and is stored nowhere, so no backup can hold it: selecting another map would lose it. Nothing was changed.',
    { remedy: 'Store the map on the chassis first, then try again.' },
  );
}

/** Nobody has measured what selecting a map does to the stored ones. */
async function compareStored(tools: WriteTools, kept: MapArchive): Promise<readonly MapFate[] | null> {
  tools.onProgress('comparing the stored maps with those of before');
  try {
    return await withGrace(tools, async (signal) =>
      compareMaps(kept, await readLiveMaps(tools.client, { images: false, signal })),
    );
  } catch (error) {
    tools.onProgress(`the stored maps could not be read again: ${reasonOf(error)}`);
    return null;
  }
}
