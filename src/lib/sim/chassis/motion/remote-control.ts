import type { Point } from '../floor/grid.ts';
import type { Drive } from './drive.ts';

/** A command holds for this long; then the robot brakes. Project decision: the vendor names no figure. */
const HOLDS_S = 0.5;

export interface RemoteControlOptions {
  readonly drive: Drive;
  readonly isAllowed: () => boolean;
  readonly isFree: (at: Point) => boolean;
  /** The first command after a pause: a move that is under way cannot go on from elsewhere. */
  readonly onTakeOver: () => void;
}

/** Driving by hand with `/twist` (vendor's guide, HINWEIS): it moves the robot only in remote mode. */
export function createRemoteControl({ drive, isAllowed, isFree, onTakeOver }: RemoteControlOptions) {
  let speedMS = 0;
  let turnRadS = 0;
  let leftS = 0;

  return {
    /** Metres a second along its heading, radians a second to the left. */
    command(linearMS: number, angularRadS: number): void {
      if (!isAllowed()) return;
      if (leftS <= 0) onTakeOver();
      speedMS = linearMS;
      turnRadS = angularRadS;
      leftS = HOLDS_S;
    },
    /** Takes back the last command. */
    release(): void {
      leftS = 0;
    },
    /** false when nobody drives by hand. */
    step(dt: number): boolean {
      leftS = isAllowed() ? leftS - dt : 0;
      if (leftS <= 0) return false;
      const isFreeNow = isFree(drive.pose());
      drive.steer(dt, speedMS, turnRadS, (at) => !isFreeNow || isFree(at));
      return true;
    },
  };
}
