import type { MapRestore } from './change.result.ts';
import { afterSelecting, compareAgain, isRunningDifferent, selectAgain, siteCommand } from './change.ts';

/** The next steps of a restore: sentences and commands. */
export function nextOf(
  data: Omit<MapRestore, 'next'>,
  {
    path,
    ids,
    fromAnotherRobot,
    sitePath,
  }: {
    readonly path: string;
    readonly ids: readonly string[];
    readonly fromAnotherRobot?: string | undefined;
    readonly sitePath: string;
  },
): string[] {
  const restoreCommand = (...words: string[]) => siteCommand(sitePath, 'map', 'restore', ...words);
  const selection = [
    ...ids.flatMap((id) => ['--map', id]),
    ...(fromAnotherRobot === undefined ? [] : ['--from-another-robot', fromAnotherRobot]),
  ];
  const next: string[] = [];
  if (data.mode === 'dry-run' && (data.verdict === 'to-do' || data.verdict === 'incomplete')) {
    if (data.use !== null || data.maps.some(({ plan }) => plan === 'overlays-differ' || plan === 'missing')) {
      next.push(
        `To restore, with the robot standing still: ${restoreCommand(path, ...selection, '--write-although-never-measured')}`,
      );
    }
  }
  if (data.verdict === 'unknown')
    next.push(`Compare the chassis with the backup, without writing: ${restoreCommand(path, ...selection)}`);
  if (data.mode === 'write' && ['differs', 'unknown'].includes(data.verdict)) {
    next.push('Do not move the robot before a person has checked its maps.');
    if (data.safetyBackup !== null)
      next.push(
        `The former state is in ${data.safetyBackup.file}; compare it with: ${restoreCommand(data.safetyBackup.file)}`,
      );
  }
  if (data.position === 'must-be-set' && data.fromAnotherRobot === null) next.push(...afterSelecting(sitePath));
  if (data.mode === 'write' && data.fromAnotherRobot !== null)
    next.push(...afterCopy(data.fromAnotherRobot, data, sitePath));
  if (data.verdict !== 'to-do' && isRunningDifferent(data.running)) next.push(...selectAgain(data.running, sitePath));
  if (data.mode === 'write' && data.running.verdict === 'not-checked')
    next.push(...compareAgain(data.running, sitePath));
  if (data.verdict === 'restored') {
    next.push('Check the map on the tablet and drive one tour under supervision before the robot works again.');
  }
  return next;
}

/** What makes a copied map usable: a person selects it, sets the position, and repeats the trials. */
function afterCopy(
  { serial, trials, places, notCounting }: NonNullable<MapRestore['fromAnotherRobot']>,
  { maps }: Pick<MapRestore, 'maps'>,
  sitePath: string,
): string[] {
  const there = maps.find(({ wasCurrent, idOnChassis }) => wasCurrent && idOnChassis !== null)?.idOnChassis;
  const id = there ?? maps.find(({ idOnChassis }) => idOnChassis !== null)?.idOnChassis;
  return [
    ...(id === undefined || id === null
      ? []
      : [`Select the map on which the robot stands: ${siteCommand(sitePath, 'map', 'select', String(id))}`]),
    ...afterSelecting(sitePath),
    `Repeat the trials on the copied map with a person beside the robot, by \`gw evidence verify\`: ${trials.map(({ kind }) => kind).join(', ')}.`,
    ...(notCounting.length > 0 ? [`No record of ${serial} counts for this robot: ${notCounting.join(', ')}.`] : []),
    ...(places.length > 0
      ? [
          `Drive to each place that ${serial} may have measured under supervision, or measure it anew: ${places.join(', ')}.`,
        ]
      : []),
  ];
}
