import type { ChassisSnapshot } from '../chassis/index.ts';
import type { MotionStatus } from '../motion/index.ts';
import type { HoldCause } from './model.ts';

export interface Trouble {
  readonly cause: HoldCause;
  readonly reason: string;
}

/** Why nothing may begin by itself in this state, and until a person says so; null: nothing. */
export function troubleIn(status: MotionStatus, { link }: Pick<ChassisSnapshot, 'link'>): Trouble | null {
  const { stop, poseAlarm, frame, unownedMove, trial, gate } = status;
  if (stop.latched) return { cause: 'stop', reason: `A stop was latched: ${stop.reason ?? 'no reason given'}.` };
  if (link.kind !== 'connected') return { cause: 'link', reason: 'The chassis was not connected.' };
  if (poseAlarm != null) return { cause: 'pose-alarm', reason: `The pose was wrong or not known: ${poseAlarm.reason}` };
  if (frame != null) return { cause: 'map', reason: frame.reason };
  if (unownedMove !== null)
    return { cause: 'unowned-move', reason: `Move ${unownedMove.moveId} is of another program.` };
  if (trial !== null) return { cause: 'trial', reason: 'A trial was made.' };
  // Whatever else closes it: a fault of the robot, a person who moves it, evidence that was revoked.
  return gate.open ? null : { cause: 'gate', reason: gate.reasons[0] ?? 'The gate was closed.' };
}
