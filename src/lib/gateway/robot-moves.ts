import { type ChassisSnapshot, moveProgress } from '../chassis/index.ts';

/**
 * Whether the robot moves; null: not known. Its poses or a reported move say that it moves. That it does not is said by
 * its poses alone, and only without a move under way: a robot that waits in front of an obstacle stands as well.
 */
export function robotMoves({ link, values, standing }: ChassisSnapshot): boolean | null {
  const { planning } = values;
  if (link.kind !== 'connected') return null;
  const progress =
    planning.status === 'received' && !planning.stale ? moveProgress(planning.value.moveState) : 'not-known';
  if (standing.verdict === 'moves' || progress === 'under-way') return true;
  return standing.verdict === 'stands' && progress === 'ended' ? false : null;
}
