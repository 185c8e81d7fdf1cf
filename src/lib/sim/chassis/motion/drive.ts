import type { Point } from '../floor/grid.ts';
import { wrapRad } from './heading.ts';

/** Project decision, typical for delivery robots. */
const ACCELERATION_M_S2 = 1;
const BRAKING_M_S2 = 2;
const REVERSE_M_S = 0.35;
const TURN_RATE_RAD_S = 1.57;
const TURN_ACCELERATION_RAD_S2 = 4;

/** Distance to the point on the path that the robot steers to. */
const LOOK_AHEAD_M = 0.3;
/** Heading error beyond which the robot turns in place. */
const STAND_AND_TURN_RAD = 0.6;
const ARRIVED_M = 0.01;
const CRAWL_M_S = 0.05;
const REST_STEP_S = 0.05;

export interface PoseRad extends Point {
  readonly yawRad: number;
}

/** One leg of a manoeuvre. */
export type Leg =
  | { readonly kind: 'follow'; readonly points: readonly Point[] }
  | { readonly kind: 'turn'; readonly yawRad: number }
  /** Backwards along its heading, as onto a dock. */
  | { readonly kind: 'reverse'; readonly to: Point }
  | { readonly kind: 'wait'; readonly seconds: number };

/**
 * A robot that turns in place and drives along its heading, with bounded speeds and accelerations. The speed limit is read
 * at every step, since it may change during a move.
 */
