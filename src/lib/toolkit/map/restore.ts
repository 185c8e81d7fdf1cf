import { createChassisClient } from '../../chassis/index.ts';
import { errorTable } from '../../error/index.ts';
import {
  type ArchiveFile,
  archiveFileName,
  changesAnything,
  isWell,
  lookForStillness,
  type MapOutcome,
  type PlannedMap,
  type RestoreRun,
  type RestoreWrite,
  readArchive,
  restoreMaps,
} from '../../maps/index.ts';
import { type ChassisAccess, chassisAccess } from '../chassis/access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { citeFacts } from './change/cited-facts.ts';
import { commandText } from './change/command-text.ts';
import { differenceOf } from './change/overlays-difference.ts';
import { afterSelecting, isOutOfStep, lookAgain, selectAgain, viewRunningMap } from './change/running-map.ts';
import type { MapRestore, RestoredMap } from './restore.result.ts';

export interface MapRestoreOptions {
  readonly path: string;
  /** Maps of the backup by id or uid; every one when there is none. */
  readonly ids: readonly string[];
  /** The risk was taken by name; otherwise nothing is written. */
  readonly write: boolean;
  /** A person who sees the robot says that it stands still. */
  readonly itStandsStill: boolean;
  /** Where the present state is kept first; without it a new file in the current folder. */
  readonly backupPath?: string | undefined;
  /** For the commands that the result names. */
  readonly sitePath: string;
  readonly gwVersion: string;
}

/** What a change of the chassis does first: it waits for the robot to stand, and keeps the present state. */
export function keepingFirst(
  access: ChassisAccess,
  options: Pick<MapRestoreOptions, 'itStandsStill' | 'backupPath' | 'gwVersion'> & {
    /** Of the file where no path was named; it may be numbered. */
    readonly ownName: string;
  },
  onSafetyBackup: MapRestoreContext['onSafetyBackup'],
): RestoreWrite {
  return {
    lookForStillness: (ending) => lookForStillness(access, ending),
    personSeesItStand: options.itStandsStill,
    backupPath: options.backupPath ?? options.ownName,
    mayNumber: options.backupPath === undefined,
    gwVersion: options.gwVersion,
    onBackup: ({ path }) => onSafetyBackup(path),
  };
}

export interface MapRestoreContext extends CheckContext {
  /** Told once the present state is safe, before the first write: nobody may lose sight of that file. */
  readonly onSafetyBackup: (file: string) => void;
}

/**
 * Brings the maps of a backup back to the chassis that they came from, or says what that would do. Throws what stands
 * in the way before anything is written; afterwards everything is a result.
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
  const ownName = archiveFileName(site.chassis.serial, clock.wall(), 'before-restore');
  const run = await restoreMaps({
    client,
    archive: file.archive,
    ids: options.ids.length === 0 ? 'all' : options.ids,
    topics: access,
    write: options.write ? keepingFirst(access, { ...options, ownName }, onSafetyBackup) : null,
    clock,
    signal,
    onProgress,
  });
  const { host, port } = access.endpoint;
  return viewRestore(run, { file, options, address: { host, port, way: access.dialer.way } });
}

interface Around {
  readonly file: ArchiveFile;
  readonly options: MapRestoreOptions;
  readonly address: MapRestore['address'];
}

/** The run as a result: every map with what it holds now, and what to do next. */
export function viewRestore(run: RestoreRun, { file, options, address }: Around): MapRestore {
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
    backup: backupView(file),
    stillness: written ? { ...written.stillness } : null,
    safetyBackup: safety && safetyView(safety),
    maps,
    others: plan.others.map(({ id, uid, name }) => ({ id, uid, name })),
    use,
    running: viewRunningMap(run.running),
    position:
      written?.use?.mayBeTaken === true || use?.outcome === 'set'
        ? ('must-be-set-anew' as const)
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
  const { createdAt, complete, chassis, maps } = archive;
  return { file: path, bytes, sha256, createdAt, complete, software: chassis.software, maps: maps.length };
}

export function safetyView({ path, bytes, sha256, archive }: ArchiveFile): NonNullable<MapRestore['safetyBackup']> {
  const lacks = archive.maps.flatMap(({ id, missing }) => missing.map(({ what, why }) => `map ${id}: ${what}, ${why}`));
  return { file: path, bytes, sha256, maps: archive.maps.length, lacks };
}

function verdictOf({ plan, written, running }: RestoreRun): MapRestore['verdict'] {
  const blocked = plan.maps.some(({ verdict }) => verdict === 'conflict' || verdict === 'cannot');
  const well = isOutOfStep(running) ? 'stored-only' : written === null ? 'nothing-to-do' : 'restored';
  if (written === null) return blocked ? 'obstacles' : changesAnything(plan) ? 'to-do' : well;
  const outcomes = written.maps.map(({ outcome }) => outcome);
  const kinds = outcomes.map(outcomeWord);
  if (kinds.includes('unknown') || written.use?.outcome === 'unknown') return 'unknown';
  if (kinds.some((kind) => ['no-effect', 'put-back', 'differs', 'gone'].includes(kind))) return 'differs';
  if (written.use?.outcome === 'not-set') return 'differs';
  const all = outcomes.every(isWell) && !blocked && (written.use === null || written.use.outcome === 'set');
  return all ? well : 'obstacles';
}

