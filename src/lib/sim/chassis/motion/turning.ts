import type { Faults } from '../../faults.ts';
import type { Drive } from './drive.ts';

export interface TurningOptions {
  readonly drive: Drive;
  readonly faults: Pick<Faults, 'is'>;
  /** Whether the robot drives, by its report or against it. */
  readonly isUnderWay: () => boolean;
}

/** About 100 degrees per second, a full circle within four seconds. */
const SPIN_RAD_S = 1.75;
/** Faults during which the robot turns, so that the unit of its heading becomes visible. */
const turning = ['radians', 'radians-0-2pi', 'radians-unwrapped', 'turned-by-hand'] as const;

/** Turns in place while one of those faults is on, and back to the previous heading afterwards. */
export function createTurning({ drive, faults, isUnderWay }: TurningOptions) {
  let headingBefore: number | undefined;

  return {
    /** One step; false when the robot does not turn, and the step is still to be made. */
    step(dt: number): boolean {
      const isIdle = !isUnderWay() && !faults.is('spinning');
      if (isIdle && turning.some((name) => faults.is(name))) {
        headingBefore ??= drive.pose().yawRad;
        drive.spin(dt, SPIN_RAD_S);
        return true;
      }
      if (isIdle && headingBefore !== undefined) drive.go([{ kind: 'turn', yawRad: headingBefore }]);
      headingBefore = undefined;
      return false;
    },
    /** After a pose was set there is no heading to turn back to. */
    forget(): void {
      headingBefore = undefined;
    },
  };
}
