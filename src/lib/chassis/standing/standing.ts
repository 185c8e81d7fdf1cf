import type { z } from 'zod';
import type { PoseSample, PoseUnit } from '../pose-sample.ts';
import type { standingSchema } from '../view.ts';
import { type Coordinate, fewFactor, jitterOf, MAX_NOISE_M, NOISE_M, placeCoordinates, unrolled } from './noise.ts';

export type Standing = Readonly<z.infer<typeof standingSchema>>;

export interface StandingInput {
  /** Oldest first. */
  readonly poses: readonly PoseSample[];
  /** By the same clock as the poses. */
  readonly nowMs: number;
  /** Unit of `ori`: an undecided one is read in both units, and the robot stands only if it does in both. */
  readonly unit: PoseUnit;
  /** Only poses from here on count. */
  readonly sinceMs?: number;
  /** The longest time that is judged together; by default 10 s, and 30 s while the unit is undecided. */
  readonly maxMs?: number;
}

/** Project decisions. A slower robot cannot be distinguished from one that stands. */
export const SLOWEST_M_S = 0.02;
export const SLOWEST_DEG_S = 2;
/** While the unit is undecided, as radians: five degrees per second. */
const SLOWEST_UNDECIDED_RAD_S = 0.087;
/** Project decisions: standing is judged over at least this time and so many poses, and over the longer at most. */
export const MIN_MS = 3_000;
const MAX_MS = 20_000;
/** A noisy heading of undecided unit takes longer, with one pose a second. Project decision. */
export const MAX_UNDECIDED_MS = 30_000;
const MIN_POSES = 4;
/**
 * Project decisions: fewer poses never say that it moves, since one jump of the position is no movement. Read as radians,
 * the noise of a heading in degrees is large, and a few poses underestimate it.
 */
const MIN_MOVING_POSES = 3;
const MIN_UNDECIDED_MOVING_POSES = 6;
const MAX_UNDECIDED_JITTER = 0.8;
/** In radians a jump this close to a full turn is one; the noise of a heading in degrees must not be taken for it. */
const FULL_TURN_WITHIN_RAD = 0.7;
/** Project decisions: an older pose says nothing about now, and a longer gap nothing about the time in it. */
export const MAX_AGE_MS = 3_000;
const MAX_GAP_MS = 3_000;
/** Project decisions: the same of a heading as of a place (noise.ts). */
const NOISE_DEG = 0.5;
const MAX_NOISE_DEG = 3;
/** Neighbouring positions share their error: at most so many per second count as independent. Project decision. */
const INDEPENDENT_PER_S = 2;
/** The same where poses are repeated: as many within the time that a rest then has to last. Project decision. */
const INDEPENDENT_PER_REST = 2;
/**
 * Standard errors between the estimate and the slowest robot, and between standing and a moving robot. Read as radians,
 * half a degree of noise is half a turn of noise, far beyond any robot that does report radians: fewer will do.
 */
const STANDS_SIGMA = 4.5;
const UNDECIDED_STANDS_SIGMA = 3;
const MOVES_SIGMA = 5;
/** Project decisions: what the last moment shows of a movement that a longer time shows, and by how many standard errors. */
const RECENT_S = 1.05;
const CEASED_SIGMA = 4;
/** A scatter beyond this multiple of the noise from pose to pose is a movement to and fro. Project decision. */
const MAX_SCATTER = 2;

/** One coordinate of a pose: what counts as slow and as noise in it. */
interface Axis extends Coordinate {
  readonly name: 'place' | 'heading';
  readonly slowest: number;
  readonly noise: number;
  readonly maxNoise: number;
  /** What is assumed while too few poses show the noise; at least `noise`. */
  readonly unknownNoise?: number;
  /** With more noise from pose to pose, as received, its full turns cannot be counted: it decides nothing. */
  readonly asReceived?: { readonly coordinate: Coordinate; readonly maxJitter: number };
  readonly minMovingPoses: number;
  readonly standsSigma: number;
  readonly independentPerS: number;
  /** Clause for a change per second. */
  readonly describe: (perS: number) => string;
}

const placeAxis = (coordinate: Coordinate): Axis => ({
  ...coordinate,
  name: 'place',
  slowest: SLOWEST_M_S,
  noise: NOISE_M,
  maxNoise: MAX_NOISE_M,
  minMovingPoses: MIN_MOVING_POSES,
  standsSigma: STANDS_SIGMA,
  independentPerS: INDEPENDENT_PER_S,
  describe: (perS) => `it moves at ${perS.toFixed(2)} m/s`,
});

