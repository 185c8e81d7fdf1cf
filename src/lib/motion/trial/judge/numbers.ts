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
    if (wayM > NOISE_M + (MAX_SPEED_M_S * (sample.atMs - before.atMs)) / 1_000) largest = Math.max(largest, wayM);
  }
  return largest;
}

/** Project decisions: maximum scatter of a robot at rest, and minimum number of samples. */
const REST_M = 0.03;
const REST_DEG = 3;
export const MIN_REST_SAMPLES = 3;

export interface Rest extends Place {
  readonly ori: number;
  readonly samples: number;
  /** Largest distance of a position from the median position. */
  readonly driftM: number;
  /** Range of the headings, in the unit of the reading. */
  readonly driftDeg: number;
}

/** Median pose of the samples; null for fewer than three. `isAtRest` says whether the robot stands. */
export function restOf(samples: readonly PoseSample[]): Rest | null {
  const heading = middleOf(
    samples.map(({ ori }) => ori),
    TURN_DEG,
  );
  if (heading === null || samples.length < MIN_REST_SAMPLES) return null;
  const middle = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
  const place = { xM: middle(samples.map(({ xM }) => xM)), yM: middle(samples.map(({ yM }) => yM)) };
  return {
    ...place,
    ori: heading.value,
    samples: samples.length,
    driftM: Math.max(...samples.map((sample) => distanceM(sample, place))),
    driftDeg: heading.range,
  };
}

export function isAtRest(rest: Rest): boolean {
  return rest.driftM <= REST_M && rest.driftDeg <= REST_DEG;
}

/** The pose where the robot is at rest; null where it is not, or that is unknown. */
export function steadyRest(rest: Rest | null): Rest | null {
  return rest !== null && isAtRest(rest) ? rest : null;
}
