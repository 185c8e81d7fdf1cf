import type { MoveOutcome } from '../../model.ts';
import type { PoseSample } from '../samples.ts';
import { distanceM, type Place } from './numbers.ts';

/** From here on the robot counts as driving, in metres. Project decision: well above the noise of positions. */
export const DRIVES_M = 0.1;

interface Ended {
  readonly start: Place;
  readonly goal: Place;
  readonly sentAtMs: number;
  readonly poses: readonly PoseSample[];
  readonly outcome: Pick<MoveOutcome, 'state' | 'reason'>;
}

/** The largest distance from the start that was reported after the order, in metres; null without a pose. */
export function farthestM({ start, sentAtMs, poses }: Pick<Ended, 'start' | 'sentAtMs' | 'poses'>): number | null {
  const driven = poses.filter(({ atMs }) => atMs >= sentAtMs);
  return driven.length === 0 ? null : Math.max(...driven.map((pose) => distanceM(pose, start)));
}

/** What the chassis reported about the end of a move: its reason code and text where it failed. */
export function endText({ state, reason }: Ended['outcome']): string {
  return reason ?? `The chassis reports the move as '${state}'.`;
}

/** What to do where the chassis gave up a move before the robot drove; empty for every other end. */
export function remedyText({ outcome, start, goal }: Pick<Ended, 'outcome' | 'start' | 'goal'>): string {
  if (outcome.state !== 'failed') return '';
  const courseDeg = Math.round((Math.atan2(goal.yM - start.yM, goal.xM - start.xM) * 180) / Math.PI);
  return ` Clear 1.5 m ahead of the robot on the course ${courseDeg}° of the map, or turn the robot; then run the trial again.`;
}
