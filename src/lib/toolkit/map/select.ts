import { createChassisClient } from '../../chassis/index.ts';
import { archiveFileName, type SelectRun, selectMap } from '../../maps/index.ts';
import { chassisAccess } from '../chassis/access.ts';
import type { Toolkit } from '../toolkit.ts';
import type { MapSelect } from './change.result.ts';
import {
  afterSelecting,
  citeFacts,
  differenceOf,
  isRunningDifferent,
  selectAgain,
  siteCommand,
  viewRunningMap,
} from './change.ts';
import { type MapRestoreContext, safetyView, writeOptionsOf } from './restore.ts';

export interface MapSelectOptions {
  /** Number of the map on the chassis. */
  readonly id: string;
  /** The risk flag was given; otherwise nothing is sent. */
  readonly select: boolean;
  /** A person at the robot confirms that it stands still. */
  readonly itStandsStill: boolean;
  /** File of the safety backup; default: a new file in the current folder. */
  readonly backupPath?: string | undefined;
  /** For the commands in the result. */
  readonly sitePath: string;
  readonly gwVersion: string;
}

/** Flag that accepts the risk. */
const SELECT_RISK = '--select-although-the-position-is-lost';

/**
 * Sets a stored map as current map, or plans it. Throws obstacles before the order is sent; afterwards everything is a
 * result.
 */
export async function selectStoredMap(
  toolkit: Toolkit,
  options: MapSelectOptions,
  { signal, onProgress, onSafetyBackup }: MapRestoreContext,
): Promise<MapSelect> {
  const { clock, site } = toolkit;
  const access = await chassisAccess(toolkit);
  await using client = createChassisClient(access);
  const defaultName = archiveFileName(site.chassis.serial, clock.wall(), 'before-select');
  const run = await selectMap({
    client,
    id: options.id,
    topics: access,
    select: options.select ? writeOptionsOf(access, { ...options, defaultName }, onSafetyBackup) : null,
    clock,
    signal,
    onProgress,
  });
  const { host, port } = access.endpoint;
  return viewSelect(run, options, { host, port, way: access.dialer.way });
}

/** The result of a run, with the next steps. */
export function viewSelect(run: SelectRun, options: MapSelectOptions, address: MapSelect['address']): MapSelect {
  const { identity, target, before, beforeProblem, runningBefore, done } = run;
  const { serial, software, model } = identity;
  const view = {
    mode: options.select ? ('select' as const) : ('dry-run' as const),
    verdict: verdictOf(run),
    address,
    chassis: { serial, software, model },
    map: { id: target.id, uid: target.uid, name: target.name },
    before: before && { id: before.id, uid: before.uid, name: before.name },
    beforeProblem,
    runningBefore: viewRunningMap(runningBefore),
    stillness: done && { ...done.stillness },
    safetyBackup: done && safetyView(done.backup),
    use: done && { outcome: done.use.outcome, why: done.use.why },
    running: done && viewRunningMap(done.running),
    stored: done && storedView(done),
    // Only an order that the chassis did not accept leaves the position unchanged.
    position: done?.use.mayBeSet ? ('must-be-set' as const) : ('untouched' as const),
    interrupted: done?.interrupted ?? false,
    facts: citeFacts(['vendor.current-map', 'vendor.map.running-overlays', 'vendor.pose.lost-on-map-change']),
  };
  return { ...view, next: nextOf(view, options) };
}

function verdictOf({ done }: SelectRun): MapSelect['verdict'] {
  if (done === null) return 'to-do';
  if (done.use.outcome === 'unknown') return 'unknown';
  if (done.use.outcome !== 'set') return 'not-selected';
  if (storedView(done).verdict === 'changed') return 'maps-changed';
  if (isRunningDifferent(done.running) || done.running.verdict === 'none-in-use') return 'running-differs';
  // The compared map must be the requested one.
  const isOfTarget = done.running.verdict === 'equal' && done.running.map?.id === done.use.id;
  return isOfTarget ? 'selected' : 'running-not-checked';
}

function storedView({
  maps,
  damaged,
}: Pick<NonNullable<SelectRun['done']>, 'maps' | 'damaged'>): NonNullable<MapSelect['stored']> {
  if (maps === null) return { verdict: 'not-checked', changes: [] };
  const changes = maps.flatMap(({ before, status, changes: clauses, overlays }) =>
    status === 'unchanged'
      ? []
      : [
          {
            id: before.id,
            name: before.name,
            status,
            changes: [...clauses],
            difference: overlays && !overlays.same ? differenceOf(overlays) : null,
          },
        ],
  );
  const unchanged = damaged.length > 0 ? 'not-checked' : 'unchanged';
  return { verdict: changes.length === 0 ? unchanged : 'changed', changes };
}

function nextOf(view: Omit<MapSelect, 'next'>, { id, sitePath }: MapSelectOptions): string[] {
  const command = (...words: string[]) => siteCommand(sitePath, ...words);
  if (view.mode === 'dry-run') {
    return [
      `To select it, with the robot standing still and a person who can set its position afterwards: ${command('map', 'select', id, SELECT_RISK)}`,
    ];
  }
  const next: string[] = [];
  if (view.stored?.verdict === 'changed' && view.safetyBackup !== null) {
    next.push(
      'Do not move the robot before a person has checked its maps.',
      `The former state is in ${view.safetyBackup.file}; compare it with: ${command('map', 'restore', view.safetyBackup.file)}`,
    );
  }
  if (view.verdict === 'unknown') next.push(`Show the current map: ${command('map', 'list')}`);
  if (view.verdict === 'running-differs' && view.running !== null) {
    next.push(
      'Do not move the robot: it does not drive by the stored overlays.',
      ...selectAgain(view.running, sitePath),
    );
  }
  if (view.verdict === 'running-not-checked') {
    next.push(
      `Check again whether the robot drives by the stored overlays: ${command('overlays', 'inspect', '--current')}`,
    );
  }
  if (view.position === 'must-be-set') next.push(...afterSelecting(sitePath));
  return next;
}
