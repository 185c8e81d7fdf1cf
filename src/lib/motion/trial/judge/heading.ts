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
const MAX_BEND_M = 0.04;

/** Null where the robot did not drive far enough, poses are too few, or the way was not straight. */
export function courseOf(samples: readonly PoseSample[], from: Place, to: Place): Course | null {
  const lengthM = distanceM(from, to);
  if (lengthM < 2 * MIN_COURSE_M) return null;
  const along = ({ xM, yM }: Place) =>
    ((xM - from.xM) * (to.xM - from.xM) + (yM - from.yM) * (to.yM - from.yM)) / lengthM / lengthM;
  const part = samples.filter((sample) => along(sample) >= FROM_PART && along(sample) <= TO_PART);
  const [first] = part;
  const last = part.at(-1);
  if (first === undefined || last === undefined || part.length < MIN_COURSE_SAMPLES) return null;
  const wayM = distanceM(first, last);
  if (wayM < MIN_COURSE_M) return null;
  const bend = ({ xM, yM }: Place) =>
    Math.abs((last.xM - first.xM) * (yM - first.yM) - (last.yM - first.yM) * (xM - first.xM)) / wayM;
  if (part.some((sample) => bend(sample) > MAX_BEND_M)) return null;
  const readings = part.map(({ ori }) => ori);
  const asDegrees = middleOf(readings, TURN_DEG);
  const asRadians = middleOf(readings, TURN_RAD);
  if (asDegrees === null || asRadians === null) return null;
  const deg = (Math.atan2(last.yM - first.yM, last.xM - first.xM) * 180) / Math.PI;
  return { deg, wayM, samples: part.length, asDegrees, asRadians };
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
