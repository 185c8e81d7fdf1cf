import type { ChassisClient } from '../../chassis/index.ts';
import { mapWritesOf } from '../../chassis/map-writes.ts';
import { GwError } from '../../error/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import { refuseExistingArchive, writeArchive } from '../archive/archive-file.ts';
import { backUpMaps } from '../backup.ts';
import { type LiveMaps, readLiveMaps, reasonOf } from '../live-maps.ts';
import { readCurrentMap } from '../map-reading.ts';
import type { ArchiveFile, MapArchive } from '../model.ts';
import type { TopicAccess } from '../running/map-announcements.ts';
import { checkRunningMap, type RunningMap, type WatchedMap, watchRunningMap } from '../running/running-map.ts';
import { assertStill, type Stillness, type StillnessCheck } from '../stillness.ts';
import { defaultPace, type WritePace, type WriteTools, withGrace } from './checked-write.ts';
import { createLostMap, type MapCreation } from './map-creation.ts';
import { type SelectionOutcome, setCurrentMap } from './map-use.ts';
import { type OverlaysWrite, writeOverlays } from './overlays-write.ts';
import { changesAnything, type PlannedMap, planRestore, type RestorePlan } from './restore-plan.ts';

export interface RestoreOptions {
  readonly client: ChassisClient;
  readonly archive: MapArchive;
  /** Maps of the archive by id or uid. */
  readonly ids: 'all' | readonly string[];
  /** Serial number of the other robot of the backup, as a person named it; null: the backup must be of this chassis. */
  readonly fromAnotherRobot: string | null;
  /** Topic stream that announces the running map, which is compared with the stored one after any writes. */
  readonly topics: TopicAccess;
  /** null: dry run. */
  readonly write: RestoreWrite | null;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
}

/** Additional options of a restore that writes. */
export interface RestoreWrite {
  readonly checkStillness: StillnessCheck;
  /** A person at the robot confirms that it stands still. */
  readonly isConfirmedStill: boolean;
  /** File of the safety backup. */
  readonly backupPath: string;
  /** The name was generated and may get the next free number. */
  readonly mayNumber?: boolean;
  readonly gwVersion: string;
  /** Called when the safety backup is written, before any other write. */
  readonly onBackup: (backup: ArchiveFile) => void;
  readonly pace?: WritePace | undefined;
}

/** Result for one map of the plan. */
export type MapOutcome =
  /** No change needed, or not possible. */
  | { readonly kind: 'untouched' }
  /** A change was planned, but nothing was sent. */
  | { readonly kind: 'not-started'; readonly why: string }
  /** Internal error during the write: the content on the chassis is unknown. */
  | { readonly kind: 'failed'; readonly why: string }
  | ({ readonly kind: 'overlays' } & OverlaysWrite)
  | ({ readonly kind: 'creation' } & MapCreation);

export interface RestoreRun {
  readonly live: Pick<LiveMaps, 'identity' | 'current' | 'currentProblem' | 'damaged' | 'withoutImage'>;
  readonly plan: RestorePlan;
  /** Comparison of running and stored map, after any writes. */
  readonly running: RunningMap;
  /** null when nothing was written. */
  readonly written: {
    readonly stillness: Stillness;
    /** null when the chassis had no maps to back up. */
    readonly backup: ArchiveFile | null;
    readonly maps: readonly { readonly planned: PlannedMap; readonly outcome: MapOutcome }[];
    readonly use: SelectionOutcome | null;
    readonly interrupted: boolean;
  } | null;
}

/**
 * Restores maps of an archive one by one; without `write` it only plans. Maps of another robot are copied only with its
 * serial number, and none of them becomes the current map. With `write`: the robot must stand still, a safety
 * backup is written first, each write is read back and compared, and the first failed one ends the run. Before the first
 * write it throws ARCHIVE_FOREIGN, MAP_UNKNOWN, CHASSIS_MOVING, FILE_EXISTS, FILE_UNWRITABLE and the errors of the
 * client, with nothing changed. After it there is always a result with the content on the chassis, or `unknown`.
 */
