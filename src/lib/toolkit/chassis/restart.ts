import { createChassisClient } from '../../chassis/index.ts';
import { asGwError } from '../../error/index.ts';
import {
  type ArchiveFile,
  checkStillness,
  type RestartPace,
  type RestartRun,
  readArchive,
  restartChassis,
} from '../../maps/index.ts';
import type { MapRestore } from '../map/change.result.ts';
import {
  citeFacts,
  commandText,
  differenceOf,
  isRunningDifferent,
  selectAgain,
  viewRunningMap,
} from '../map/change.ts';
import { backupView, type MapRestoreContext, restoreFromBackup } from '../map/restore.ts';
import type { Toolkit } from '../toolkit.ts';
import { chassisAccess } from './access.ts';
import type { ChassisRestart } from './chassis.result.ts';

export interface ChassisRestartOptions {
  /** A backup with every present map of the chassis. */
  readonly path: string;
  readonly itStandsStill: boolean;
  readonly withinMs: number;
  /** For the commands that the result names. */
  readonly sitePath: string;
  readonly gwVersion: string;
  /** Poll interval and timeouts; by default the usual ones. */
  readonly pace?: RestartPace | undefined;
}

export interface ChassisRestartContext extends MapRestoreContext {
  /**
   * Asks a person whether the robot stands still and the lost maps are to be restored now; absent: no question. Without
   * a map the robot may report no pose that shows it.
   */
  readonly offerRestore?: ((lost: ChassisRestart) => Promise<boolean>) | undefined;
}

/**
 * Restarts the software of the robot after checking a backup, waits for it, and compares its maps with those before the
 * restart. If maps are lost and a person confirms, restores them. Throws for obstacles before the order is sent;
 * afterwards everything is a result.
 */
export async function restartWithBackup(
  toolkit: Toolkit,
  options: ChassisRestartOptions,
  context: ChassisRestartContext,
): Promise<ChassisRestart> {
  const { signal, onProgress } = context;
  const file = await readArchive(options.path);
  const access = await chassisAccess(toolkit);
  const { host, port } = access.endpoint;
  let result: ChassisRestart;
  {
    await using client = createChassisClient(access);
    const run = await restartChassis({
      client,
      archive: file.archive,
      topics: access,
      checkStillness: (ending, progress) => checkStillness(access, ending, progress),
      isConfirmedStill: options.itStandsStill,
      withinMs: options.withinMs,
      pace: options.pace,
      clock: toolkit.clock,
      signal,
      onProgress,
    });
    result = viewRestart(run, { file, options, address: { host, port, way: access.dialer.way } });
  }
  if (result.restoreCommand === null || !context.offerRestore || signal.aborted) return result;
  if (!(await context.offerRestore(result))) return result;
  let restore: MapRestore;
  try {
    restore = await restoreFromBackup(toolkit, { ...options, itStandsStill: true, ids: [], write: true }, context);
  } catch (error) {
    // No map was written yet; the result of the restart must still be returned.
    const { message, remedy } = asGwError(error);
    return { ...result, next: [`The restore did not start: ${message} ${remedy}`, ...result.next] };
  }
  const isBack = restore.verdict === 'restored' || restore.verdict === 'nothing-to-do';
  return {
    ...result,
    restore,
    verdict: isBack ? 'brought-back' : result.verdict,
    next: isBack ? restore.next : [...restore.next, ...result.next],
  };
}

interface Around {
  readonly file: ArchiveFile;
  readonly options: Pick<ChassisRestartOptions, 'path' | 'sitePath'>;
  readonly address: ChassisRestart['address'];
}

