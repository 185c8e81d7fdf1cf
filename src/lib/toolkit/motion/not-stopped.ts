import { GwError } from '../../error/index.ts';
import type { MotionStop } from './motion.result.ts';

/** Beginning of the first line of every stop that was not confirmed. */
export const NOT_STOPPED = 'NOT STOPPED';

/**
 * A failure of a stop, whatever its cause: what the person beside the robot must do comes before the cause. Code and exit
 * code are those of the cause. Running the command again is right here: a stop may be repeated.
 */
export function notStopped(cause: GwError): GwError {
  return new GwError(
    cause.code,
    `${NOT_STOPPED}: no gateway has confirmed the stop. Press the emergency stop of the robot now. ${cause.message}`,
    {
      tried: cause.tried,
      remedy: `Press the emergency stop of the robot now. Only then: ${cause.remedy}`,
      details: { ...cause.details, delivered: false },
      cause,
    },
  );
}

/** The stop was latched, but not at the robot of the site file. */
export function isOtherRobot({ robot, meantRobot }: Pick<MotionStop, 'robot' | 'meantRobot'>): boolean {
  return robot !== null && meantRobot !== null && robot !== meantRobot;
}
