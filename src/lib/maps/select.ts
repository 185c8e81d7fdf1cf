import type { ChassisClient, ChassisIdentity, CurrentMap, MapListItem } from '../chassis/index.ts';
import { mapWritesOf } from '../chassis/map-writes.ts';
import { GwError } from '../error/index.ts';
import type { Clock } from '../lifecycle/index.ts';
import { refuseExistingArchive } from './archive/archive-file.ts';
import { backUpMaps, pickMap } from './backup.ts';
import { readLiveMaps, reasonOf } from './live-maps.ts';
import { readCurrentMap, unreadableMap } from './map-reading.ts';
import type { ArchiveFile, DamagedMap, MapArchive } from './model.ts';
import { compareMaps, type MapComparison } from './restart/restart-comparison.ts';
import { defaultPace, type WriteTools, withGrace } from './restore/checked-write.ts';
import { type SelectionOutcome, setCurrentMap } from './restore/map-use.ts';
import { backUpState, compareWithRunning, type RestoreWrite } from './restore/restore.ts';
import type { TopicAccess } from './running/map-announcements.ts';
import { checkRunningMap, type RunningMap, watchRunningMap } from './running/running-map.ts';
import { assertStill, type Stillness } from './stillness.ts';

export interface SelectOptions {
  readonly client: ChassisClient;
  /** Number of the map on the chassis. */
  readonly id: string;
  readonly topics: TopicAccess;
  /** null: dry run. */
  readonly select: RestoreWrite | null;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
}

export interface SelectRun {
  readonly identity: ChassisIdentity;
  readonly target: MapListItem;
  /** The current map before; null without one, and while `beforeProblem` says why it is not known. */
  readonly before: CurrentMap | null;
  readonly beforeProblem: string | null;
  /** Comparison of running and stored map before. */
  readonly runningBefore: RunningMap;
  /** null when nothing was sent. */
  readonly done: {
    readonly stillness: Stillness;
    readonly backup: ArchiveFile;
    readonly use: SelectionOutcome;
    readonly running: RunningMap;
    /** Comparison of every readable map with its state before; null when they could not be read again. */
    readonly maps: readonly MapComparison[] | null;
    /** Maps that could not be read before the order, so that they are in no backup and were not compared. */
    readonly damaged: readonly DamagedMap[];
    readonly interrupted: boolean;
  } | null;
}

/**
 * Sets a stored map as current map, also the current one again, which makes the chassis reload its overlays. Without
 * `select` it is a dry run. With it: the robot must stand still, a safety backup is written first, the order is sent
 * once, and the current map, the running overlays and every stored map are read back. Before the order it throws
 * MAP_UNKNOWN, MAP_UNREADABLE for a damaged one, BACKUP_OUTDATED, CHASSIS_MOVING, FILE_EXISTS, FILE_UNWRITABLE and the errors
 * of the client; after it there is always a result. A current map that cannot be read is named and ends nothing: to select
 * another one is the way out.
 * @source vendor REST book (HINWEIS): POST /chassis/current-map; never measured on a device
 */
export async function selectMap(options: SelectOptions): Promise<SelectRun> {
  const { client, id, select, topics, clock, signal, onProgress } = options;
  const identity = await client.identity(signal);
  const target = pickMap(await client.listMaps(signal), id);
  const { current: before, problem: beforeProblem } = await readCurrentMap(client, signal);
  const pace = select?.pace ?? defaultPace;
  onProgress('comparing the running map with the stored one');
  const runningBefore = await checkRunningMap({
    client,
    access: topics,
    watched: null,
    announceMs: pace.announceMs,
    signal,
  });
  if (signal.aborted) signal.throwIfAborted();
  if (select === null) return { identity, target, before, beforeProblem, runningBefore, done: null };

  if (before !== null && before.id < 0) throw notStored();
  if (select.mayNumber !== true) await refuseExistingArchive(select.backupPath);
  const stillness = await stillnessOf(options, select);
  const safetyArchive = await backUpMaps(client, {
    ids: 'all',
    gwVersion: select.gwVersion,
    clock,
    signal,
    onProgress,
  });
  const unread = safetyArchive.damaged.find((map) => map.id === target.id);
  if (unread !== undefined) throw unreadableMap(unread);
  const backup = await backUpState(select, safetyArchive);
  select.onBackup(backup);
  // The robot may have started to move during the backup.
  await stillnessOf(options, select);
  signal.throwIfAborted();

  const { current, problem } = await readCurrentMap(client, signal);
  using watched = await watchRunningMap(topics, { hadMap: current !== null || problem !== null });
  const onSend = () => watched.mark();
  const tools: WriteTools = { client, writes: mapWritesOf(client), clock, pace, signal, onProgress, onSend };
  // An unknown one may be the requested one: then only the answer to the order counts.
  const use = await setCurrentMap(tools, target.id, { wasCurrent: problem !== null || current?.id === target.id });
  const running = await compareWithRunning(tools, topics, watched);
  const maps = await compareStored(tools, safetyArchive);
  return {
    identity,
    target,
    before,
    beforeProblem,
    runningBefore,
    done: {
      ...{ stillness, backup, use, running, maps },
      damaged: safetyArchive.damaged,
      interrupted: signal.aborted,
    },
  };
}

async function stillnessOf({ signal, onProgress }: SelectOptions, select: RestoreWrite): Promise<Stillness> {
  const stillness = await select.checkStillness(signal, onProgress);
  assertStill(stillness, select.isConfirmedStill);
  return stillness;
}

function notStored(): GwError {
  return new GwError(
    'BACKUP_OUTDATED',
    'The current map was set from data and is not stored, so no backup contains it: selecting another map would lose it. Nothing was changed.',
    { remedy: 'Store the map on the chassis first, then try again.' },
  );
}

/** Compares the stored maps, since the effect of a selection on them was never measured. */
async function compareStored(tools: WriteTools, safetyArchive: MapArchive): Promise<readonly MapComparison[] | null> {
  tools.onProgress('comparing the stored maps with those before');
  try {
    return await withGrace(tools, async (signal) =>
      compareMaps(safetyArchive, await readLiveMaps(tools.client, { images: false, signal })),
    );
  } catch (error) {
    tools.onProgress(`the stored maps could not be read again: ${reasonOf(error)}`);
    return null;
  }
}
