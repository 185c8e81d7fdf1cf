import type { PoseSample } from '../pose-sample.ts';
import { shortWay } from './noise.ts';
import { MIN_MS, SLOWEST_DEG_S, SLOWEST_M_S } from './standing.ts';

/**
 * How long a rest has to last in a stream that repeats its poses: an integrator measured chassis that publish a pose
 * several times a second and renew it only after 0.2 m or half a radian, rounded to 10 cm, or once in five seconds. All
 * numbers are project decisions.
 */

/** A jump of the position is no step of a robot, and neither is one of its heading. */
const JUMP_M = 0.1;
const JUMP_M_S = 3;
const JUMP_DEG = 60;
/** So many changes show how fine a stream is where none of them stands alone. */
const MIN_CHANGES = 4;
/** A larger step than 0.4 m or 40 degrees is not how finely poses are renewed; the slowest robot needs so long for it. */
const MAX_STEP_S = 20;
/** A robot may have begun at any place between two steps, and turn while only steps of its place were seen. */
const RESERVE = 1.5;
/** The next pose may be renewed as late as this multiple of the longest time so far; a longer one is another cause. */
const HELD_TIMES = 2;
const MAX_HELD_MS = 15_000;
/** Numbers within a turn of radians may be radians. */
const RADIANS_WITHIN = 2 * Math.PI + 0.01;

/** Poses that are equal in one respect, one after the other. */
interface Run {
  readonly first: PoseSample;
  count: number;
  /** How long the robot was said to drive in it. */
  drivenMs: number;
  /** What led to it from the run before; null: the first of a connection. */
  readonly by: { readonly seconds: number; readonly isJump: boolean; readonly before: Run } | null;
  /** It and the run before have several poses each: the change between them was one step. */
  isAfterStep: boolean;
}

interface Change {
  /** What the slowest robot needs for it; 0: the pose is repeated. */
  readonly seconds: number;
  readonly gapMs: number;
  readonly isJump: boolean;
  readonly isDriven: boolean;
}

/** Learns, over one connection, whether and how coarsely the chassis repeats poses. */
export function createRepeats() {
  let last: PoseSample | null = null;
  let degPerOri = 180 / Math.PI;
  const [both, place, heading] = [createRuns(), createRuns(), createRuns()];

  return {
    /**
     * How long a rest must last that these poses are to show, in milliseconds, and whether poses are repeated and renewed in
     * single steps for so long that this matters.
     */
    add(pose: PoseSample, isDriven: boolean): { readonly restMs: number; readonly isStepwise: boolean } {
      if (Math.abs(pose.ori) > RADIANS_WITHIN) degPerOri = 1;
      const { atMs, xM, yM, ori } = last ?? pose;
      last = pose;
      const gapMs = pose.atMs - atMs;
      const wayM = Math.hypot(pose.xM - xM, pose.yM - yM);
      const turnDeg = Math.abs(shortWay(pose.ori - ori, 360)) * degPerOri;
      const isJump = wayM > JUMP_M + (JUMP_M_S * gapMs) / 1_000 || turnDeg > JUMP_DEG;
      const [placeS, headingS] = [wayM / SLOWEST_M_S, turnDeg / SLOWEST_DEG_S];
      const change = { gapMs, isJump, isDriven };
      both.add(pose, { ...change, seconds: Math.max(placeS, headingS) });
      place.add(pose, { ...change, seconds: placeS });
      heading.add(pose, { ...change, seconds: headingS });
      const all = [both, place, heading];
      const stepMs = Math.max(...all.map((one) => one.stepMs()));
      return { restMs: Math.max(stepMs, ...all.map((one) => one.changeMs())), isStepwise: stepMs > MIN_MS };
    },
    /** The next pose does not continue these; what was learned of the stream holds. */
    restart(): void {
      last = null;
      for (const one of [both, place, heading]) one.restart();
    },
    /** Since when the newest pose is repeated; null without one. */
    sinceMs: () => both.sinceMs(),
  };
}

/** One respect in which poses may repeat: their place, their heading, or both. */
function createRuns() {
  let run: Run | null = null;
  let changes = 0;
  let smallestS = Number.POSITIVE_INFINITY;
  let smallestStepS = Number.POSITIVE_INFINITY;
  let heldMs = 0;

  /** The change into this run was a single step: its size is what the robot can move unseen, its time how long it may. */
  function learn(now: Run): void {
    const { by } = now;
    if (by === null) return;
    const { before, seconds, isJump } = by;
    now.isAfterStep = true;
    if (!isJump && seconds <= MAX_STEP_S) smallestStepS = Math.min(smallestStepS, seconds);
    const lastedMs = now.first.atMs - before.first.atMs;
    // Only where it was moving: as it was said, or since it had come there by a step as well.
    const movedMs = before.drivenMs === 0 && before.isAfterStep ? lastedMs : before.drivenMs;
    if (movedMs <= Math.min(MAX_HELD_MS, seconds * 1_000)) heldMs = Math.max(heldMs, movedMs);
  }

  return {
    add(pose: PoseSample, { seconds, gapMs, isJump, isDriven }: Change): void {
      if (run === null) {
        run = { first: pose, count: 1, drivenMs: 0, by: null, isAfterStep: false };
        return;
      }
      if (isDriven) run.drivenMs += gapMs;
      if (seconds === 0) {
        run.count += 1;
        if (run.count === 2 && run.by !== null && run.by.before.count > 1) learn(run);
        return;
      }
      if (!isJump) {
        changes += 1;
        smallestS = Math.min(smallestS, seconds, MAX_STEP_S);
      }
      // Not a chain of all runs.
      const before = { ...run, by: null };
      run = { first: pose, count: 1, drivenMs: 0, by: { seconds, isJump, before }, isAfterStep: false };
    },
    /** The next pose does not continue these. */
    restart(): void {
      run = null;
    },
    /** By single steps, of which no change was finer. */
    stepMs(): number {
      const fineS = Math.min(smallestStepS, smallestS);
      return Math.max(Number.isFinite(smallestStepS) ? RESERVE * fineS * 1_000 : 0, HELD_TIMES * heldMs);
    },
    /** By the finest of some changes. */
    changeMs: () => (changes >= MIN_CHANGES ? RESERVE * smallestS * 1_000 : 0),
    /** Since when the newest pose is repeated. */
    sinceMs: () => run?.first.atMs ?? null,
  };
}