const inDegrees: Axis = {
  name: 'heading',
  value: ({ ori }) => ori,
  circle: 360,
  slowest: SLOWEST_DEG_S,
  noise: NOISE_DEG,
  maxNoise: MAX_NOISE_DEG,
  minMovingPoses: MIN_MOVING_POSES,
  standsSigma: STANDS_SIGMA,
  independentPerS: INDEPENDENT_PER_S,
  describe: (perS) => `it turns at ${perS.toFixed(1)}°/s`,
};

/** No robot turns by half of it, in radians, from pose to pose. */
const DEGREES_SEAM = 360;
const toRad = (deg: number) => (deg * Math.PI) / 180;

const inRadians: Axis = {
  name: 'heading',
  value: ({ ori }) => ori,
  circle: 2 * Math.PI,
  slowest: toRad(SLOWEST_DEG_S),
  noise: toRad(NOISE_DEG),
  maxNoise: toRad(MAX_NOISE_DEG),
  minMovingPoses: MIN_MOVING_POSES,
  standsSigma: STANDS_SIGMA,
  independentPerS: INDEPENDENT_PER_S,
  describe: (perS) => `its heading changes by ${perS.toFixed(2)} per second, which is a turn if it is in radians`,
};

/** The noise of a heading in degrees, read as radians, must not hide that the robot stands. */
const perhapsRadians: Axis = {
  ...inRadians,
  slowest: SLOWEST_UNDECIDED_RAD_S,
  maxNoise: MAX_NOISE_DEG,
  unknownNoise: NOISE_DEG,
  // As received, but for the seam of degrees: a heading at 0 or ±180 jumps by a full turn to and fro, noise in either reading.
  asReceived: { coordinate: { value: ({ ori }) => ori, circle: DEGREES_SEAM }, maxJitter: MAX_UNDECIDED_JITTER },
  seam: DEGREES_SEAM,
  fullTurnWithin: FULL_TURN_WITHIN_RAD,
  minMovingPoses: MIN_UNDECIDED_MOVING_POSES,
  standsSigma: UNDECIDED_STANDS_SIGMA,
  independentPerS: Number.POSITIVE_INFINITY,
};

const headingAxes: Readonly<Record<PoseUnit, readonly Axis[]>> = {
  degrees: [inDegrees],
  radians: [inRadians],
  'not-decided': [inDegrees, perhapsRadians],
};

const places: readonly Axis[] = placeCoordinates.map(placeAxis);

/**
 * Judges from the newest poses, over as short a time as decides: first whether the robot moves, and from three seconds
 * on whether it stands. So a robot that came to rest is said to move until its rest alone decides, and one that sets out
 * is noticed with its first poses.
 */
export function judgeStanding({ sinceMs, ...input }: StandingInput): Standing {
  return createStandingJudge(input)(sinceMs);
}

/** Judges the same poses from several times on: their noise is looked for once. */
export function createStandingJudge(input: Omit<StandingInput, 'sinceMs'>): (sinceMs?: number) => Standing {
  const axes = [...places, ...headingAxes[input.unit]];
  let noises: readonly Noise[] | null = null;
  return (sinceMs = Number.NEGATIVE_INFINITY) =>
    judge({ ...input, sinceMs }, (rest) => {
      noises ??= axes.map((axis) => noiseAlong(axis, input.poses));
      return noises.map((noise) => seriesOf(noise, rest, input.poses.length));
    });
}

type Prepare = (rest: readonly PoseSample[]) => readonly Series[];

