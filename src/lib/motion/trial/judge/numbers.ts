import { judgeStanding, type PoseUnit, type Standing } from '../../../chassis/index.ts';
import type { PoseSample } from '../samples.ts';

/**
 * Arithmetic of readings whose unit is on trial. Plain numbers on purpose: an `ori` is compared with its value in
 * degrees and in radians, and no result is ever sent.
 */

export const TURN_DEG = 360;
export const TURN_RAD = 2 * Math.PI;

/** A difference reduced by full turns of `circle` to [-circle/2, circle/2]. */
export function shortWay(difference: number, circle: number): number {
  return difference - circle * Math.round(difference / circle);
}

/** The number of a heading in radians, from degrees. */
export function numberInRadians(deg: number): number {
  return (shortWay(deg, TURN_DEG) * Math.PI) / 180;
}

/** How far a reported number would be from a heading, in degrees, if it were in radians. */
export function offIfInRadians(ori: number, deg: number): number {
  return (Math.abs(shortWay(ori - numberInRadians(deg), TURN_RAD)) * 180) / Math.PI;
}

/** The degrees of a reported number, if it were in gradians: 400 to the circle. */
export function degreesOfGradians(ori: number): number {
  return ori * 0.9;
}

export interface Middle {
  readonly value: number;
  /** Largest distance of a reading from it, on the circle. */
  readonly spread: number;
  /** Distance between the two outermost readings. */
  readonly range: number;
}

/** Median of readings on a circle of this length; null without readings. */
export function middleOf(readings: readonly number[], circle: number): Middle | null {
  const [first] = readings;
  if (first === undefined) return null;
  const offsets = readings.map((reading) => shortWay(reading - first, circle)).toSorted((a, b) => a - b);
  const middle = offsets[Math.floor(offsets.length / 2)] ?? 0;
  const spread = Math.max(...offsets.map((offset) => Math.abs(offset - middle)));
  return { value: first + middle, spread, range: (offsets.at(-1) ?? 0) - (offsets[0] ?? 0) };
}

export interface Place {
  readonly xM: number;
  readonly yM: number;
}

export function distanceM(a: Place, b: Place): number {
  return Math.hypot(a.xM - b.xM, a.yM - b.yM);
}

/** A larger distance between two samples, beyond the speed below, is a relocalisation. Project decisions. */
const NOISE_M = 0.1;
const MAX_SPEED_M_S = 3;

/** The largest jump of the position that driving cannot explain, in metres; 0 when there is none. */
export function largestJumpM(samples: readonly PoseSample[]): number {
  let largest = 0;
  for (const [index, sample] of samples.entries()) {
    const before = samples[index - 1];
    if (before === undefined) continue;
    const wayM = distanceM(before, sample);
    const gapMs = sample.atMs - before.atMs + (before.lateMs ?? 0);
    if (wayM > NOISE_M + (MAX_SPEED_M_S * gapMs) / 1_000) largest = Math.max(largest, wayM);
  }
  return largest;
}

export const MIN_REST_SAMPLES = 3;

/** Where a robot stands. Whether it does is not said here: see `restSince`. */
export interface Rest extends Place {
  readonly ori: number;
  readonly samples: number;
  /** Scatter of the position along one axis (standard deviation). */
  readonly noiseM: number;
}

/** Mean place and median heading of the samples; null for fewer than three. */
export function restOf(samples: readonly PoseSample[]): Rest | null {
  const heading = middleOf(
    samples.map(({ ori }) => ori),
    TURN_DEG,
  );
  if (heading === null || samples.length < MIN_REST_SAMPLES) return null;
  const mean = (value: (sample: PoseSample) => number) =>
    samples.reduce((sum, sample) => sum + value(sample), 0) / samples.length;
  const place = { xM: mean(({ xM }) => xM), yM: mean(({ yM }) => yM) };
  const squares = samples.reduce((sum, sample) => sum + distanceM(sample, place) ** 2, 0);
  return {
    ...place,
    ori: heading.value,
    samples: samples.length,
    noiseM: Math.sqrt(squares / (2 * (samples.length - 1))),
  };
}

/**
 * A heading of undecided unit decides nothing within ten seconds where it has noise of half a degree, and before the
 * first trial the unit is not decided. Project decision.
 */
export const MAX_REST_WINDOW_MS = 30_000;

export interface RestInput {
  readonly poses: readonly PoseSample[];
  readonly unit: PoseUnit;
  /** Only poses from here on count. */
  readonly sinceMs?: number | undefined;
  /** The time of the newest pose by default. */
  readonly nowMs?: number | undefined;
}

/** Whether the robot stands by its newest poses, and where; `rest` is null unless it stands. */
export function restSince({ poses, unit, sinceMs, nowMs = poses.at(-1)?.atMs ?? 0 }: RestInput): {
  readonly standing: Standing;
  readonly rest: Rest | null;
  /** The poses that the verdict is about begin here. */
  readonly fromMs: number;
} {
  const since = sinceMs === undefined ? {} : { sinceMs };
  const standing = judgeStanding({ poses, unit, nowMs, maxMs: MAX_REST_WINDOW_MS, ...since });
  const fromMs = (poses.at(-1)?.atMs ?? 0) - standing.overMs;
  const isStanding = standing.verdict === 'stands';
  return { standing, rest: isStanding ? restOf(poses.filter(({ atMs }) => atMs >= fromMs)) : null, fromMs };
}
