import { createChassisClient } from '../../chassis/index.ts';
import { errorTable } from '../../error/index.ts';
import {
  type ArchiveFile,
  archiveFileName,
  changesAnything,
  checkStillness,
  damagedName,
  isComplete,
  isSuccess,
  type MapOutcome,
  type PlannedMap,
  type RestoreRun,
  type RestoreWrite,
  readArchive,
  restoreMaps,
} from '../../maps/index.ts';
import { type ChassisAccess, chassisAccess } from '../chassis/access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { viewAnotherRobot } from './another-robot.ts';
import type { MapRestore, RestoredMap } from './change.result.ts';
import { citeFacts, differenceOf, isRunningDifferent, viewRunningMap } from './change.ts';
import { viewDamaged } from './contents.ts';
import { nextOf } from './restore-next.ts';

export interface MapRestoreOptions {
  readonly path: string;
  /** Maps of the backup by id or uid; every map when empty. */
  readonly ids: readonly string[];
  /** Serial number of another robot whose maps are copied to this one, as a person named it. */
  readonly fromAnotherRobot?: string | undefined;
  /** The risk flag was given; otherwise nothing is written. */
  readonly write: boolean;
  /** A person at the robot confirms that it stands still. */
  readonly itStandsStill: boolean;
  /** File of the safety backup; default: a new file in the current folder. */
  readonly backupPath?: string | undefined;
  /** For the commands in the result. */
  readonly sitePath: string;
  readonly gwVersion: string;
}

/** Options of every change of the chassis: check of the standstill and safety backup. */
export function writeOptionsOf(
  access: ChassisAccess,
  options: Pick<MapRestoreOptions, 'itStandsStill' | 'backupPath' | 'gwVersion'> & {
    /** Generated file name, used without a path; it may be numbered. */
    readonly defaultName: string;
  },
  onSafetyBackup: MapRestoreContext['onSafetyBackup'],
): RestoreWrite {
  return {
    checkStillness: (ending, progress) => checkStillness(access, ending, progress),
    isConfirmedStill: options.itStandsStill,
    backupPath: options.backupPath ?? options.defaultName,
    mayNumber: options.backupPath === undefined,
    gwVersion: options.gwVersion,
    onBackup: ({ path }) => onSafetyBackup(path),
  };
}

export interface MapRestoreContext extends CheckContext {
  /** Called when the safety backup is written, before the first order. */
  readonly onSafetyBackup: (file: string) => void;
}

/**
 * Restores the maps of a backup to their chassis, or plans it. Throws obstacles before the first write; afterwards
 * everything is a result.
 */
export async function restoreFromBackup(
  toolkit: Toolkit,
  options: MapRestoreOptions,
  { signal, onProgress, onSafetyBackup }: MapRestoreContext,
): Promise<MapRestore> {
  const { clock, site } = toolkit;
  const file = await readArchive(options.path);
  const access = await chassisAccess(toolkit);
  await using client = createChassisClient(access);
  const defaultName = archiveFileName(site.chassis.serial, clock.wall(), 'before-restore');
  const run = await restoreMaps({
    client,
    archive: file.archive,
    ids: options.ids.length === 0 ? 'all' : options.ids,
    fromAnotherRobot: options.fromAnotherRobot ?? null,
    topics: access,
    write: options.write ? writeOptionsOf(access, { ...options, defaultName }, onSafetyBackup) : null,
    clock,
    signal,
    onProgress,
  });
  const { host, port } = access.endpoint;
  const serial = options.fromAnotherRobot;
  const { plan } = run;
  const fromAnotherRobot =
    serial === undefined ? null : await viewAnotherRobot(site, { serial, robot: run.live.identity.serial, plan });
  return viewRestore(run, { file, options, address: { host, port, way: access.dialer.way }, fromAnotherRobot });
}

interface RestoreContext {
  readonly fromAnotherRobot: MapRestore['fromAnotherRobot'];
  readonly file: ArchiveFile;
  readonly options: MapRestoreOptions;
  readonly address: MapRestore['address'];
}

