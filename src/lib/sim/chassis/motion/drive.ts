import type { Point } from '../floor/grid.ts';
import { wrapRad } from './heading.ts';
import { advance, type Body, brakingWayM, type PoseRad, speedBefore, standingAt, turnTowards } from './kinematics.ts';
import { distanceM, hasPassed, isAhead, type Path, passPoints, pointAhead, remainingOn, wayLength } from './path.ts';

const REVERSE_M_S = 0.35;
/** Heading error beyond which the robot turns in place. */
const STAND_AND_TURN_RAD = 0.6;
const ARRIVED_M = 0.01;
const REST_STEP_S = 0.05;

/** One leg of a manoeuvre. */
export type Leg =
  | { readonly kind: 'follow'; readonly points: Path }
  | { readonly kind: 'turn'; readonly yawRad: number }
  /** Backwards along its heading, as onto a dock. */
  | { readonly kind: 'reverse'; readonly to: Point }
  | { readonly kind: 'wait'; readonly seconds: number };

/**
 * A robot that turns in place and drives along its heading, with bounded speeds and accelerations. The speed limit is read
 * at every step, since it may change during a move.
 */
export function createDrive(start: PoseRad, limitMS: () => number) {
  let body: Body = standingAt(start);
  let legs: Leg[] = [];
  let segment = 0;
  let waitedS = 0;
  /** The path on which it brakes before it follows another one; leaving it earlier would cut a corner. */
  let abandoned: Path | undefined;

  const place = (): Point => ({ xM: body.xM, yM: body.yM });

  function move(dt: number, wantedSpeed: number, wantedTurn: number): void {
    body = advance(body, dt, wantedSpeed, wantedTurn);
  }

  function halt(): void {
    body = { ...body, speedMS: 0 };
  }

  function currentPath(): Path | undefined {
    const leg = legs[0];
    return leg?.kind === 'follow' && body.speedMS > 0 ? leg.points : undefined;
  }

  function nextLeg(): void {
    legs.shift();
    segment = 0;
    waitedS = 0;
  }

  function headingError(target: Point): number {
    return wrapRad(Math.atan2(target.yM - body.yM, target.xM - body.xM) - body.yawRad);
  }

  function follow(path: Path, dt: number): void {
    const end = path.at(-1);
    if (!end) {
      nextLeg();
      return;
    }
    segment = passPoints(path, segment, body, end);
    const isLast = path.length < 2 || segment >= path.length - 2;
    if (isLast && (distanceM(body, end) < ARRIVED_M || hasPassed(path, body, end))) {
      halt();
      nextLeg();
      return;
    }
    const error = headingError(pointAhead(path, segment, body));
    const aligned = Math.max(0, 1 - Math.abs(error) / STAND_AND_TURN_RAD);
    const remainingM = remainingOn(path, segment, body);
    move(dt, aligned * Math.min(limitMS(), speedBefore(remainingM)), turnTowards(error));
  }

  /** Brakes along the abandoned path. */
  function brake(path: Path, dt: number): void {
    segment = passPoints(path, segment, body, path.at(-1) ?? place());
    const target = pointAhead(path, segment, body);
    move(dt, 0, turnTowards(isAhead(body, target) ? headingError(target) : 0));
    leaveAtRest();
  }

  /** An abandoned path ends where the robot stands. */
  function leaveAtRest(): void {
    if (!abandoned || body.speedMS !== 0) return;
    abandoned = undefined;
    segment = 0;
  }

  function turn(goal: number, dt: number): void {
    const error = wrapRad(goal - body.yawRad);
    if (Math.abs(body.speedMS) < 1e-6 && Math.abs(error) < 0.01 && Math.abs(body.turnRadS) < 0.3) {
      body = { ...body, yawRad: wrapRad(goal), turnRadS: 0 };
      nextLeg();
      return;
    }
    move(dt, 0, turnTowards(error));
  }

  function reverse(to: Point, dt: number): void {
    const ahead = (to.xM - body.xM) * Math.cos(body.yawRad) + (to.yM - body.yM) * Math.sin(body.yawRad);
    if (ahead >= -ARRIVED_M) {
      halt();
      nextLeg();
      return;
    }
    move(dt, -Math.min(limitMS(), REVERSE_M_S, speedBefore(-ahead)), 0);
  }

  function wait(seconds: number, dt: number): void {
    waitedS += dt;
    move(dt, 0, 0);
    if (waitedS >= seconds) nextLeg();
  }

  return {
    pose: (): PoseRad => ({ ...place(), yawRad: body.yawRad }),
    /** Position at which it stops when it abandons its path now; the next path starts there. */
    restingPlace(): Point {
      const kept = { body, segment, abandoned };
      abandoned ??= currentPath();
      while (abandoned) brake(abandoned, REST_STEP_S);
      const resting = place();
      ({ body, segment, abandoned } = kept);
      return resting;
    },
    /** Metres per second, negative backwards. */
    speed: () => body.speedMS,
    /** The way that it still makes when it brakes now, in metres. */
    brakingM: () => brakingWayM(body.speedMS),
    isBusy: () => legs.length > 0,
    isStill: () => body.speedMS === 0 && body.turnRadS === 0,
    setPose(pose: PoseRad): void {
      body = standingAt({ ...pose, yawRad: wrapRad(pose.yawRad) });
      legs = [];
      abandoned = undefined;
    },
    go(next: readonly Leg[]): void {
      abandoned ??= currentPath();
      legs = [...next];
      if (!abandoned) segment = 0;
      waitedS = 0;
    },
    /** Remaining distance in metres. */
    remainingM(): number {
      let length = 0;
      for (const [index, leg] of legs.entries()) {
        if (leg.kind === 'reverse') length += index === 0 ? distanceM(body, leg.to) : 0;
        if (leg.kind !== 'follow') continue;
        if (index === 0 && !abandoned) length += remainingOn(leg.points, segment, body);
        else length += wayLength(leg.points);
      }
      return length;
    },
    /** One step of at most 50 ms; brakes when `mayDrive` is false. */
    step(dt: number, mayDrive: boolean): void {
      const leg = legs[0];
      if (!mayDrive) {
        move(dt, 0, 0);
        leaveAtRest();
      } else if (abandoned) brake(abandoned, dt);
      else if (!leg) move(dt, 0, 0);
      else if (leg.kind === 'follow') follow(leg.points, dt);
      else if (leg.kind === 'turn') turn(leg.yawRad, dt);
      else if (leg.kind === 'reverse') reverse(leg.to, dt);
      else wait(leg.seconds, dt);
    },
    /** One step without a way, for faults; stops before a position that `mayStand` rejects. */
    steer(dt: number, speedMS: number, turnRadS: number, mayStand: (at: Point) => boolean): void {
      legs = [];
      abandoned = undefined;
      const before = place();
      move(dt, Math.max(-limitMS(), Math.min(limitMS(), speedMS)), turnRadS);
      if (!mayStand(place())) body = { ...body, ...before, speedMS: 0 };
    },
    /** One step of turning in place, for faults that make the unit of the heading visible. */
    spin(dt: number, rateRadS: number): void {
      move(dt, 0, rateRadS);
    },
  };
}

export type Drive = ReturnType<typeof createDrive>;
