import type { Point } from '../floor/grid.ts';
import { wrapRad } from './heading.ts';

/** What the robot may do at most, all of it positive. */
export interface DriveLimits {
  readonly speedMS: number;
  readonly reverseSpeedMS: number;
  readonly accelerationMS2: number;
  readonly turnRateRadS: number;
}

/** Project decision, of the size that delivery robots have. */
const BRAKING_M_S2 = 2;
const TURN_ACCELERATION_RAD_S2 = 4;

/** The robot looks this far ahead on its way and steers there. */
const LOOK_AHEAD_M = 0.3;
/** Beyond this error of heading it stands and turns. */
const STAND_AND_TURN_RAD = 0.6;
const ARRIVED_M = 0.01;
const CRAWL_M_S = 0.05;
const REST_STEP_S = 0.05;

export interface PoseRad extends Point {
  readonly yawRad: number;
}

/** One leg of what the robot does. */
export type Leg =
  | { readonly kind: 'follow'; readonly points: readonly Point[] }
  | { readonly kind: 'turn'; readonly yawRad: number }
  /** Backwards along its own heading, as onto a dock. */
  | { readonly kind: 'reverse'; readonly to: Point }
  | { readonly kind: 'wait'; readonly seconds: number };

/**
 * A robot that turns on the spot and drives along its heading, with bounded speeds and accelerations. The limits are
 * asked for at every step, since people may change them on the way.
 */
export function createDrive(start: PoseRad, limits: () => DriveLimits) {
  let { xM, yM, yawRad } = start;
  let speed = 0;
  let turnRate = 0;
  let legs: Leg[] = [];
  let segment = 0;
  let waitedS = 0;
  /** The way that it comes to rest on before it takes another one: off it, it would brush the next corner. */
  let leaving: readonly Point[] | undefined;

  const approach = (from: number, to: number, by: number) => from + Math.max(-by, Math.min(by, to - from));

  function advance(dt: number, wantedSpeed: number, wantedTurn: number): void {
    const rising = Math.abs(wantedSpeed) > Math.abs(speed);
    speed = approach(speed, wantedSpeed, (rising ? limits().accelerationMS2 : BRAKING_M_S2) * dt);
    turnRate = approach(turnRate, wantedTurn, TURN_ACCELERATION_RAD_S2 * dt);
    yawRad = wrapRad(yawRad + turnRate * dt);
    xM += speed * Math.cos(yawRad) * dt;
    yM += speed * Math.sin(yawRad) * dt;
  }

  /** The speed from which the robot can still come to rest within this way; the last of it is a crawl. */
  function speedBefore(wayM: number): number {
    const braking = Math.sqrt(2 * limits().accelerationMS2 * wayM) * 0.95;
    return Math.max(CRAWL_M_S, Math.min(braking, 5 * wayM));
  }

  /** The turn rate from which the robot can still come to rest at the wanted heading. */
  function turnTowards(error: number): number {
    const most = Math.sqrt(2 * TURN_ACCELERATION_RAD_S2 * Math.abs(error)) * 0.8;
    return Math.sign(error) * Math.min(limits().turnRateRadS, most);
  }

  function wayUnderWay(): readonly Point[] | undefined {
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
    advance(dt, aligned * Math.min(limits().speedMS, speedBefore(remaining)), turnTowards(error));
  }

  /** A way point is behind once the robot is nearer to the next stretch than the look-ahead. */
  function passPoints(points: readonly Point[], end: Point): void {
    while (segment < points.length - 2 && distance(points[segment + 1] ?? end) < LOOK_AHEAD_M * 0.5) segment += 1;
  }

  /** Brakes on the way that it leaves. */
  function brake(points: readonly Point[], dt: number): void {
    const end = points.at(-1) ?? { xM, yM };
    passPoints(points, end);
    const target = pointAhead(points, LOOK_AHEAD_M);
    const isAhead = distance(target) > LOOK_AHEAD_M * 0.5;
    const error = isAhead ? wrapRad(Math.atan2(target.yM - yM, target.xM - xM) - yawRad) : 0;
    advance(dt, 0, turnTowards(error));
    if (speed !== 0) return;
    leaving = undefined;
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

  /** The point on the way that lies `aheadM` beyond where the robot is. */
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
    advance(dt, -Math.min(limits().reverseSpeedMS, speedBefore(-ahead)), 0);
  }

  function wait(seconds: number, dt: number): void {
    waitedS += dt;
    advance(dt, 0, 0);
    if (waitedS >= seconds) nextLeg();
  }

  return {
    pose: (): PoseRad => ({ xM, yM, yawRad }),
    /** Where it will stand when it leaves its present way now: from there the next one begins. */
    restingPlace(): Point {
      const kept = { xM, yM, yawRad, speed, turnRate, segment, leaving };
      leaving ??= wayUnderWay();
      while (leaving) brake(leaving, REST_STEP_S);
      const place = { xM, yM };
      ({ xM, yM, yawRad, speed, turnRate, segment, leaving } = kept);
      return place;
    },
    /** Metres a second, negative backwards. */
    speed: () => speed,
    isBusy: () => legs.length > 0,
    isStill: () => speed === 0 && turnRate === 0,
    setPose(pose: PoseRad): void {
      ({ xM, yM } = pose);
      yawRad = wrapRad(pose.yawRad);
      speed = 0;
      turnRate = 0;
      legs = [];
      leaving = undefined;
    },
    go(next: readonly Leg[]): void {
      leaving ??= wayUnderWay();
      legs = [...next];
      if (!leaving) segment = 0;
      waitedS = 0;
    },
    /** Metres still to drive. */
    remainingM(): number {
      let length = 0;
      for (const [index, leg] of legs.entries()) {
        if (leg.kind === 'reverse') length += index === 0 ? distance(leg.to) : 0;
        if (leg.kind !== 'follow') continue;
        if (index === 0 && !leaving) length += remainingOn(leg.points);
        else length += wayLength(leg.points);
      }
      return length;
    },
    /** One step of at most a few hundredths of a second; `mayDrive` false brakes. */
    step(dt: number, mayDrive: boolean): void {
      const leg = legs[0];
      if (!mayDrive) advance(dt, 0, 0);
      else if (leaving) brake(leaving, dt);
      else if (!leg) advance(dt, 0, 0);
      else if (leg.kind === 'follow') follow(leg.points, dt);
      else if (leg.kind === 'turn') turn(leg.yawRad, dt);
      else if (leg.kind === 'reverse') reverse(leg.to, dt);
      else wait(leg.seconds, dt);
    },
    /** Which point of this way it passed last, by index; the last one once the way is behind it. */
    passedOn(points: readonly Point[]): number {
      const leg = legs[0];
      if (leg?.kind === 'follow' && leg.points === points) return leaving ? 0 : segment;
      return legs.some((later) => later.kind === 'follow' && later.points === points) ? 0 : points.length - 1;
    },
    /** Drives by hand for one step, along its heading and turning; where `mayStand` says no, it stops before. */
    steer(dt: number, speedMS: number, turnRadS: number, mayStand: (at: Point) => boolean): void {
      legs = [];
      leaving = undefined;
      const before = { xM, yM };
      const { speedMS: forward, reverseSpeedMS: backward, turnRateRadS: turning } = limits();
      advance(dt, Math.max(-backward, Math.min(forward, speedMS)), Math.max(-turning, Math.min(turning, turnRadS)));
      if (mayStand({ xM, yM })) return;
      ({ xM, yM } = before);
      speed = 0;
    },
    /** Turns in place for as long as it is called: how a fault makes the unit of the heading visible. */
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