export async function restoreMaps(options: RestoreOptions): Promise<RestoreRun> {
  const { client, archive, ids, fromAnotherRobot, write, topics, clock, signal, onProgress } = options;
  const { serial } = await client.identity(signal);
  assertRestorable(archive, serial, fromAnotherRobot);
  const planning = { ids, isForeign: fromAnotherRobot !== null };
  if (write && write.mayNumber !== true) await refuseExistingArchive(write.backupPath);
  const initial = await readLiveMaps(client, { signal, onProgress });
  const firstPlan = planRestore(archive, initial, planning);
  const pace = write?.pace ?? defaultPace;
  if (!write || !changesAnything(firstPlan)) {
    onProgress('comparing the running map with the stored one');
    const { announceMs } = pace;
    const running = await checkRunningMap({ client, access: topics, watched: null, announceMs, signal });
    signal.throwIfAborted();
    return { live: initial, plan: firstPlan, running, written: null };
  }

  const stillness = await write.checkStillness(signal, onProgress);
  assertStill(stillness, write.isConfirmedStill);
  const safetyArchive = await backUpMaps(client, { ids: 'all', gwVersion: write.gwVersion, clock, signal, onProgress });
  const backup =
    safetyArchive.maps.length + safetyArchive.damaged.length > 0 ? await backUpState(write, safetyArchive) : null;
  if (backup) write.onBackup(backup);
  // The final plan is made from the content of the safety backup, which is what the writes replace.
  const { current, problem: currentProblem } = await readCurrentMap(client, signal);
  const live = { ...initial, maps: safetyArchive.maps, damaged: safetyArchive.damaged, current, currentProblem };
  const plan = planRestore(archive, live, planning);
  using watched = await watchRunningMap(topics, { hadMap: live.current !== null || currentProblem !== null });
  const onSend = () => watched.mark();
  const tools: WriteTools = { client, writes: mapWritesOf(client), clock, pace, signal, onProgress, onSend };
  const result = await executePlan(tools, plan, safetyArchive, write);
  // For an unchanged current map no new announcement is expected.
  const isTouched =
    (result.use !== null && result.use.outcome !== 'not-started') ||
    result.maps.some((one) => isSent(one.outcome) && one.planned.live?.id === live.current?.id);
  const running = await compareWithRunning(tools, topics, isTouched ? watched : null);
  const interrupted = signal.aborted;
  return { live, plan, running, written: { stillness, backup, ...result, interrupted } };
}

/** Whether an order was or may have been sent. */
function isSent(outcome: MapOutcome): boolean {
  if (outcome.kind === 'overlays' || outcome.kind === 'creation') return outcome.outcome !== 'not-sent';
  return outcome.kind === 'failed';
}

/** A failed comparison is 'not-checked', since a run must return a result after the first write. */
export async function compareWithRunning(
  tools: WriteTools,
  access: TopicAccess,
  watched: WatchedMap | null,
): Promise<RunningMap> {
  tools.onProgress('comparing the running map with the stored one');
  try {
    return await withGrace(tools, (signal) =>
      checkRunningMap({ client: tools.client, access, watched, announceMs: tools.pace.announceMs, signal }),
    );
  } catch (error) {
    return { verdict: 'not-checked', detail: reasonOf(error), map: null, announced: null, comparison: null };
  }
}

/** Writes the safety backup. Throws with the note that nothing was changed on the chassis. */
export async function backUpState(
  { backupPath, mayNumber = false }: Pick<RestoreWrite, 'backupPath' | 'mayNumber'>,
  state: MapArchive,
): Promise<ArchiveFile> {
  try {
    return await writeArchive(backupPath, state, { mayNumber });
  } catch (error) {
    if (!(error instanceof GwError)) throw error;
    const { code, message, remedy, details } = error;
    const text = `${message} Without a safety backup nothing was changed on the chassis.`;
    throw new GwError(code, text, { remedy, details, cause: error });
  }
}

/** Throws ARCHIVE_FOREIGN; `remedy` says what to do with a backup of `archived`. */
export function assertSameChassis(
  { chassis: { serial: archived } }: MapArchive,
  serial: string,
  remedy: (archived: string) => string,
): void {
  if (archived === serial) return;
  throw new GwError(
    'ARCHIVE_FOREIGN',
    `The backup belongs to chassis ${JSON.stringify(archived)}, this one is ${JSON.stringify(serial)}. Nothing was changed.`,
    { remedy: remedy(archived), details: { archived, found: serial } },
  );
}

/** Throws ARCHIVE_FOREIGN, and USAGE for a backup of this chassis that was named as one of another robot. */
function assertRestorable(archive: MapArchive, serial: string, named: string | null): void {
  const { serial: archived } = archive.chassis;
  if (named === null) {
    assertSameChassis(
      archive,
      serial,
      () =>
        `To copy the maps of ${JSON.stringify(archived)} to this robot, name it: --from-another-robot ${/^[\w.:-]+$/.test(archived) ? archived : 'SERIAL'}. Afterwards set its position and repeat its trials. Otherwise name a backup of this chassis.`,
    );
    return;
  }
  if (archived === serial) {
    throw new GwError('USAGE', `The backup belongs to this chassis, ${JSON.stringify(serial)}. Nothing was changed.`, {
      remedy: 'Omit --from-another-robot.',
    });
  }
  if (named === archived) return;
  throw new GwError(
    'ARCHIVE_FOREIGN',
    `The backup belongs to chassis ${JSON.stringify(archived)}, --from-another-robot names ${JSON.stringify(named)}. Nothing was changed.`,
    {
      remedy: `Name the backup of ${JSON.stringify(named)}, or, if you mean this one, its serial number as it stands there.`,
      details: { archived, found: serial, named },
    },
  );
}