/** The result of a run, with the content of every map and the next steps. */
export function viewRestore(run: RestoreRun, { file, options, address, fromAnotherRobot }: RestoreContext): MapRestore {
  const { live, plan, written } = run;
  const { serial, software, model } = live.identity;
  const maps = plan.maps.map((planned) => {
    const outcome = written?.maps.find((one) => one.planned === planned)?.outcome ?? null;
    return viewMap(planned, outcome);
  });
  const verdict = verdictOf(run);
  const use = viewUse(run);
  const safety = written?.backup ?? null;
  const lost = errorTable.WRITE_DIFFERS;
  const base = {
    mode: options.write ? ('write' as const) : ('dry-run' as const),
    verdict,
    problem: verdict === 'differs' ? { code: 'WRITE_DIFFERS' as const, title: lost.title, remedy: lost.remedy } : null,
    address,
    chassis: { serial, software, model },
    backup: { ...backupView(file), damaged: plan.damaged.map(viewDamaged) },
    fromAnotherRobot,
    stillness: written ? { ...written.stillness } : null,
    safetyBackup: safety && safetyView(safety),
    maps,
    others: plan.others.map(({ id, uid, name }) => ({ id, uid, name })),
    damaged: live.damaged.map(viewDamaged),
    use,
    running: viewRunningMap(run.running),
    position:
      written?.use?.mayBeSet === true || use?.outcome === 'set' || (fromAnotherRobot !== null && written !== null)
        ? ('must-be-set' as const)
        : ('untouched' as const),
    interrupted: written?.interrupted ?? false,
    notes: notesOf(run, file),
    facts: citeFacts([
      ...(plan.maps.some(({ verdict: one }) => one === 'overlays-differ')
        ? (['chassis.patch-maps', 'vendor.map.patch-effects', 'vendor.map.running-overlays'] as const)
        : []),
      ...(plan.maps.some(({ verdict: one }) => one === 'missing') ? (['vendor.map.create'] as const) : []),
      ...(use === null ? [] : (['vendor.pose.lost-on-map-change'] as const)),
    ]),
  };
  return { ...base, next: nextOf(base, options) };
}

export function backupView({ path, bytes, sha256, archive }: ArchiveFile): MapRestore['backup'] {
  const { createdAt, chassis, maps, damaged } = archive;
  const { serial, software } = chassis;
  return {
    ...{ file: path, bytes, sha256, createdAt, complete: isComplete(archive) },
    ...{ serial, software, maps: maps.length, damaged: damaged.map(viewDamaged) },
  };
}

export function safetyView({ path, bytes, sha256, archive }: ArchiveFile): NonNullable<MapRestore['safetyBackup']> {
  const lacks = [
    ...archive.damaged.map((map) => `${damagedName(map)}: it cannot be read, ${map.why}`),
    ...archive.maps.flatMap(({ id, missing }) => missing.map(({ what, why }) => `map ${id}: ${what}, ${why}`)),
  ];
  return { file: path, bytes, sha256, maps: archive.maps.length, lacks };
}

function verdictOf({ plan, written, running }: RestoreRun): MapRestore['verdict'] {
  const blocked =
    plan.damaged.length > 0 || plan.maps.some(({ verdict }) => verdict === 'conflict' || verdict === 'not-restorable');
  const success = isRunningDifferent(running) ? 'stored-only' : written === null ? 'nothing-to-do' : 'restored';
  if (written === null) return blocked ? 'incomplete' : changesAnything(plan) ? 'to-do' : success;
  const outcomes = written.maps.map(({ outcome }) => outcome);
  const kinds = outcomes.map(outcomeName);
  if (kinds.includes('unknown') || written.use?.outcome === 'unknown') return 'unknown';
  if (kinds.some((kind) => ['no-effect', 'rolled-back', 'differs', 'gone'].includes(kind))) return 'differs';
  if (written.use?.outcome === 'not-set') return 'differs';
  const all = outcomes.every(isSuccess) && !blocked && (written.use === null || written.use.outcome === 'set');
  return all ? success : 'incomplete';
}

function outcomeName(outcome: MapOutcome): RestoredMap['outcome'] {
  switch (outcome.kind) {
    case 'untouched':
    case 'not-started':
      return outcome.kind;
    case 'failed':
      return 'unknown';
    case 'overlays':
    case 'creation':
      return outcome.outcome;
  }
}