function viewRestart(run: RestartRun, { file, options, address }: Around): ChassisRestart {
  const { before, after, stillness, order, orderError, signs, restarted, why, tookMs } = run;
  const { serial, software, model } = before.identity;
  const verdict = verdictOf(run);
  const { path, sitePath } = options;
  const site = sitePath === 'site.yaml' ? [] : ['--site', sitePath];
  // A robot without a map may report no pose, so that only a person sees that it stands.
  const confirms = after?.current === null ? ['--robot-stands-still'] : [];
  const restore = commandText('gw', 'map', 'restore', path, '--write-although-never-measured', ...confirms, ...site);
  const compare = commandText('gw', 'map', 'restore', path, ...site);
  return {
    verdict,
    address,
    chassis: { serial, software, model },
    softwareAfter: after?.identity.software ?? null,
    backup: backupView(file),
    stillness: { ...stillness },
    order,
    orderError,
    restarted,
    signs: [...signs],
    why,
    tookMs: Math.round(tookMs),
    maps:
      after === null
        ? before.maps.map(({ id, uid, name }) => {
            return { id, uid, name, status: 'not-checked', idNow: null, changes: [], notes: [], difference: null };
          })
        : after.maps.map(({ before: map, status, id: idNow, changes, notes, overlays }) => ({
            id: map.id,
            uid: map.uid,
            name: map.name,
            status,
            idNow,
            changes: [...changes],
            notes: [...notes],
            difference: overlays && !overlays.sameText ? differenceOf(overlays) : null,
          })),
    notCompared: ['pictures', 'localisation data', 'maps that were being made and were not stored'],
    mapInUse: {
      before: before.current?.id ?? null,
      now: after?.current?.id ?? null,
      verdict: inUseVerdict(after),
    },
    running: after && viewRunningMap(after.running),
    restoreCommand: verdict === 'lost' || (verdict === 'changed' && isChanged(run)) ? restore : null,
    restore: null,
    facts: citeFacts(['chassis.restart-loses-maps', 'chassis.restart-loses-maps-cause', 'vendor.service.restart']),
    next: nextOf(run, verdict, { restore, compare, sitePath }),
  };
}

/** A current map that the chassis does not store cannot be compared with the one before. */
function inUseVerdict(after: RestartRun['after']): ChassisRestart['mapInUse']['verdict'] {
  if (after === null) return 'not-checked';
  const { current, sameCurrent, maps } = after;
  if (!sameCurrent) return 'another';
  const isStored = maps.some(({ status, id }) => status !== 'lost' && id === current?.id);
  return current === null || isStored ? 'same' : 'not-checked';
}

function verdictOf({ end, after, restarted }: RestartRun): ChassisRestart['verdict'] {
  if (end === 'interrupted') return 'interrupted';
  if (end === 'not-back' || after === null) return 'not-back';
  if (after.maps.some(({ status }) => status === 'lost')) return 'lost';
  if (isChanged({ after }) || isRunningDifferent(after.running)) return 'changed';
  return restarted ? 'ok' : 'no-restart-seen';
}

/** The stored maps, or which of them is current. */
function isChanged({ after }: Pick<RestartRun, 'after'>): boolean {
  return after !== null && (!after.sameCurrent || after.maps.some(({ status }) => status === 'changed'));
}

function nextOf(
  run: RestartRun,
  verdict: ChassisRestart['verdict'],
  { restore, compare, sitePath }: { readonly restore: string; readonly compare: string; readonly sitePath: string },
): string[] {
  const { before, after } = run;
  const software = before.identity.software;
  const updated =
    after !== null && after.identity.software !== software
      ? [
          `The software version was ${software ?? 'unknown'} and is ${after.identity.software ?? 'unknown'} now: verify the facts of this device again.`,
        ]
      : [];
  switch (verdict) {
    case 'ok':
    case 'brought-back':
      return [...updated, 'Check the position of the robot before it moves.'];
    case 'lost':
      return [
        ...updated,
        after?.current === null
          ? `Restore them, if you see that the robot stands still (without a map it may report no pose that shows it): ${restore}`
          : `Restore them, with the robot standing still: ${restore}`,
      ];
    case 'changed':
      if (after !== null && !isChanged(run))
        return [...updated, ...selectAgain(viewRunningMap(after.running), sitePath)];
      return [
        ...updated,
        `Show the differences, without writing: ${compare}`,
        `Restore the old state, with the robot standing still: ${restore}`,
      ];
    case 'no-restart-seen':
      return [
        ...updated,
        'The order was accepted or lost, and no restart was observed. Check the robot before you repeat it.',
      ];
    case 'not-back':
    case 'interrupted':
      return [
        'The order was sent: the robot restarts by itself. Wait for it with `gw chassis watch`.',
        `Then compare its maps with the backup, without writing: ${compare}`,
      ];
  }
}
