import type { Point } from '../floor/grid.ts';
import { wrapRad } from './heading.ts';

export interface PoseRad extends Point {
  readonly yawRad: number;
}

/** A pose and the speeds in it: metres per second along the heading, negative backwards, and radians per second. */
export interface Body extends PoseRad {
  readonly speedMS: number;
  readonly turnRadS: number;
}

/** Project decision, typical for delivery robots. */
const ACCELERATION_M_S2 = 1;
const BRAKING_M_S2 = 2;
const TURN_RATE_RAD_S = 1.57;
const TURN_ACCELERATION_RAD_S2 = 4;
const CRAWL_M_S = 0.05;

/** The body after `dt` seconds in which it approaches these speeds with bounded accelerations. */
export function advance(body: Body, dt: number, wantedSpeed: number, wantedTurn: number): Body {
  const rising = Math.abs(wantedSpeed) > Math.abs(body.speedMS);
  const speedMS = approach(body.speedMS, wantedSpeed, (rising ? ACCELERATION_M_S2 : BRAKING_M_S2) * dt);
  const turnRadS = approach(body.turnRadS, wantedTurn, TURN_ACCELERATION_RAD_S2 * dt);
  const yawRad = wrapRad(body.yawRad + turnRadS * dt);
  const xM = body.xM + speedMS * Math.cos(yawRad) * dt;
  const yM = body.yM + speedMS * Math.sin(yawRad) * dt;
  return { xM, yM, yawRad, speedMS, turnRadS };
}

/** The body at rest in this pose. */
export function standingAt({ xM, yM, yawRad }: PoseRad): Body {
  return { xM, yM, yawRad, speedMS: 0, turnRadS: 0 };
}

/** The highest speed from which the robot can stop within this distance; it ends at crawling speed. */
export function speedBefore(wayM: number): number {
  const braking = Math.sqrt(2 * ACCELERATION_M_S2 * wayM) * 0.95;
  return Math.max(CRAWL_M_S, Math.min(braking, 5 * wayM));
}

/** The highest turn rate from which the robot can stop at the target heading. */
export function turnTowards(errorRad: number): number {
  const most = Math.sqrt(2 * TURN_ACCELERATION_RAD_S2 * Math.abs(errorRad)) * 0.8;
  return Math.sign(errorRad) * Math.min(TURN_RATE_RAD_S, most);
}

/** The way in metres that a robot of this speed still makes when it brakes now. */
export function brakingWayM(speedMS: number): number {
  return speedMS ** 2 / (2 * BRAKING_M_S2);
}

function approach(from: number, to: number, by: number): number {
  return from + Math.max(-by, Math.min(by, to - from));
}
