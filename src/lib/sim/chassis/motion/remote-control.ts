import type { Point } from '../floor/grid.ts';
import type { Drive } from './drive.ts';

/** Validity of a command; then the robot brakes. Project decision: the vendor names no figure. */
const COMMAND_VALID_S = 0.5;

export interface RemoteControlOptions {
  readonly drive: Drive;
  readonly isAllowed: () => boolean;
  readonly isFree: (at: Point) => boolean;
  /** Called for the first command after a pause, so that a running move can be cancelled. */
  readonly onTakeOver: () => void;
}

/** Remote control with `/twist` (vendor's guide, HINWEIS); moves the robot in remote mode only. */
export function createRemoteControl({ drive, isAllowed, isFree, onTakeOver }: RemoteControlOptions) {
  let speedMS = 0;
  let turnRadS = 0;
  let leftS = 0;

  return {
    /** Metres per second along the heading, radians per second counter-clockwise. */
    command(linearMS: number, angularRadS: number): void {
      if (!isAllowed()) return;
      if (leftS <= 0) onTakeOver();
      speedMS = linearMS;
      turnRadS = angularRadS;
      leftS = COMMAND_VALID_S;
    },
    /** Ends the last command. */
    release(): void {
      leftS = 0;
    },
    /** False when no command is active. */
    step(dt: number): boolean {
      leftS = isAllowed() ? leftS - dt : 0;
      if (leftS <= 0) return false;
      const isFreeNow = isFree(drive.pose());
      drive.steer(dt, speedMS, turnRadS, (at) => !isFreeNow || isFree(at));
      return true;
    },
  };
}
