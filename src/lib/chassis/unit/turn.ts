import { createProgress, type Progress } from './progress.ts';
import type { PoseSample } from './sample.ts';

const TURN = 2 * Math.PI;
/** Headings are printed with few digits: 3.15 may still be π. Project decision. */
const SLACK = 0.01;
/** Project decision: a longer way from one sample to the next, in radians the short way round, is not followed. */
const MAX_STEP = 2;
/** Project decision: after a longer pause the robot may have turned whichever way. */
const MAX_GAP_MS = 2_500;
/** Project decision, in radians a second: slower than 15 degrees a second nobody turns a robot through a circle. */
const MIN_PACE = 0.25;
/** Project decision: a circle that a person turns ends near its beginning, not exactly there. */
const NEARLY_A_TURN = (7 / 8) * TURN;
/**
 * Project decision: a seam is passed at the pace of the turn. For a proof the way across it may differ from the way
 * of the sample before by this much, in radians, and by three times what such ways differed on average so far.
 */
const SEAM_FLOOR = 0.05;
const SEAM_SPREAD = 3;
/** Project decision: a heading that scatters by more passes seams by accident. */
const MAX_SPREAD = 0.15;
/** Project decision: beyond this it is not even a sign, but a leap of something else. */
const MAX_DOUBTFUL_SEAM_ERROR = 1;
/**
 * Project decision: as degrees, a heading that passes a seam of radians leaps by 6.28 degrees and back to its former
 * pace between two samples. No robot does that in a quarter of a second; in a second it may, so rarer samples prove
 * nothing. `STALL_MS` is what samples may be late: their mean distance is taken that much longer.
 */
const MAX_MEAN_GAP_MS = 250;
const STALL_MS = 5_000;
/**
 * Whether steps follow each other as those of a turn do, in natural logarithms of odds against a heading that jumps
 * anywhere. Project decisions: so sure before a doubt, no surer than that, and what a step that does not fit costs.
 */
const SURE = 12;
const SUREST = 16;
const MISFIT = 2;

export interface RadianRange {
  readonly low: number;
  /** For a person. */
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
  /** One sentence, when degrees could not have produced what was followed. */
  proof: string | null;
  /** One sentence, when radians explain it better. */
  doubt: string | null;
}

const nothing: TurnSigns = { proof: null, doubt: null };

/**
 * Follows a heading as radians within one range, sample by sample, also across the seam. The turn is forgotten when
 * the heading leaves the range, when a step or a pause is too long, and when the seam is passed by a leap that does
 * not fit the turn.
 */
export function createTurnInRange(range: RadianRange) {
  const ways = [createProgress(1, MIN_PACE), createProgress(-1, MIN_PACE)] as const;
  /** The same since the last seam that was passed roughly. */
  const exactWays = [createProgress(1, MIN_PACE), createProgress(-1, MIN_PACE)] as const;
  let last: PoseSample | null = null;
  let heading = 0;
  let lastStep = Number.NaN;
  let spread = 0;
  let steps = 0;
  let sureness = 0;

  function begin(sample: PoseSample): TurnSigns {
    last = sample;
    heading = sample.ori;
    lastStep = Number.NaN;
    spread = 0;
    steps = 0;
    sureness = 0;
    for (const way of [...ways, ...exactWays]) way.restart(heading, sample.atMs);
    return nothing;
  }

  function weigh(step: number): void {
    const error = Math.abs(step - lastStep);
    const tolerance = Math.max(0.15, 0.35 * Math.abs(step + lastStep) * 0.5);
    sureness = Math.min(SUREST, sureness + (error <= tolerance ? -Math.log(tolerance / Math.PI) : -MISFIT));
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
      if (sureness < 0) return begin(sample);
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

  /** A heading that lies within the slack beside the seam has not passed it yet. */
  function seamsIn({ from, to }: Progress): number {
    const [least, most] = from < to ? [from, to] : [to, from];
    const seams = Math.floor((most - SLACK - range.low) / TURN) - Math.floor((least + SLACK - range.low) / TURN);
    return Math.max(0, seams);
  }

  function doubtOf(way: Progress, atMs: number): TurnSigns | null {
    if (sureness < SURE || seamsIn(way) === 0) return null;
    return {
      proof: null,
      doubt: `the heading passed ${range.seam} and stayed within ${range.name} (${over(way, atMs)}), as radians of a turning robot do`,
    };
  }

  function proofOf(way: Progress, atMs: number): TurnSigns | null {
    const seams = seamsIn(way);
    if (sureness < SURE || seams < 2 || (atMs - way.sinceMs + STALL_MS) / way.samples > MAX_MEAN_GAP_MS) return null;
    return {
      proof: `the heading passed ${range.seam} ${seams} times in one direction and never left ${range.name} (${over(way, atMs)}), as only radians do`,
      doubt: null,
    };
  }
}

/** Project decision, in radians a second: faster than 150 degrees a second nobody turns a robot by hand. */
const MAX_PACE = 2.6;
/** Noise of two samples, in radians. Project decision. */
const NOISE = 0.3;
/** Slower, it is rather a drifting heading in degrees. Project decision, in radians a second. */
const MIN_STEADY_PACE = 0.3;
/** A robot that is turned in place comes away from it by less. Project decision. */
const IN_PLACE_M = 0.3;

/**
 * Follows a heading without any range: unwrapped radians of a robot that turns in place, at the pace of a turn. In
 * degrees the same would be a robot that creeps round by some degrees, which is possible: a doubt and never a proof.
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