function judge(
  { poses, nowMs, unit, sinceMs, ...input }: StandingInput & { sinceMs: number },
  prepare: Prepare,
): Standing {
  const newest = poses.at(-1);
  if (newest === undefined || newest.atMs < sinceMs) return notKnown('no pose was received', 0, 0);
  const ageMs = nowMs - newest.atMs;
  if (ageMs > MAX_AGE_MS) return notKnown(`the newest pose is ${(ageMs / 1_000).toFixed(1)} s old`, 0, 0);

  const { restMs = MIN_MS } = newest;
  const longestMs = input.maxMs ?? (unit === 'not-decided' ? MAX_UNDECIDED_MS : MAX_MS);
  const rest = usable(poses, newest, sinceMs, Math.max(longestMs, restMs + MAX_GAP_MS));
  const series = prepare(rest);
  const [x, y, ...headings] = series as [Series, Series, ...Series[]];
  let doubt = '';
  let recently: readonly Found[] = [];
  for (const [at, pose] of rest.entries()) {
    for (const one of series) one.extend(at);
    const seconds = (newest.atMs - pose.atMs) / 1_000;
    const count = at + 1;
    if (seconds <= 0) continue;
    const [alongX, alongY] = [x.read(count, seconds), y.read(count, seconds)];
    const speedMS = Math.hypot(alongX.perS, alongY.perS);
    const place = {
      axis: x.axis,
      perS: speedMS,
      error: Math.max(alongX.error, alongY.error),
      errorAtMost: Math.max(alongX.errorAtMost, alongY.errorAtMost),
      scatter: Math.max(alongX.scatter, alongY.scatter),
      scatters: alongX.scatters || alongY.scatters,
    };
    const all: readonly Found[] = [place, ...headings.map((one) => ({ axis: one.axis, ...one.read(count, seconds) }))];
    const about = { speedMS, overMs: seconds * 1_000, poses: count };
    if (seconds <= RECENT_S || recently.length === 0) recently = all;
    const moving = all.find(
      (one, index) =>
        count >= one.axis.minMovingPoses &&
        Math.abs(one.perS) > MOVES_SIGMA * one.errorAtMost &&
        !hasCeased(one, recently[index], seconds),
    );
    if (moving !== undefined) {
      const reason = `${moving.axis.describe(Math.abs(moving.perS))}, by ${over(count, seconds)}`;
      return { verdict: 'moves', reason, ...about };
    }
    if (about.overMs < restMs || count < MIN_POSES) continue;
    const unclear = all.find(
      (one) => Math.abs(one.perS) + one.axis.standsSigma * one.error >= one.axis.slowest || one.scatters,
    );
    if (unclear === undefined) {
      // That it moved a while ago is still worth an alarm; that it stood is no rest of now.
      const mayBeMs = ageMs + (newest.delayMs ?? 0);
      if (mayBeMs > MAX_AGE_MS)
        return notKnown(`its poses may be ${(mayBeMs / 1_000).toFixed(1)} s old`, about.overMs, count);
      return {
        verdict: 'stands',
        reason: `it moved less than ${SLOWEST_M_S} m/s, by ${over(count, seconds)}`,
        ...about,
      };
    }
    // Of the shortest time, since a longer one may reach back into a drive; but a heading may remain when the place is clear.
    if (doubt === '' || unclear.axis.name === 'heading') doubt = doubtAbout(unclear, unit);
  }
  const overMs = newest.atMs - (rest.at(-1)?.atMs ?? newest.atMs);
  if (doubt === '' && overMs < restMs && restMs > MIN_MS) {
    doubt = `the poses of this chassis change so coarsely that only a rest of ${(restMs / 1_000).toFixed(1)} s shows`;
  }
  if (doubt !== '') return notKnown(`${doubt}, by ${over(rest.length, overMs / 1_000)}`, overMs, rest.length);
  return notKnown(`${over(rest.length, overMs / 1_000)} are too few`, overMs, rest.length);
}

type Found = Reading & { readonly axis: Axis };

/** Whether the last moment rules out the movement that a longer time shows: it was, and is no more. */
function hasCeased(moving: Found, recent: Found | undefined, seconds: number): boolean {
  if (recent === undefined || seconds <= RECENT_S) return false;
  // Its way was then made in the time before.
  const beforePerS = (Math.abs(moving.perS) * seconds) / (seconds - RECENT_S);
  return Math.abs(recent.perS) + CEASED_SIGMA * recent.error < beforePerS / 2;
}

/** The poses that can be judged together, newest first. */
function usable(
  poses: readonly PoseSample[],
  newest: PoseSample,
  sinceMs: number,
  maxMs: number,
): readonly PoseSample[] {
  const found: PoseSample[] = [newest];
  for (let at = poses.length - 2; at >= 0; at -= 1) {
    const pose = poses[at];
    const later = found.at(-1) ?? newest;
    if (pose === undefined || pose.atMs < sinceMs || newest.atMs - pose.atMs > maxMs) break;
    if (later.atMs - pose.atMs > MAX_GAP_MS) break;
    found.push(pose);
  }
  return found;
}

interface Reading {
  readonly perS: number;
  /** Standard error of `perS`; with few poses it may be as large as the second. */
  readonly error: number;
  readonly errorAtMost: number;
  readonly scatter: number;
  /** More than noise. */
  readonly scatters: boolean;
}