export function createDrive(start: PoseRad, limitMS: () => number) {
  let { xM, yM, yawRad } = start;
  let speed = 0;
  let turnRate = 0;
  let legs: Leg[] = [];
  let segment = 0;
  let waitedS = 0;
  /** The path on which it brakes before it follows another one; leaving it earlier would cut a corner. */
  let abandoned: readonly Point[] | undefined;

  const approach = (from: number, to: number, by: number) => from + Math.max(-by, Math.min(by, to - from));

  function advance(dt: number, wantedSpeed: number, wantedTurn: number): void {
    const rising = Math.abs(wantedSpeed) > Math.abs(speed);
    speed = approach(speed, wantedSpeed, (rising ? ACCELERATION_M_S2 : BRAKING_M_S2) * dt);
    turnRate = approach(turnRate, wantedTurn, TURN_ACCELERATION_RAD_S2 * dt);
    yawRad = wrapRad(yawRad + turnRate * dt);
    xM += speed * Math.cos(yawRad) * dt;
    yM += speed * Math.sin(yawRad) * dt;
  }

  /** The highest speed from which the robot can stop within this distance; it ends at crawling speed. */
  function speedBefore(wayM: number): number {
    const braking = Math.sqrt(2 * ACCELERATION_M_S2 * wayM) * 0.95;
    return Math.max(CRAWL_M_S, Math.min(braking, 5 * wayM));
  }

  /** The highest turn rate from which the robot can stop at the target heading. */
  function turnTowards(error: number): number {
    const most = Math.sqrt(2 * TURN_ACCELERATION_RAD_S2 * Math.abs(error)) * 0.8;
    return Math.sign(error) * Math.min(TURN_RATE_RAD_S, most);
  }

  function currentPath(): readonly Point[] | undefined {
    const leg = legs[0];
    return leg?.kind === 'follow' && speed > 0 ? leg.points : undefined;
  }

  function nextLeg(): void {
    legs.shift();
    segment = 0;
    waitedS = 0;
  }

  function follow(points: readonly Point[], dt: number): void {
    const end = points.at(-1);
    if (!end) {
      nextLeg();
      return;
    }
    passPoints(points, end);
    const remaining = remainingOn(points);
    const target = pointAhead(points, LOOK_AHEAD_M);
    const last = points.length < 2 || segment >= points.length - 2;
    if (last && (distance(end) < ARRIVED_M || hasPassed(points, end))) {
      speed = 0;
      nextLeg();
      return;
    }
    const error = wrapRad(Math.atan2(target.yM - yM, target.xM - xM) - yawRad);
    const aligned = Math.max(0, 1 - Math.abs(error) / STAND_AND_TURN_RAD);
    advance(dt, aligned * Math.min(limitMS(), speedBefore(remaining)), turnTowards(error));
  }

  /** Skips waypoints that are closer than half the look-ahead distance. */
  function passPoints(points: readonly Point[], end: Point): void {
    while (segment < points.length - 2 && distance(points[segment + 1] ?? end) < LOOK_AHEAD_M * 0.5) segment += 1;
  }

  /** Brakes along the abandoned path. */
  function brake(points: readonly Point[], dt: number): void {
    const end = points.at(-1) ?? { xM, yM };
    passPoints(points, end);
    const target = pointAhead(points, LOOK_AHEAD_M);
    const isAhead = distance(target) > LOOK_AHEAD_M * 0.5;
    const error = isAhead ? wrapRad(Math.atan2(target.yM - yM, target.xM - xM) - yawRad) : 0;
    advance(dt, 0, turnTowards(error));
    leaveAtRest();
  }

  /** An abandoned path ends where the robot stands. */
  function leaveAtRest(): void {
    if (!abandoned || speed !== 0) return;
    abandoned = undefined;
    segment = 0;
  }

  function hasPassed(points: readonly Point[], end: Point): boolean {
    const before = points.at(-2);
    if (!before || distance(end) > 0.1) return false;
    return (end.xM - before.xM) * (end.xM - xM) + (end.yM - before.yM) * (end.yM - yM) <= 0;
  }

  function distance(to: Point): number {
    return Math.hypot(to.xM - xM, to.yM - yM);
  }

  function remainingOn(points: readonly Point[]): number {
    let length = 0;
    let from: Point = { xM, yM };
    for (const point of points.slice(segment + 1)) {
      length += Math.hypot(point.xM - from.xM, point.yM - from.yM);
      from = point;
    }
    return points.length === 1 ? distance(points[0] ?? from) : length;
  }

  /** The point on the path `aheadM` metres ahead of the robot. */
  function pointAhead(points: readonly Point[], aheadM: number): Point {
    const from = points[segment];
    const to = points[segment + 1];
    if (!from || !to) return points.at(-1) ?? { xM, yM };
    const dx = to.xM - from.xM;
    const dy = to.yM - from.yM;
    const length = Math.hypot(dx, dy);
    if (length < 1e-9) return to;
    const along = Math.max(0, ((xM - from.xM) * dx + (yM - from.yM) * dy) / length) + aheadM;
    if (along >= length) return to;
    return { xM: from.xM + (dx * along) / length, yM: from.yM + (dy * along) / length };
  }

  function turn(goal: number, dt: number): void {
    const error = wrapRad(goal - yawRad);
    if (Math.abs(speed) < 1e-6 && Math.abs(error) < 0.01 && Math.abs(turnRate) < 0.3) {
      yawRad = wrapRad(goal);
      turnRate = 0;
      nextLeg();
      return;
    }
    advance(dt, 0, turnTowards(error));
  }

  function reverse(to: Point, dt: number): void {
    const ahead = (to.xM - xM) * Math.cos(yawRad) + (to.yM - yM) * Math.sin(yawRad);
    if (ahead >= -ARRIVED_M) {
      speed = 0;
      nextLeg();
      return;
    }
    advance(dt, -Math.min(limitMS(), REVERSE_M_S, speedBefore(-ahead)), 0);
  }

  function wait(seconds: number, dt: number): void {
    waitedS += dt;
    advance(dt, 0, 0);
    if (waitedS >= seconds) nextLeg();
  }

  return {
    pose: (): PoseRad => ({ xM, yM, yawRad }),
    /** Position at which it stops when it abandons its path now; the next path starts there. */
    restingPlace(): Point {
      const kept = { xM, yM, yawRad, speed, turnRate, segment, abandoned };
      abandoned ??= currentPath();
      while (abandoned) brake(abandoned, REST_STEP_S);
      const place = { xM, yM };
      ({ xM, yM, yawRad, speed, turnRate, segment, abandoned } = kept);
      return place;
    },
    /** Metres per second, negative backwards. */
    speed: () => speed,
    /** The way that it still makes when it brakes now, in metres. */
    brakingM: () => speed ** 2 / (2 * BRAKING_M_S2),
    isBusy: () => legs.length > 0,
    isStill: () => speed === 0 && turnRate === 0,
    setPose(pose: PoseRad): void {
      ({ xM, yM } = pose);
      yawRad = wrapRad(pose.yawRad);
      speed = 0;
      turnRate = 0;
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
        if (leg.kind === 'reverse') length += index === 0 ? distance(leg.to) : 0;
        if (leg.kind !== 'follow') continue;
        if (index === 0 && !abandoned) length += remainingOn(leg.points);
        else length += wayLength(leg.points);
      }
      return length;
    },
    /** One step of at most 50 ms; brakes when `mayDrive` is false. */
    step(dt: number, mayDrive: boolean): void {
      const leg = legs[0];
      if (!mayDrive) {
        advance(dt, 0, 0);
        leaveAtRest();
      } else if (abandoned) brake(abandoned, dt);
      else if (!leg) advance(dt, 0, 0);
      else if (leg.kind === 'follow') follow(leg.points, dt);
      else if (leg.kind === 'turn') turn(leg.yawRad, dt);
      else if (leg.kind === 'reverse') reverse(leg.to, dt);
      else wait(leg.seconds, dt);
    },
    /** One step without a way, for faults; stops before a position that `mayStand` rejects. */
    steer(dt: number, speedMS: number, turnRadS: number, mayStand: (at: Point) => boolean): void {
      legs = [];
      abandoned = undefined;
      const before = { xM, yM };
      advance(dt, Math.max(-limitMS(), Math.min(limitMS(), speedMS)), turnRadS);
      if (mayStand({ xM, yM })) return;
      ({ xM, yM } = before);
      speed = 0;
    },
    /** One step of turning in place, for faults that make the unit of the heading visible. */
    spin(dt: number, rateRadS: number): void {
      advance(dt, 0, rateRadS);
    },
  };
}

export type Drive = ReturnType<typeof createDrive>;

function wayLength(points: readonly Point[]): number {
  let length = 0;
  for (let i = 1; i < points.length; i += 1) {
    const from = points[i - 1];
    const to = points[i];
    if (from && to) length += Math.hypot(to.xM - from.xM, to.yM - from.yM);
  }
  return length;
}
