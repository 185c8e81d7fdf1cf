import type { ChassisClient } from '../chassis/index.ts';
import { mapWritesOf } from '../chassis/map-writes.ts';
import { GwError } from '../error/index.ts';
import type { Clock } from '../lifecycle/index.ts';
import { refuseExistingArchive, writeArchive } from './archive-file.ts';
import { backUpMaps } from './backup.ts';
import { usualPace, type WritePace, type WriteTools, withGrace } from './checked-write.ts';
import { type LiveMaps, readLiveMaps, reasonOf } from './live-maps.ts';
import type { TopicAccess } from './map-announcements.ts';
import { createLostMap, type MapCreation } from './map-creation.ts';
import { takeIntoUse, type UseOutcome } from './map-use.ts';
import type { ArchiveFile, MapArchive } from './model.ts';
import { type OverlaysWrite, writeOverlays } from './overlays-write.ts';
import { changesAnything, type PlannedMap, planRestore, type RestorePlan } from './restore-plan.ts';
import { checkRunningMap, type RunningMap, type WatchedMap, watchRunningMap } from './running-map.ts';
import { assertStill, type LookForStillness, type Stillness } from './stillness.ts';

export interface RestoreOptions {
  readonly client: ChassisClient;
  readonly archive: MapArchive;
  /** Maps of the archive by id or uid. */
  readonly ids: 'all' | readonly string[];
  /** Where the running map is announced: it is compared with what is stored, after the writes if there are any. */
  readonly topics: TopicAccess;
  /** null: compare and say what would be done, write nothing. */
  readonly write: RestoreWrite | null;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
}

/** What a restore that writes needs beside. */
export interface RestoreWrite {
  readonly lookForStillness: LookForStillness;
  /** A person stands beside the robot and says that it stands still. */
  readonly personSeesItStand: boolean;
  /** Where the present state is kept first. */
  readonly backupPath: string;
  /** gw chose that name: where it is taken, the next free one will do. */
  readonly mayNumber?: boolean;
  readonly gwVersion: string;
  /** Called once the present state is safe, and before anything is written. */
  readonly onBackup: (backup: ArchiveFile) => void;
  readonly pace?: WritePace | undefined;
}

/** What became of one map of the plan. */
export type MapOutcome =
  /** Nothing was to be done, or nothing could. */
  | { readonly kind: 'untouched' }
  /** It was to be written, and nothing was sent for it. */
  | { readonly kind: 'not-started'; readonly why: string }
  /** gw itself failed in the middle: what the chassis holds is not known. */
  | { readonly kind: 'failed'; readonly why: string }
  | ({ readonly kind: 'overlays' } & OverlaysWrite)
  | ({ readonly kind: 'creation' } & MapCreation);

export interface RestoreRun {
  readonly live: Pick<LiveMaps, 'identity' | 'current' | 'withoutImage'>;
  readonly plan: RestorePlan;
  /** What the robot drives by, beside what is stored; after the writes if there were any. */
  readonly running: RunningMap;
  /** null when nothing was written, also because nothing was to be. */
  readonly written: {
    readonly stillness: Stillness;
    /** null when the chassis held no map, so that there was nothing to keep. */
    readonly backup: ArchiveFile | null;
    readonly maps: readonly { readonly planned: PlannedMap; readonly outcome: MapOutcome }[];
    readonly use: UseOutcome | null;
    readonly interrupted: boolean;
  } | null;
}

/**
 * Brings maps of an archive back, map by map. Without `write` it only says what it would do. With it: the robot must
 * stand still, the present state is kept in a file first, each write is read back and compared, and the first one
 * that does not come out as it should ends it. Until the first write it throws what stands in the way (ARCHIVE_FOREIGN,
 * MAP_UNKNOWN, CHASSIS_MOVING, FILE_EXISTS, FILE_UNWRITABLE and as the client does), and nothing has changed. From
 * then on it always gives a result, whatever happens: it says what the chassis holds, or that this is not known.
 */
export async function restoreMaps(options: RestoreOptions): Promise<RestoreRun> {
  const { client, archive, ids, write, topics, clock, signal, onProgress } = options;
  const { serial } = await client.identity(signal);
  assertSameChassis(archive, serial);
  if (write && write.mayNumber !== true) await refuseExistingArchive(write.backupPath);
  const seen = await readLiveMaps(client, { signal, onProgress });
  const first = planRestore(archive, seen, ids);
  const pace = write?.pace ?? usualPace;
  if (!write || !changesAnything(first)) {
    onProgress('comparing the running map with the stored one');
    const { announceMs } = pace;
    const running = await checkRunningMap({ client, access: topics, watched: null, announceMs, signal });
    signal.throwIfAborted();
    return { live: seen, plan: first, running, written: null };
  }

  onProgress('listening whether the robot stands still');
  const stillness = await write.lookForStillness(signal);
  assertStill(stillness, write.personSeesItStand);
  const kept = await backUpMaps(client, { ids: 'all', gwVersion: write.gwVersion, clock, signal, onProgress });
  const backup = kept.maps.length > 0 ? await keepState(write, kept) : null;
  if (backup) write.onBackup(backup);
  // What was kept is what is replaced: the plan is made again from it.
  const live = { ...seen, maps: kept.maps, current: await client.currentMap(signal) };
  const plan = planRestore(archive, live, ids);
  using watched = await watchRunningMap(topics, { hadMap: live.current !== null });
  const onSend = () => watched.mark();
  const tools: WriteTools = { client, writes: mapWritesOf(client), clock, pace, signal, onProgress, onSend };
  const done = await carryOut(tools, plan, kept, write);
  // Where the map in use was not written, what is announced of it may be of any time before.
  const isTouched =
    (done.use !== null && done.use.outcome !== 'not-started') ||
    done.maps.some((one) => isSent(one.outcome) && one.planned.live?.id === live.current?.id);
  const running = await compareWithRunning(tools, topics, isTouched ? watched : null);
  const interrupted = signal.aborted;
  return { live, plan, running, written: { stillness, backup, ...done, interrupted } };
}

