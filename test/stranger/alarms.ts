import type { World } from './world.ts';

/** What was ever said against the obedience of a robot. */
export function alarmsOf({ motion }: World): readonly string[] {
  const { standstill, stop } = motion.status();
  const alarm = motion.trials.view()?.alarm ?? null;
  return [
    ...(standstill.verdict === 'drives-on' ? [standstill.reason] : []),
    ...(stop.disobeyed === undefined ? [] : [stop.disobeyed]),
    ...(alarm === null ? [] : [alarm]),
  ];
}