function outcomeWord(outcome: MapOutcome): RestoredMap['outcome'] {
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
    wasInUse: isCurrent,
    plan: verdict,
    matchedBy,
    idOnChassis: live?.id ?? null,
    picture,
    why,
    notes: [...notes],
    difference: overlays && differenceOf(overlays),
    outcome: outcome === null ? ('dry-run' as const) : outcomeWord(outcome),
    holdsNow: holdsNow(planned, outcome),
    said: null,
    undone: false,
    undoSaid: null,
    afterWrite: null,
    beforeToNow: null,
    alsoChanged: [],
    notCompared: [],
  };
  if (outcome?.kind === 'overlays') {
    const { said, undone, undoSaid, after, now, alsoChanged } = outcome;
    return {
      ...base,
      said,
      undone,
      undoSaid,
      afterWrite: after && differenceOf(after),
      beforeToNow: now && differenceOf(now),
      alsoChanged: [...alsoChanged],
    };
  }
  if (outcome?.kind === 'creation') {
    const { said, after, differences, notCompared } = outcome;
    return {
      ...base,
      idOnChassis: outcome.id,
      said,
      afterWrite: after && differenceOf(after),
      alsoChanged: [...differences],
      notCompared: [...notCompared],
    };
  }
  return base;
}

/** One sentence about what the chassis holds of this map now. */
function holdsNow({ verdict, why }: PlannedMap, outcome: MapOutcome | null): string {
  const untouched = {
    same: 'the overlays of the backup',
    'overlays-differ': 'other overlays than the backup',
    missing: 'nothing: the chassis does not have this map',
    conflict: `another map: ${why ?? ''}`,
    cannot: `what it held before; it cannot be restored: ${why ?? ''}`,
  }[verdict];
  if (outcome === null || outcome.kind === 'untouched') return untouched;
  if (outcome.kind === 'failed') return `not known: ${outcome.why}`;
  if (outcome.kind === 'not-started') return `${untouched}; nothing was sent for it: ${outcome.why}`;
  if (outcome.outcome === 'not-sent') return `${untouched}; the order did not reach the chassis`;
  if (outcome.outcome === 'unknown') return `not known: ${outcome.why ?? 'it could not be read back'}`;
  if (outcome.kind === 'creation') {
    if (outcome.outcome === 'no-effect') return 'nothing: no new map is in the list, as last read';
    const number = `map ${outcome.id ?? '?'}`;
    return outcome.outcome === 'written'
      ? `the map of the backup, as ${number}, read back and compared`
      : `a new map, ${number}, that is not what was sent; gw deletes nothing`;
  }
  switch (outcome.outcome) {
    case 'written':
      return 'the overlays of the backup, read back and compared';
    case 'no-effect':
      return 'what it held before: the write had no effect, as last read';
    case 'put-back':
      return 'what it held before: the write came out differently, and the old overlays were put back';
    case 'differs':
      return 'neither the overlays of the backup nor those of before';
    case 'gone':
      return 'nothing: the chassis lists this map no more';
  }
}

function viewUse({ plan, written }: RestoreRun): MapRestore['use'] {
  const { takeIntoUse } = plan;
  if (takeIntoUse === null) return null;
  const planned = plan.maps.find(({ archived }) => archived === takeIntoUse);
  const archivedId = takeIntoUse.id;
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
          `The backup was taken with software ${archive.chassis.software ?? 'of no known version'}, and ${software ?? 'no known version'} runs now.`,
        ]),
    ...(live.current !== null && !plan.maps.some(({ live: map }) => map?.id === live.current?.id) && live.current.id < 0
      ? ['The map in use was set from data and is stored nowhere: no backup holds it.']
      : []),
    ...(inUse
      ? [
          `Map ${inUse.live?.id} is in use. Whether the robot takes new overlays at once is described nowhere: the running map is compared with the stored one after a write.`,
        ]
      : []),
    ...live.withoutImage.map(({ id, why }) => `The picture of map ${id} did not come, so it was not compared: ${why}.`),
  ];
}

function nextOf(data: Omit<MapRestore, 'next'>, { path, ids, sitePath }: MapRestoreOptions): string[] {
  const site = sitePath === 'site.yaml' ? [] : ['--site', sitePath];
  const again = (file: string, ...more: string[]) => commandText('gw', 'map', 'restore', file, ...more, ...site);
  const same = ids.flatMap((id) => ['--map', id]);
  const next: string[] = [];
  if (data.mode === 'dry-run' && (data.verdict === 'to-do' || data.verdict === 'obstacles')) {
    if (data.use !== null || data.maps.some(({ plan }) => plan === 'overlays-differ' || plan === 'missing')) {
      next.push(`To do it, with the robot standing still: ${again(path, ...same, '--write-although-never-measured')}`);
    }
  }
  if (data.verdict === 'unknown') next.push(`See what the chassis holds, without writing: ${again(path, ...same)}`);
  if (data.mode === 'write' && ['differs', 'unknown'].includes(data.verdict)) {
    next.push('Do not send the robot anywhere before a person has looked at its maps.');
    if (data.safetyBackup !== null)
      next.push(`What was there before is in ${data.safetyBackup.file}; see it with: ${again(data.safetyBackup.file)}`);
  }
  if (data.position === 'must-be-set-anew') {
    next.push(...afterSelecting(sitePath));
  }
  if (data.verdict !== 'to-do' && isOutOfStep(data.running)) next.push(...selectAgain(data.running, sitePath));
  if (data.mode === 'write' && data.running.verdict === 'not-checked') next.push(...lookAgain(data.running, sitePath));
  if (data.verdict === 'restored') {
    next.push('Look at the map on the tablet and drive one tour under supervision before the robot works again.');
  }
  return next;
}
