import type { PoseSample } from '../samples.ts';
import { distanceM, type Middle, middleOf, type Place, shortWay, TURN_DEG, TURN_RAD } from './numbers.ts';

/** The middle part of the way, where the robot drives along its heading without a turn. */
export interface Course {
  /** Measured by positions alone, in degrees. */
  readonly deg: number;
  readonly wayM: number;
  readonly samples: number;
  /** Median of `ori` on it, on a circle of 360 degrees and on one of 2π. */
  readonly asDegrees: Middle;
  readonly asRadians: Middle;
}

/** Project decisions: the evaluated part of the way, and the minimum of a course. */
const FROM_PART = 0.25;
const TO_PART = 0.8;
const MIN_COURSE_M = 0.1;
const MIN_COURSE_SAMPLES = 3;
/**
 * With fewer poses in that part, or where their noise makes the line through them as uncertain as this, the course is the
 * line between both places, if the poses on the way are on it.
 */
const MAX_ERROR_RAD = 0.06;
const MIN_FEW_SAMPLES = 2;
const [FROM_FEW_PART, TO_FEW_PART] = [0.1, 0.9];
const MAX_BEND_M = 0.04;
/** The same in multiples of the noise of a pose. */
const MAX_BEND = 4;

/**
 * Null where the robot did not drive far enough, poses are too few, or the way was not straight. `noiseM`: of a pose, as it
 * was at rest.
 */
export function courseOf(samples: readonly PoseSample[], from: Place, to: Place, noiseM: number): Course | null {
  const lengthM = distanceM(from, to);
  if (lengthM < 2 * MIN_COURSE_M) return null;
  const along = ({ xM, yM }: Place) =>
    ((xM - from.xM) * (to.xM - from.xM) + (yM - from.yM) * (to.yM - from.yM)) / lengthM / lengthM;
  const partOf = (least: number, most: number) =>
    samples.filter((sample) => along(sample) >= least && along(sample) <= most);
  const middle = partOf(FROM_PART, TO_PART);
  const middleM = distanceM(middle[0] ?? from, middle.at(-1) ?? from);
  const isVague = noiseM * Math.sqrt(12 / middle.length) > MAX_ERROR_RAD * middleM;
  const isFew = middle.length < MIN_COURSE_SAMPLES || isVague;
  const part = isFew ? partOf(FROM_FEW_PART, TO_FEW_PART) : middle;
  const [first] = part;
  const last = part.at(-1);
  if (first === undefined || last === undefined || part.length < MIN_FEW_SAMPLES) return null;
  const wayM = distanceM(first, last);
  if (wayM < MIN_COURSE_M) return null;
  const line = isFew ? { middle: from, xM: to.xM - from.xM, yM: to.yM - from.yM } : lineThrough(part);
  const bend = ({ xM, yM }: Place) =>
    Math.abs(line.xM * (yM - line.middle.yM) - line.yM * (xM - line.middle.xM)) / Math.hypot(line.xM, line.yM);
  const allowedM = Math.max(MAX_BEND_M, MAX_BEND * noiseM);
  if (part.some((sample) => bend(sample) > allowedM)) return null;
  const readings = part.map(({ ori }) => ori);
  const asDegrees = middleOf(readings, TURN_DEG);
  const asRadians = middleOf(readings, TURN_RAD);
  if (asDegrees === null || asRadians === null) return null;
  const deg = (Math.atan2(line.yM, line.xM) * 180) / Math.PI;
  return { deg, wayM, samples: part.length, asDegrees, asRadians };
}

