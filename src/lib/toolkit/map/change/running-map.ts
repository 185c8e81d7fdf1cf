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

/** Whether the robot drives by other overlays than the stored ones. */
export function isRunningDifferent({ verdict }: Pick<RunningMapView, 'verdict'>): boolean {
  return verdict === 'differs' || verdict === 'another-map';
}

/** How to make the robot load the stored overlays, with the command. */
export function selectAgain({ mapId }: RunningMapView, sitePath: string): string[] {
  if (mapId === null || mapId < 0) return [];
  const site = sitePath === 'site.yaml' ? [] : ['--site', sitePath];
  return [
    `Select the map again, so that the chassis reloads its overlays; the robot loses its position: ${commandText('gw', 'map', 'select', String(mapId), ...site)}`,
  ];
}

/** Next steps when the running map could not be compared. */
export function compareAgain(running: RunningMapView, sitePath: string): string[] {
  const site = sitePath === 'site.yaml' ? [] : ['--site', sitePath];
  return [
    `Check again whether the robot drives by the stored overlays: ${commandText('gw', 'overlays', 'inspect', '--current', ...site)}`,
    ...selectAgain(running, sitePath).map((sentence) => `If that stays unknown: ${sentence}`),
  ];
}

/**
 * Next steps after the current map was set. No command of gw sets the position: the pose order exists for programs only.
 */
export function afterSelecting(sitePath: string): string[] {
  const site = sitePath === 'site.yaml' ? [] : ['--site', sitePath];
  return [
    'The robot is expected to have lost its position. Set it before it moves, where the robot stands: `gw motion pose`, or the tool of the chassis.',
    `Then check that positioning is reliable and the position correct: ${commandText('gw', 'chassis', 'watch', ...site)}`,
  ];
}