type PlanResult = Pick<NonNullable<RestoreRun['written']>, 'maps' | 'use'>;

async function executePlan(
  tools: WriteTools,
  plan: RestorePlan,
  safetyArchive: MapArchive,
  write: RestoreWrite,
): Promise<PlanResult> {
  const maps: { planned: PlannedMap; outcome: MapOutcome }[] = [];
  let stopped: string | null = null;
  for (const planned of plan.maps) {
    if (planned.verdict !== 'overlays-differ' && planned.verdict !== 'missing') {
      maps.push({ planned, outcome: { kind: 'untouched' } });
      continue;
    }
    stopped ??= await blockingReason(tools, write);
    const outcome: MapOutcome =
      stopped === null
        ? await guarded(() => writeOne(tools, planned, safetyArchive, maps))
        : { kind: 'not-started', why: stopped };
    maps.push({ planned, outcome });
    if (!isSuccess(outcome)) stopped ??= `the write of map ${planned.archived.id} failed`;
  }
  if (plan.mapToSelect === null) return { maps, use: null };
  stopped ??= await blockingReason(tools, write);
  if (stopped !== null) return { maps, use: { outcome: 'not-started', id: null, why: stopped, mayBeSet: false } };
  const target = maps.find(({ planned }) => planned.archived === plan.mapToSelect);
  const id = target?.outcome.kind === 'creation' ? target.outcome.id : (target?.planned.live?.id ?? null);
  if (id === null) return { maps, use: { outcome: 'not-started', id, why: 'its number is unknown', mayBeSet: false } };
  return { maps, use: await setCurrentMap(tools, id, { wasCurrent: false }) };
}

export function isSuccess(outcome: MapOutcome): boolean {
  if (outcome.kind === 'overlays' || outcome.kind === 'creation') return outcome.outcome === 'written';
  return outcome.kind === 'untouched';
}

/** Why the next write must not start: the robot moves, or the user interrupted; null otherwise. */
async function blockingReason({ signal, onProgress }: WriteTools, write: RestoreWrite): Promise<string | null> {
  if (signal.aborted) return 'interrupted before';
  try {
    assertStill(await write.checkStillness(signal, onProgress), write.isConfirmedStill);
    return null;
  } catch (error) {
    if (signal.aborted) return 'interrupted before';
    return reasonOf(error).replace(/\. Nothing was changed$/, '');
  }
}

/** Turns internal errors into a result, since a run must return one after the first write. */
async function guarded(work: () => Promise<MapOutcome>): Promise<MapOutcome> {
  try {
    return await work();
  } catch (error) {
    return { kind: 'failed', why: `internal error during the write: ${reasonOf(error)}` };
  }
}

async function writeOne(
  tools: WriteTools,
  { archived, live }: PlannedMap,
  safetyArchive: MapArchive,
  finished: readonly { readonly outcome: MapOutcome }[],
): Promise<MapOutcome> {
  if (live === null) {
    const created = finished.flatMap(({ outcome }) =>
      outcome.kind === 'creation' && outcome.id !== null ? [{ id: outcome.id }] : [],
    );
    return {
      kind: 'creation',
      ...(await createLostMap(tools, archived, [...safetyArchive.maps, ...safetyArchive.damaged, ...created])),
    };
  }
  const saved = safetyArchive.maps.find(({ id }) => id === live.id);
  const lacks = (['image', 'localisation'] as const).filter((what) => !saved?.[what] && !archived[what]);
  if (saved === undefined || lacks.length > 0) {
    const names = { image: 'its picture', localisation: 'its localisation data' };
    const missing = lacks.map((what) => names[what]).join(' and ') || 'the map';
    const why = `neither backup contains ${missing}, so the map could not be restored if the write destroyed it`;
    return { kind: 'not-started', why };
  }
  if (archived.overlays === null) throw new GwError('INTERNAL', 'Map without overlays in a write.');
  return { kind: 'overlays', ...(await writeOverlays(tools, live, archived.overlays)) };
}
