import type { PoseSample } from '../pose-sample.ts';

/** Project decisions: noise of a place is taken as at least this, whatever few poses show, and at most this is noise. */
export const NOISE_M = 0.01;
export const MAX_NOISE_M = 0.05;
/** Standard errors by which few poses may show less noise than there is. Project decision. */
const FEW_SIGMA = 2;
/** Fewer second differences than this estimate nothing. Project decision. */
const MIN_DIFFERENCES = 5;

/**
 * Noise of the position along one axis (standard deviation), in metres, as these poses show it: at least a centimetre, and
 * at most what counts as noise. Few poses may show less than there is, so it is then taken as more; with too few it is the
 * most.
 */
export function noiseOf(poses: readonly PoseSample[]): number {
  const shown = jitterOf(poses, ...placeCoordinates) ?? Number.POSITIVE_INFINITY;
  return Math.min(MAX_NOISE_M, Math.max(NOISE_M, shown * fewFactor(placeCoordinates.length * poses.length)));
}

/** By how much more noise there may be than so few values show. */
export function fewFactor(values: number): number {
  return 1 + FEW_SIGMA / Math.sqrt(values);
}

/** One number of a pose. */
export interface Coordinate {
  readonly value: (pose: PoseSample) => number;
  /** For an angle: its full turn. */
  readonly circle?: number;
  /** A circle that is removed before. */
  readonly seam?: number;
  /** How close to a full turn a jump must be to count as none; absent: the shorter way always counts. */
  readonly fullTurnWithin?: number;
}

export const placeCoordinates: readonly Coordinate[] = [{ value: ({ xM }) => xM }, { value: ({ yM }) => yM }];

/**
 * Noise of one or more coordinates (standard deviation), from second differences: a steady drive or turn cancels out of
 * them, so it is known of a moving robot too. Null where there are too few poses.
 */
export function jitterOf(poses: readonly PoseSample[], ...coordinates: readonly Coordinate[]): number | null {
  const perSeries = poses.length - 2;
  const count = coordinates.length * perSeries;
  if (count < MIN_DIFFERENCES) return null;
  // Judged with every pose: numbers of one type are sorted several times as fast.
  const differences = new Float64Array(count);
  for (const [index, coordinate] of coordinates.entries()) {
    const values = unrolled(coordinate, poses);
    for (let at = 0; at < perSeries; at += 1) {
      const second = (values[at] ?? 0) - 2 * (values[at + 1] ?? 0) + (values[at + 2] ?? 0);
      differences[index * perSeries + at] = Math.abs(second);
    }
  }
  differences.sort();
  // The median, since braking and one relocalisation are not noise; scaled as for a normal distribution.
  const median = differences[Math.floor(count / 2)] ?? 0;
  return (1.4826 * median) / Math.sqrt(6);
}

/** Relative to the first of the poses; an angle continues over its full turns. */
export function unrolled(
  { value, circle, seam, fullTurnWithin = Number.POSITIVE_INFINITY }: Coordinate,
  poses: readonly PoseSample[],
): Float64Array {
  const values = new Float64Array(poses.length);
  let at = 0;
  let before: number | undefined;
  for (const [index, pose] of poses.entries()) {
    const now = value(pose);
    const received = now - (before ?? now);
    const step = seam === undefined ? received : shortWay(received, seam);
    const short = circle === undefined ? step : shortWay(step, circle);
    at += Math.abs(short) > fullTurnWithin ? step : short;
    values[index] = at;
    before = now;
  }
  return values;
}

export function shortWay(angle: number, circle: number): number {
  return angle - circle * Math.round(angle / circle);
}
