import type { RunningMap } from '../../../maps/index.ts';
import { commandText } from './command-text.ts';
import { differenceOf } from './overlays-difference.ts';
import type { RunningMapView } from './running-map.result.ts';

export function viewRunningMap({ verdict, detail, map, announced, comparison }: RunningMap): RunningMapView {
  return {
    verdict,
    detail,
    mapId: map?.id ?? null,
    uid: map?.uid ?? null,
    name: map?.name ?? null,
    announced: announced && { ...announced },
    difference: comparison && differenceOf(comparison),
    notes: [...(comparison?.notes ?? [])],
  };
}

/** The robot is known to drive by something else than what is stored. */
export function isOutOfStep({ verdict }: Pick<RunningMapView, 'verdict'>): boolean {
  return verdict === 'differs' || verdict === 'another-map';
}

/** How the running map is brought to what is stored: a sentence with the command. */
export function selectAgain({ mapId }: RunningMapView, sitePath: string): string[] {
  if (mapId === null || mapId < 0) return [];
  const site = sitePath === 'site.yaml' ? [] : ['--site', sitePath];
  return [
    `Select the map again, so that the chassis reads its overlays anew; the robot loses its position by it: ${commandText('gw', 'map', 'select', String(mapId), ...site)}`,
  ];
}

/** What is to be done where the running map could not be compared. */
export function lookAgain(running: RunningMapView, sitePath: string): string[] {
  const site = sitePath === 'site.yaml' ? [] : ['--site', sitePath];
  return [
    `Look again whether the robot drives by what is stored: ${commandText('gw', 'overlays', 'inspect', '--current', ...site)}`,
    ...selectAgain(running, sitePath).map((sentence) => `Where that stays unknown: ${sentence}`),
  ];
}

/**
 * What is to be done after another map was taken into use, or the same one again. No command of gw sets the position:
 * the pose order exists for programs only.
 */
export function afterSelecting(sitePath: string): string[] {
  const site = sitePath === 'site.yaml' ? [] : ['--site', sitePath];
  return [
    'The robot is expected to have lost its position. Set it anew before it moves, with the tool of the chassis: gw has no command for it.',
    `Then see that positioning is reliable and the position is the true one: ${commandText('gw', 'chassis', 'watch', ...site)}`,
  ];
}
