import type { PoseSample } from '../pose-sample.ts';

/** A heading that changes in one direction: range, start time, and number of samples. */
interface Progress {
  readonly from: number;
  readonly to: number;
  readonly sinceMs: number;
  readonly samples: number;
}

/**
 * A robot turned by hand may swing back; this much belongs to the same turn. Project decision, in radians: about 30
 * degrees.
 */
const MAX_SWING_BACK = 0.5;

/**
 * Tracks the latest stretch in which a continuous heading changed in one direction, on average at least as fast as
 * `minPace` (unit of the heading per second). Standing still and swinging back end a stretch.
 */
function createProgress(direction: 1 | -1, minPace: number) {
  let from = 0;
  let furthest = 0;
  let sinceMs = 0;
  let samples = 0;

  function restart(heading: number, atMs: number): void {
    from = heading;
    furthest = heading;
    sinceMs = atMs;
    samples = 0;
  }

  return {
    restart: (heading: number, atMs: number) => restart(direction * heading, atMs),
    /** True while there is a stretch. */
    add(heading: number, atMs: number): boolean {
      const along = direction * heading;
      if (along - from <= (minPace * (atMs - sinceMs)) / 1_000 || furthest - along > MAX_SWING_BACK) {
        restart(along, atMs);
        return false;
      }
      if (along > furthest) furthest = along;
      samples += 1;
      return true;
    },
    length: () => furthest - from,
    read: (): Progress => ({ from: direction * from, to: direction * furthest, sinceMs, samples }),
  };
}

const TURN = 2 * Math.PI;
/** Reported headings may be rounded: 3.15 may still be π. Project decision. */
const SLACK = 0.01;
/** Radians, the short way round. Project decision: a larger step between two samples is not followed. */
const MAX_STEP = 2;
/** Project decision: after a longer gap the direction of the turn is unknown. */
const MAX_GAP_MS = 2_500;
/** Radians per second. Project decision: a robot is not turned through a circle slower than 15 degrees per second. */
const MIN_PACE = 0.25;
/** Project decision: a circle turned by hand ends near its start, not exactly there. */
const NEARLY_A_TURN = (7 / 8) * TURN;
/**
 * Project decision: a seam is passed at the rate of the turn. For a proof the step across it may differ from the
 * previous step by this much, in radians, and by three times the average difference of steps so far.
 */
const SEAM_FLOOR = 0.05;
const SEAM_SPREAD = 3;
/** Project decision: a heading that scatters more passes seams by chance. */
const MAX_SPREAD = 0.15;
/** Project decision: beyond this it is no indication of a seam, but another jump. */
const MAX_DOUBTFUL_SEAM_ERROR = 1;
/**
 * Project decision: read as degrees, a heading that passes a seam of radians jumps by 6.28 degrees and returns to its
 * former rate between two samples. No robot does that in a quarter of a second; in a second it may, so rarer samples
 * prove nothing. `STALL_MS` is the possible delay of samples: it is added to the time over which they are averaged.
 */
const MAX_MEAN_GAP_MS = 250;
const STALL_MS = 5_000;
/**
 * Log odds (natural) that the steps are those of a turn and not of a heading that jumps at random. Project decisions:
 * the odds needed for a doubt, their cap, and the penalty for a step that does not fit.
 */
const MIN_LOG_ODDS = 12;
const MAX_LOG_ODDS = 16;
const MISFIT_PENALTY = 2;

export interface RadianRange {
  readonly low: number;
  /** For texts. */
  readonly name: string;
  readonly seam: string;
}

export const radianRanges: readonly RadianRange[] = [
  { low: -Math.PI, name: '±π', seam: 'the seam at ±π' },
  { low: 0, name: '0 to 2π', seam: 'the seam between 2π and 0' },
];

const over = ({ samples, sinceMs }: Progress, atMs: number) =>
  `${samples} samples in ${((atMs - sinceMs) / 1_000).toFixed(1)} s`;

export interface TurnSigns {
  /** One sentence, when degrees could not have produced the followed turn. */
  proof: string | null;
  /** One sentence, when radians explain it better. */
  doubt: string | null;
}

const nothing: TurnSigns = { proof: null, doubt: null };

/**
 * Tracks a heading as radians within one range, sample by sample, also across the seam. The turn is reset when the
 * heading leaves the range, when a step or a gap is too large, and when the seam is passed by a jump that does not fit
 * the turn.
 */
