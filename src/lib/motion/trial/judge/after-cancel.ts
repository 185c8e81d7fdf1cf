import { judgeAfterStop, judgeStanding, type PoseUnit } from '../../../chassis/index.ts';
import type { PoseSample } from '../samples.ts';
import { distanceM, type Rest, restSince } from './numbers.ts';

/** Poses that show the robot at rest. Times as of the samples. */
export interface RestSeen {
  readonly rest: Rest;
  readonly fromMs: number;
  readonly toMs: number;
}

/** What the robot did after a cancel, by its poses. */
export interface AfterCancel {
  /** Why it did not obey, as a clause; null while nothing shows it. */
  readonly droveOn: { readonly why: string; readonly isCertain: boolean } | null;
  /** Why it is not decided whether it obeyed: poses that arrived late may show more than braking; null without such. */
  readonly timeDoubt: string | null;
  /** Not at rest, by the newest poses: a further cancel is due. */
  readonly isMoving: boolean;
  readonly rest: RestSeen | null;
  /** At rest once more, some seconds later. */
  readonly again: RestSeen | null;
  /** Why it is not known to be at rest. */
  readonly doubt: string;
}

/** Project decision: a robot that pauses and sets out again is noticed by then. */
const AGAIN_MS = 5_000;

/**
 * Follows a robot after its cancel, pose by pose: whether it goes further than braking explains, whether it comes to
 * rest, and whether it is at rest again some seconds later. What the chassis reports of the move plays no part, nor when it
 * was ordered: the trial cancels at a pose that shows the drive, so that its poses show its speed.
 */
export function createAfterCancel(cancelAtMs: number) {
  let seen: AfterCancel = {
    ...{ droveOn: null, timeDoubt: null, isMoving: false, rest: null, again: null },
    doubt: 'no pose was received since the cancel',
  };
  let judgedAtMs = Number.NEGATIVE_INFINITY;

  return {
    get seen(): AfterCancel {
      return seen;
    },
    /** All poses so far; the newest ones are judged once. */
    update(poses: readonly PoseSample[], unit: PoseUnit, nowMs = poses.at(-1)?.atMs ?? 0): AfterCancel {
      const newestMs = poses.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY;
      if (newestMs <= Math.max(judgedAtMs, cancelAtMs)) return seen;
      judgedAtMs = newestMs;
      const drives = (as: PoseUnit) =>
        judgeAfterStop({ poses, nowMs, unit: as, acknowledgedAtMs: cancelAtMs, orderedAtMs: null }).verdict ===
        'drives-on';
      const after = judgeAfterStop({ poses, nowMs, unit, acknowledgedAtMs: cancelAtMs, orderedAtMs: null });
      const { standing, rest, fromMs } = restSince({ poses, unit, sinceMs: cancelAtMs, nowMs });
      const isMoving = after.verdict === 'drives-on';
      let { droveOn } = seen;
      const timeDoubt = seen.timeDoubt ?? (after.isTimeInDoubt ? after.reason : null);
      if (isMoving && droveOn?.isCertain !== true) {
        // A heading of undecided unit may turn slowly in one unit and not in the other.
        const isCertain = unit !== 'not-decided' || (drives('degrees') && drives('radians'));
        if (droveOn === null || isCertain) droveOn = { why: after.reason, isCertain };
      }
      const now = rest === null ? null : { rest, fromMs, toMs: newestMs };
      const first = isMoving ? null : (seen.rest ?? now);
      const isDue = first !== null && newestMs >= first.toMs + AGAIN_MS;
      const again = isMoving ? null : (seen.again ?? (isDue ? now : null));
      seen = { droveOn, timeDoubt, isMoving, rest: first, again, doubt: standing.reason };
      return seen;
    },
  };
}

/** The same from recorded poses: what was known at each of them. */
export function followedAfterCancel(poses: readonly PoseSample[], unit: PoseUnit, cancelAtMs: number): AfterCancel {
  const after = createAfterCancel(cancelAtMs);
  for (const [at, { atMs }] of poses.entries()) {
    if (atMs > cancelAtMs) after.update(poses.slice(0, at + 1), unit);
  }
  return after.seen;
}

/** Noise of a position is taken as at least this, and as at most that. Project decisions, as for standing. */
const NOISE_M = 0.01;
const MAX_NOISE_M = 0.05;
/** Standard errors between two places of one robot at rest. Project decision. */
const SIGMA = 4.5;
/** Neighbouring poses share their error: at most so many per second count as independent. Project decision. */
const INDEPENDENT_PER_S = 2;

/** How far apart the two rests are, and how far noise may put them apart, given the noise before the trial. */
export function creptM({ rest, again }: { readonly rest: RestSeen; readonly again: RestSeen }, noiseM: number) {
  const noise = Math.min(MAX_NOISE_M, Math.max(NOISE_M, noiseM, rest.rest.noiseM, again.rest.noiseM));
  const error = (one: RestSeen) => {
    const independent = Math.min(one.rest.samples, 1 + ((one.toMs - one.fromMs) / 1_000) * INDEPENDENT_PER_S);
    return noise / Math.sqrt(Math.max(1, independent));
  };
  const allowedM = SIGMA * Math.hypot(error(rest), error(again));
  const byM = distanceM(rest.rest, again.rest);
  return { byM, allowedM, hasCrept: byM > allowedM };
}

/** The slowest braking that is expected, and the slowest robot that differs from one at rest. Project decisions. */
const BRAKING_M_S2 = 0.6;
const SLOWEST_M_S = 0.02;

/**
 * Milliseconds after the cancel within which the robot came to rest: an upper bound, since noise hides the end of its
 * way, which it makes at its speed before the cancel, or braking.
 */
export function restWithinMs(
  again: RestSeen,
  poses: readonly PoseSample[],
  cancelAtMs: number,
  noiseM: number,
): number {
  const hiddenM = SIGMA * Math.min(MAX_NOISE_M, Math.max(NOISE_M, noiseM));
  const before = poses.filter(({ atMs }) => atMs <= cancelAtMs);
  const nowMs = before.at(-1)?.atMs ?? cancelAtMs;
  const { speedMS } = judgeStanding({ poses: before, nowMs, unit: 'degrees' });
  const lastAway = poses.findLastIndex((pose) => pose.atMs < again.fromMs && distanceM(pose, again.rest) > hiddenM);
  const backMs = poses[lastAway + 1]?.atMs ?? again.fromMs;
  const hiddenS = hiddenM / Math.max(SLOWEST_M_S, speedMS ?? 0) + Math.sqrt((2 * hiddenM) / BRAKING_M_S2);
  return Math.max(0, backMs - cancelAtMs) + hiddenS * 1_000;
}