/** Whether an order left for it, or may have. */
function isSent(outcome: MapOutcome): boolean {
  if (outcome.kind === 'overlays' || outcome.kind === 'creation') return outcome.outcome !== 'not-sent';
  return outcome.kind === 'failed';
}

/** After the first write nothing may end without a result: what fails here leaves the running map unchecked. */
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

/** Writes the present state down. Without it nothing is written to the chassis, and the error says so. */
export async function keepState(
  { backupPath, mayNumber = false }: Pick<RestoreWrite, 'backupPath' | 'mayNumber'>,
  state: MapArchive,
): Promise<ArchiveFile> {
  try {
    return await writeArchive(backupPath, state, { mayNumber });
  } catch (error) {
    if (!(error instanceof GwError)) throw error;
    const { code, message, remedy, details } = error;
    const why = `${message} The present state could not be kept, so nothing was changed on the chassis.`;
    throw new GwError(code, why, { remedy, details, cause: error });
  }
}

/** Throws ARCHIVE_FOREIGN. */
export function assertSameChassis(archive: MapArchive, serial: string): void {
  const { serial: archived } = archive.chassis;
  if (archived === serial) return;
  throw new GwError(
    'ARCHIVE_FOREIGN',
    `The backup is of chassis ${JSON.stringify(archived)}, and this one is ${JSON.stringify(serial)}. Nothing was changed.`,
    { details: { archived, found: serial } },
  );
}

type Done = Pick<NonNullable<RestoreRun['written']>, 'maps' | 'use'>;

async function carryOut(tools: WriteTools, plan: RestorePlan, kept: MapArchive, write: RestoreWrite): Promise<Done> {
  const maps: { planned: PlannedMap; outcome: MapOutcome }[] = [];
  let stopped: string | null = null;
  for (const planned of plan.maps) {
    if (planned.verdict !== 'overlays-differ' && planned.verdict !== 'missing') {
      maps.push({ planned, outcome: { kind: 'untouched' } });
      continue;
    }
    stopped ??= await whatStopsUs(tools, write);
    const outcome: MapOutcome =
      stopped === null
        ? await guarded(() => writeOne(tools, planned, kept, maps))
        : { kind: 'not-started', why: stopped };
    maps.push({ planned, outcome });
    if (!isWell(outcome)) stopped ??= `map ${planned.archived.id} did not come out as it should`;
  }
  if (plan.takeIntoUse === null) return { maps, use: null };
  stopped ??= await whatStopsUs(tools, write);
  if (stopped !== null) return { maps, use: { outcome: 'not-started', id: null, why: stopped, mayBeTaken: false } };
  const target = maps.find(({ planned }) => planned.archived === plan.takeIntoUse);
  const id = target?.outcome.kind === 'creation' ? target.outcome.id : (target?.planned.live?.id ?? null);
  if (id === null)
    return { maps, use: { outcome: 'not-started', id, why: 'its number is not known', mayBeTaken: false } };
  return { maps, use: await takeIntoUse(tools, id, { wasCurrent: false }) };
}

export function isWell(outcome: MapOutcome): boolean {
  if (outcome.kind === 'overlays' || outcome.kind === 'creation') return outcome.outcome === 'written';
  return outcome.kind === 'untouched';
}

/** Asked before each write: a robot that has begun to move, or a person who wants it to end. */
async function whatStopsUs({ signal, onProgress }: WriteTools, write: RestoreWrite): Promise<string | null> {
  if (signal.aborted) return 'interrupted before it';
  onProgress('listening whether the robot still stands');
  try {
    assertStill(await write.lookForStillness(signal), write.personSeesItStand);
    return null;
  } catch (error) {
    if (signal.aborted) return 'interrupted before it';
    return reasonOf(error).replace(/\. Nothing was changed$/, '');
  }
}

/** After the first write nothing may end without a word about what is known: not even a bug of ours. */
async function guarded(work: () => Promise<MapOutcome>): Promise<MapOutcome> {
  try {
    return await work();
  } catch (error) {
    return { kind: 'failed', why: `gw failed in the middle: ${reasonOf(error)}` };
  }
}

async function writeOne(
  tools: WriteTools,
  { archived, live }: PlannedMap,
  kept: MapArchive,
  done: readonly { readonly outcome: MapOutcome }[],
): Promise<MapOutcome> {
  if (live === null) {
    const created = done.flatMap(({ outcome }) =>
      outcome.kind === 'creation' && outcome.id !== null ? [{ id: outcome.id }] : [],
    );
    return { kind: 'creation', ...(await createLostMap(tools, archived, [...kept.maps, ...created])) };
  }
  const held = kept.maps.find(({ id }) => id === live.id);
  const lacks = (['image', 'localisation'] as const).filter((what) => !held?.[what] && !archived[what]);
  if (held === undefined || lacks.length > 0) {
    const words = { image: 'its picture', localisation: 'its localisation data' };
    const why = `neither file holds ${lacks.map((what) => words[what]).join(' and ') || 'it'}, so it could not be brought back if the write destroys it`;
    return { kind: 'not-started', why };
  }
  if (archived.overlays === null) throw new GwError('INTERNAL', 'A map without overlays was to be written.');
  return { kind: 'overlays', ...(await writeOverlays(tools, live, archived.overlays)) };
}