/** The straight line through poses that is nearest to all of them, in the direction of their order. */
function lineThrough(poses: readonly PoseSample[]): Place & { readonly middle: Place } {
  const mean = (value: (pose: PoseSample) => number) =>
    poses.reduce((sum, pose) => sum + value(pose), 0) / poses.length;
  const middle = { xM: mean(({ xM }) => xM), yM: mean(({ yM }) => yM) };
  const xx = mean(({ xM }) => (xM - middle.xM) ** 2);
  const yy = mean(({ yM }) => (yM - middle.yM) ** 2);
  const xy = mean(({ xM, yM }) => (xM - middle.xM) * (yM - middle.yM));
  const angle = Math.atan2(2 * xy, xx - yy) / 2;
  const [first, last] = [poses[0] ?? middle, poses.at(-1) ?? middle];
  const isForwards = (last.xM - first.xM) * Math.cos(angle) + (last.yM - first.yM) * Math.sin(angle) >= 0;
  const sign = isForwards ? 1 : -1;
  return { xM: sign * Math.cos(angle), yM: sign * Math.sin(angle), middle };
}

/** Project decision: nearer to 0 or 180 degrees, a heading in radians could be taken for one in degrees. */
const TELLING_DEG = 25;

/** Whether a heading of radians, which is a small number, cannot fit this course, forwards or backwards. */
export function isTelling(courseDeg: number): boolean {
  return Math.abs(shortWay(courseDeg, 180)) >= TELLING_DEG;
}

/** Project decision: more than the tolerance of a course, on both sides. */
const SIDE_DEG = 15;

/**
 * Whether a heading that counts clockwise cannot fit this course. On one of ±90 degrees it reads as the heading of a robot
 * that drives the other way round.
 */
export function showsDirection(courseDeg: number): boolean {
  return Math.abs(shortWay(courseDeg, 90)) >= SIDE_DEG;
}

/** How far a reading is from a course on its circle; a robot may drive backwards. */
export function misfit(reading: number, course: number, circle: number): number {
  return Math.abs(shortWay(reading - course, circle / 2));
}

/** Project decision: no robot turns faster than once a second. */
const MAX_TURN_RATE_RAD_S = TURN_RAD;
/** Project decision: messages may be delayed by so much and then arrive all at once. */
const MAX_STALL_S = 5;
/** Largest step between two samples (in the unit of the reading) and largest gap that are followed. */
const MAX_STEP = 60;
const MAX_GAP_MS = 1_500;
/** So many of the largest steps are ignored: a relocalisation makes one. */
const STEPS_OFF = 2;

export interface SwiftTurn {
  /** Change of the reading in one direction, on a circle of 360. */
  readonly change: number;
  readonly tookMs: number;
}

/**
 * A change of the heading, followed from sample to sample, that is faster than radians allow: read as radians, the
 * robot would have turned more than once a second. Null when there is none.
 */
export function swiftTurnOf(samples: readonly PoseSample[]): SwiftTurn | null {
  let best: SwiftTurn | null = null;
  for (const [begin, first] of samples.entries()) {
    let change = 0;
    const largest: number[] = [];
    for (let index = begin + 1; index < samples.length; index += 1) {
      const [before, sample] = [samples[index - 1], samples[index]];
      if (before === undefined || sample === undefined) break;
      const step = shortWay(sample.ori - before.ori, TURN_DEG);
      if (Math.abs(step) > MAX_STEP || sample.atMs - before.atMs > MAX_GAP_MS) break;
      change += step;
      largest.push(Math.abs(step));
      largest.sort((a, b) => b - a);
      largest.length = Math.min(largest.length, STEPS_OFF);
      const tookMs = sample.atMs - first.atMs;
      const sure = Math.abs(change) - largest.reduce((sum, size) => sum + size, 0);
      if (sure <= MAX_TURN_RATE_RAD_S * (tookMs / 1_000 + MAX_STALL_S)) continue;
      if (best === null || Math.abs(change) > Math.abs(best.change)) best = { change, tookMs };
    }
  }
  return best;
}

/** Whether, read as radians, no step is larger than a robot can turn: no jumps. */
export function isSteadyInRadians(samples: readonly PoseSample[]): boolean {
  return samples.every((sample, index) => {
    const before = samples[index - 1];
    if (before === undefined) return true;
    const gapS = Math.min(1, (sample.atMs - before.atMs) / 1_000);
    return Math.abs(shortWay(sample.ori - before.ori, TURN_RAD)) <= 0.8 + gapS * MAX_TURN_RATE_RAD_S;
  });
}