function viewMap(planned: PlannedMap, outcome: MapOutcome | null): RestoredMap {
  const { archived, verdict, live, matchedBy, picture, why, notes, overlays } = planned;
  const { id, uid, name, isCurrent } = archived;
  const base = {
    id,
    uid,
    name,
    wasCurrent: isCurrent,
    plan: verdict,
    matchedBy,
    idOnChassis: live?.id ?? null,
    picture,
    why,
    notes: [...notes],
    difference: overlays && differenceOf(overlays),
    outcome: outcome === null ? ('dry-run' as const) : outcomeName(outcome),
    contentNow: contentNow(planned, outcome),
    orderError: null,
    rolledBack: false,
    rollbackError: null,
    afterWrite: null,
    beforeToNow: null,
    alsoChanged: [],
    notCompared: [],
  };
  if (outcome?.kind === 'overlays') {
    const { orderError, rolledBack, rollbackError, after, now, alsoChanged } = outcome;
    return {
      ...base,
      orderError,
      rolledBack,
      rollbackError,
      afterWrite: after && differenceOf(after),
      beforeToNow: now && differenceOf(now),
      alsoChanged: [...alsoChanged],
    };
  }
  if (outcome?.kind === 'creation') {
    const { orderError, after, differences, notCompared } = outcome;
    return {
      ...base,
      idOnChassis: outcome.id,
      orderError,
      afterWrite: after && differenceOf(after),
      alsoChanged: [...differences],
      notCompared: [...notCompared],
    };
  }
  return base;
}

/** The current content of this map on the chassis, as a clause. */
function contentNow({ verdict, why }: PlannedMap, outcome: MapOutcome | null): string {
  const untouched = {
    same: 'the overlays of the backup',
    'overlays-differ': 'other overlays than the backup',
    missing: 'nothing: not stored on the chassis',
    conflict: `another map: ${why ?? ''}`,
    'not-restorable': `unchanged; it cannot be restored: ${why ?? ''}`,
  }[verdict];
  if (outcome === null || outcome.kind === 'untouched') return untouched;
  if (outcome.kind === 'failed') return `unknown: ${outcome.why}`;
  if (outcome.kind === 'not-started') return `${untouched}; nothing was sent: ${outcome.why}`;
  if (outcome.outcome === 'not-sent') return `${untouched}; the order did not reach the chassis`;
  if (outcome.outcome === 'unknown') return `unknown: ${outcome.why ?? 'it could not be read back'}`;
  if (outcome.kind === 'creation') {
    if (outcome.outcome === 'no-effect') return 'nothing: no new map in the list at the last read';
    const number = `map ${outcome.id ?? '?'}`;
    return outcome.outcome === 'written'
      ? `the map of the backup, as ${number}, read back and compared`
      : `a new map, ${number}, that differs from what was sent; gw deletes nothing`;
  }
  switch (outcome.outcome) {
    case 'written':
      return 'the overlays of the backup, read back and compared';
    case 'no-effect':
      return 'the former content: the write had no effect at the last read';
    case 'rolled-back':
      return 'the former content: the read-back differed, and the old overlays were restored';
    case 'differs':
      return 'neither the overlays of the backup nor the former ones';
    case 'gone':
      return 'nothing: no longer listed by the chassis';
  }
}

function viewUse({ plan, written }: RestoreRun): MapRestore['use'] {
  const { mapToSelect } = plan;
  if (mapToSelect === null) return null;
  const planned = plan.maps.find(({ archived }) => archived === mapToSelect);
  const archivedId = mapToSelect.id;
  const use = written?.use;
  if (!use) return { id: planned?.live?.id ?? null, archivedId, outcome: 'dry-run', why: null };
  const { id, outcome, why } = use;
  return { id, archivedId, outcome, why };
}

function notesOf({ live, plan }: RestoreRun, { archive }: ArchiveFile): string[] {
  const { software } = live.identity;
  const inUse = plan.maps.find(
    ({ live: map, verdict }) => verdict === 'overlays-differ' && map !== null && map.id === live.current?.id,
  );
  return [
    ...(archive.chassis.software === software
      ? []
      : [
          `The backup was taken with software ${archive.chassis.software ?? 'of unknown version'}; ${software ?? 'an unknown version'} runs now.`,
        ]),
    ...(live.current !== null && !plan.maps.some(({ live: map }) => map?.id === live.current?.id) && live.current.id < 0
      ? ['The current map was set from data and is not stored: no backup contains it.']
      : []),
    ...(inUse
      ? [
          `Map ${inUse.live?.id} is the current map. Whether the robot loads new overlays at once is not documented: the running map is compared with the stored one after a write.`,
        ]
      : []),
    ...(live.currentProblem === null ? [] : [`The current map is not known, so none is set: ${live.currentProblem}.`]),
    ...plan.damaged.map((map) => `The backup cannot restore ${damagedName(map)}: it was damaged (${map.why}).`),
    ...live.damaged.map((map) => `The chassis returns ${damagedName(map)} damaged (${map.why}): it is not changed.`),
    ...live.withoutImage.map(({ id, why }) => `The picture of map ${id} was not received and not compared: ${why}.`),
  ];
}