export function createTurnInRange(range: RadianRange) {
  const ways = [createProgress(1, MIN_PACE), createProgress(-1, MIN_PACE)] as const;
  /** The same since the last seam that was passed inexactly. */
  const exactWays = [createProgress(1, MIN_PACE), createProgress(-1, MIN_PACE)] as const;
  let last: PoseSample | null = null;
  let heading = 0;
  let lastStep = Number.NaN;
  let spread = 0;
  let steps = 0;
  let logOdds = 0;

  function begin(sample: PoseSample): TurnSigns {
    last = sample;
    heading = sample.ori;
    lastStep = Number.NaN;
    spread = 0;
    steps = 0;
    logOdds = 0;
    for (const way of [...ways, ...exactWays]) way.restart(heading, sample.atMs);
    return nothing;
  }

  function weigh(step: number): void {
    const error = Math.abs(step - lastStep);
    const tolerance = Math.max(0.15, 0.35 * Math.abs(step + lastStep) * 0.5);
    logOdds = Math.min(MAX_LOG_ODDS, logOdds + (error <= tolerance ? -Math.log(tolerance / Math.PI) : -MISFIT_PENALTY));
  }

  return {
    add(sample: PoseSample): TurnSigns {
      const { ori, atMs } = sample;
      if (ori < range.low - SLACK || ori > range.low + TURN + SLACK) {
        last = null;
        return nothing;
      }
      if (last === null) return begin(sample);
      const raw = ori - last.ori;
      const isCrossing = Math.abs(raw) > Math.PI;
      const step = isCrossing ? raw - Math.sign(raw) * TURN : raw;
      if (Math.abs(step) > MAX_STEP || atMs - last.atMs > MAX_GAP_MS) return begin(sample);
      const error = Math.abs(step - lastStep);
      if (isCrossing && !(error <= MAX_DOUBTFUL_SEAM_ERROR)) return begin(sample);
      const isExact = !isCrossing || (spread <= MAX_SPREAD && error <= SEAM_FLOOR + SEAM_SPREAD * spread);
      if (!Number.isNaN(lastStep)) {
        weigh(step);
        steps += 1;
        spread += (error - spread) / Math.min(steps, 20);
      }
      if (logOdds < 0) return begin(sample);
      last = sample;
      lastStep = step;
      heading += step;
      if (!isExact) for (const way of exactWays) way.restart(heading, atMs);
      let signs = nothing;
      for (const way of ways) {
        if (way.add(heading, atMs) && way.length() >= NEARLY_A_TURN) signs = doubtOf(way.read(), atMs) ?? signs;
      }
      for (const way of exactWays) {
        if (way.add(heading, atMs) && way.length() >= TURN) signs = proofOf(way.read(), atMs) ?? signs;
      }
      return signs;
    },
    forget(): void {
      last = null;
    },
  };

  /** A heading within the slack beside the seam has not passed it yet. */
  function seamsIn({ from, to }: Progress): number {
    const [least, most] = from < to ? [from, to] : [to, from];
    const seams = Math.floor((most - SLACK - range.low) / TURN) - Math.floor((least + SLACK - range.low) / TURN);
    return Math.max(0, seams);
  }

  function doubtOf(way: Progress, atMs: number): TurnSigns | null {
    if (logOdds < MIN_LOG_ODDS || seamsIn(way) === 0) return null;
    return {
      proof: null,
      doubt: `the heading passed ${range.seam} and stayed within ${range.name} (${over(way, atMs)}), as radians of a turning robot do`,
    };
  }

  function proofOf(way: Progress, atMs: number): TurnSigns | null {
    const seams = seamsIn(way);
    if (logOdds < MIN_LOG_ODDS || seams < 2 || (atMs - way.sinceMs + STALL_MS) / way.samples > MAX_MEAN_GAP_MS)
      return null;
    return {
      proof: `the heading passed ${range.seam} ${seams} times in one direction and never left ${range.name} (${over(way, atMs)}), as only radians do`,
      doubt: null,
    };
  }
}

/** Radians per second. Project decision: a robot is not turned by hand faster than 150 degrees per second. */
const MAX_PACE = 2.6;
/** Noise of two samples, in radians. Project decision. */
const NOISE = 0.3;
/** Radians per second. Project decision: slower is more likely a drifting heading in degrees. */
const MIN_STEADY_PACE = 0.3;
/** A robot that is turned in place moves by less. Project decision. */
const IN_PLACE_M = 0.3;

/**
 * Tracks a heading without any range: unwrapped radians of a robot that turns in place. Read as degrees the same would
 * be a robot that turns slowly by a few degrees, which is possible: a doubt and never a proof.
 */
export function createSteadyTurn() {
  const ways = [createProgress(1, MIN_STEADY_PACE), createProgress(-1, MIN_STEADY_PACE)] as const;
  let last: PoseSample | null = null;
  let place: PoseSample | null = null;

  function begin(sample: PoseSample): null {
    last = sample;
    place = sample;
    for (const way of ways) way.restart(sample.ori, sample.atMs);
    return null;
  }

  return {
    /** One sentence of doubt, or null. */
    add(sample: PoseSample): string | null {
      if (last === null || place === null) return begin(sample);
      const gapMs = sample.atMs - last.atMs;
      const isFollowed = gapMs <= MAX_GAP_MS && Math.abs(sample.ori - last.ori) <= (MAX_PACE * gapMs) / 1_000 + NOISE;
      if (!isFollowed || Math.hypot(sample.xM - place.xM, sample.yM - place.yM) > IN_PLACE_M) return begin(sample);
      last = sample;
      let isTurning = false;
      for (const way of ways) {
        if (!way.add(sample.ori, sample.atMs)) continue;
        isTurning = true;
        if (way.length() < NEARLY_A_TURN) continue;
        const seconds = (sample.atMs - way.read().sinceMs) / 1_000;
        return `the heading changed steadily by ${way.length().toFixed(1)} within ${seconds.toFixed(1)} s in place, a turn if it is in radians`;
      }
      if (!isTurning) place = sample;
      return null;
    },
    forget(): void {
      last = null;
    },
  };
}