interface Series {
  readonly axis: Axis;
  extend(at: number): void;
  read(count: number, seconds: number): Reading;
}

/** Noise is a property of the robot: poses before the time in question show it too. */
interface Noise {
  readonly axis: Axis;
  readonly jitter: number | null;
  readonly isBlind: boolean;
}

function noiseAlong(axis: Axis, poses: readonly PoseSample[]): Noise {
  const { asReceived } = axis;
  const isBlind = asReceived !== undefined && (jitterOf(poses, asReceived.coordinate) ?? 0) > asReceived.maxJitter;
  return { axis, jitter: jitterOf(poses, axis), isBlind };
}

function seriesOf({ axis, jitter, isBlind }: Noise, poses: readonly PoseSample[], known: number): Series {
  const newest = poses[0];
  const values = unrolled(axis, poses);
  const fit = createLineFit();
  // Poses that repeat one another share their error.
  const repeatedS = newest?.isStepwise === true ? (newest.restMs ?? 0) / 1_000 : 0;
  const independentPerS = Math.min(axis.independentPerS, INDEPENDENT_PER_REST / repeatedS);
  return {
    axis,
    extend(at) {
      const pose = poses[at];
      if (pose !== undefined && newest !== undefined) fit.add((pose.atMs - newest.atMs) / 1_000, values[at] ?? 0);
    },
    read(count, seconds) {
      const { slope, squares, timeSquares } = fit.read();
      const scatter = count > 2 ? Math.sqrt(squares / (count - 2)) : 0;
      const noise = Math.max(axis.noise, jitter ?? axis.unknownNoise ?? 0, scatter);
      const noiseAtMost = Math.max(noise, (jitter ?? 0) * fewFactor(known));
      const shared = Math.max(1, (count - 1) / seconds / independentPerS);
      const scatters =
        isBlind || scatter > axis.maxNoise || scatter > Math.max(2 * axis.noise, MAX_SCATTER * (jitter ?? 0));
      const errorOf = (one: number) => (isBlind ? Number.POSITIVE_INFINITY : one * Math.sqrt(shared / timeSquares));
      return {
        perS: slope,
        error: errorOf(noise),
        errorAtMost: errorOf(noiseAtMost),
        scatter,
        scatters,
      };
    },
  };
}

function over(count: number, seconds: number): string {
  return `${count} ${count === 1 ? 'pose' : 'poses'} within ${seconds.toFixed(1)} s`;
}

function doubtAbout(found: Pick<Reading, 'scatter' | 'scatters'> & { readonly axis: Axis }, unit: PoseUnit): string {
  const { axis, scatter, scatters } = found;
  const isPlace = axis.name === 'place';
  const undecided = !isPlace && unit === 'not-decided' ? ', and its unit is not decided' : '';
  if (scatters && isPlace) return `its position scatters by ${scatter.toFixed(3)} m`;
  if (scatters) return `its heading scatters by ${scatter.toFixed(2)}${undecided}`;
  return isPlace ? 'a slow drive cannot be ruled out yet' : `a slow turn cannot be ruled out yet${undecided}`;
}

function notKnown(reason: string, overMs: number, poses: number): Standing {
  return { verdict: 'not-known', reason, speedMS: null, overMs, poses };
}

/**
 * A straight line through samples by least squares, extended one sample at a time towards the past. Values are relative
 * to the newest sample, which keeps the sums exact enough at any place of a map.
 */
function createLineFit() {
  let n = 0;
  let [t1, t2, v1, v2, tv] = [0, 0, 0, 0, 0];

  return {
    add(seconds: number, value: number): void {
      n += 1;
      t1 += seconds;
      t2 += seconds * seconds;
      v1 += value;
      v2 += value * value;
      tv += seconds * value;
    },
    /** Change per second, the mean, and the sum of squared distances from the line. Meaningless below two samples. */
    read(): { readonly slope: number; readonly squares: number; readonly timeSquares: number } {
      const timeSquares = t2 - (t1 * t1) / n;
      const together = tv - (t1 * v1) / n;
      const slope = timeSquares > 0 ? together / timeSquares : 0;
      // Rounding can leave a sum of squares just below zero.
      const squares = Math.max(0, v2 - (v1 * v1) / n - slope * together);
      return { slope, squares, timeSquares };
    },
  };
}
