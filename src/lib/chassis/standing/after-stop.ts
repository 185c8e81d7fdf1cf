import type { PoseSample } from '../pose-sample.ts';
import { judgeStanding, type StandingInput } from './standing.ts';

/** What became of a robot whose cancel the chassis acknowledged. */
export interface AfterStop {
  /** 'drives-on': it went further than braking explains. 'not-known' is not standing. */
  readonly verdict: 'stands' | 'drives-on' | 'not-known';
  /** Why, as a clause. */
  readonly reason: string;
}

export interface AfterStopInput extends Omit<StandingInput, 'sinceMs'> {
  /** When the chassis acknowledged the cancel. */
  readonly acknowledgedAtMs: number;
  /** When the robot was last ordered to drive; null: long before, or unknown. */
  readonly orderedAtMs: number | null;
}

/** Project decisions: what a robot that stops may need. The platform states no braking. */
const REACTION_S = 0.3;
const BRAKING_M_S2 = 0.6;
/** A speed is an estimate. */
const FASTER_BY = 1.2;
const FASTER_BY_M_S = 0.02;
/** Project decisions: so long after its order a robot may still gain speed, until it brakes. */
const SETS_OUT_MS = 3_000;
const GAIN_M_S2 = 1.4;
/** A robot that moved less than this within that time had hardly set out: it is faster than on average since. Project decisions. */
const SET_OUT_M = 0.03;
const SET_OUT_MS = 400;
/** A robot that is slower than this part of its speed has braked, however long its way was. Project decisions. */
const BRAKED_PART = 0.3;
const BRAKED_M_S = 0.05;
/** The fastest robot; also where its speed is not known. Project decision. */
const MAX_SPEED_M_S = 1.2;
/** A speed is taken over at least this; a slow one over the longer time, so that noise is not a speed. Project decisions. */
const SPEED_MS = 500;
const SLOW_SPEED_MS = 2_000;
const SLOW_M_S = 0.15;
/** A robot that brakes loses more than this part of its speed within the time. Project decisions. */
const SLOWER_AFTER_MS = 1_000;
const UNBRAKED_PART = 0.85;
/** Poses further apart show no speed. */
const MAX_APART_MS = 4_000;
/** Two places of a robot that stands, each the mean of two poses, are not further apart by noise. Project decision. */
const NOISE_M = 0.05;
/** A robot that stood before is proven to stand by a pose at least this much later: an order under way may begin. */
const LATER_MS = 1_000;

/**
 * Judges, pose by pose, whether the robot obeyed. An acknowledged cancel is a word; the way since then is the deed: no
 * further than its speed and braking explain, and then standing.
 */
export function judgeAfterStop(input: AfterStopInput): AfterStop {
  const { poses, acknowledgedAtMs, nowMs, unit } = input;
  const newest = poses.at(-1);
  const standing = judgeStanding({ poses, nowMs, unit });
  if (newest === undefined || newest.atMs <= acknowledgedAtMs) {
    return { verdict: 'not-known', reason: 'no pose was received since the cancel' };
  }
  if (standing.verdict === 'stands') {
    if (newest.atMs - acknowledgedAtMs >= LATER_MS) return { verdict: 'stands', reason: standing.reason };
    return { verdict: 'not-known', reason: 'no pose a second after the cancel was received yet' };
  }
  const at = Math.max(
    0,
    poses.findLastIndex(({ atMs }) => atMs <= acknowledgedAtMs),
  );
  const { wayM: allowedM, brakingS, measuredMS } = braking(input, poses[at] ?? newest);
  const [start, end] = [placeAt(poses, at), placeAt(poses, poses.length - 1)];
  const wayM = start === null || end === null ? 0 : Math.hypot(end.xM - start.xM, end.yM - start.yM);
  const nowMS = speedOver(SPEED_MS, poses, newest);
  const wasMS = measuredMS ?? MAX_SPEED_M_S;
  const hasBraked = wasMS > SLOW_M_S && nowMS !== null && nowMS < BRAKED_PART * wasMS + BRAKED_M_S;
  if (wayM > allowedM + NOISE_M && !hasBraked) {
    const sinceS = ((newest.atMs - acknowledgedAtMs) / 1_000).toFixed(1);
    const reason = `it went ${wayM.toFixed(2)} m, more than braking explains, within ${sinceS} s after the cancel`;
    return { verdict: 'drives-on', reason };
  }
  if (isUnbraked(input, newest, nowMS)) {
    return {
      verdict: 'drives-on',
      reason: `it drives at ${(nowMS ?? 0).toFixed(2)} m/s, no slower than a second before`,
    };
  }
  const braked = judgeStanding({ poses, nowMs, unit, sinceMs: acknowledgedAtMs + brakingS * 1_000 });
  if (braked.verdict === 'moves') return { verdict: 'drives-on', reason: braked.reason };
  return {
    verdict: 'not-known',
    reason: standing.verdict === 'moves' ? `it still moves: ${standing.reason}` : standing.reason,
  };
}

/** Whether it drives as fast as a second before, although it had time to begin to brake. */
function isUnbraked({ poses, acknowledgedAtMs }: AfterStopInput, newest: PoseSample, nowMS: number | null): boolean {
  const brakesFromMs = acknowledgedAtMs + REACTION_S * 1_000;
  const then = poses.findLast(({ atMs }) => atMs <= newest.atMs - SLOWER_AFTER_MS);
  if (then === undefined || nowMS === null || nowMS <= SLOW_M_S) return false;
  const thenMS = speedOver(
    SPEED_MS,
    poses.filter(({ atMs }) => atMs >= brakesFromMs),
    then,
  );
  return thenMS !== null && nowMS >= UNBRAKED_PART * thenMS;
}

/** How far the robot goes at most from this pose on, the last one before the cancel, and for how long after the cancel. */
function braking({ poses, acknowledgedAtMs, orderedAtMs }: AfterStopInput, from: PoseSample) {
  const beforeS = Math.max(0, acknowledgedAtMs - from.atMs) / 1_000;
  const measuredMS = speedAt(poses, from);
  const speedMS = FASTER_BY * (measuredMS ?? MAX_SPEED_M_S) + FASTER_BY_M_S;
  const setsOut = orderedAtMs !== null && acknowledgedAtMs - orderedAtMs < SETS_OUT_MS;
  const gainsS = setsOut ? beforeS + REACTION_S : 0;
  const topMS = Math.max(speedMS, Math.min(MAX_SPEED_M_S, speedMS + GAIN_M_S2 * gainsS));
  const onM = setsOut ? topMS * gainsS : (measuredMS ?? MAX_SPEED_M_S) * beforeS + speedMS * REACTION_S;
  const wayM = onM + (topMS * topMS) / (2 * BRAKING_M_S2);
  return { wayM, brakingS: topMS / BRAKING_M_S2 + REACTION_S, measuredMS };
}

/** Mean of this pose and the one before it, where there is one. */
function placeAt(poses: readonly PoseSample[], at: number): { readonly xM: number; readonly yM: number } | null {
  const pose = poses[at];
  if (pose === undefined) return null;
  const before = poses[at - 1] ?? pose;
  return { xM: (pose.xM + before.xM) / 2, yM: (pose.yM + before.yM) / 2 };
}

/** Speed at this pose, from the poses before it; null where they do not show it. */
function speedAt(poses: readonly PoseSample[], at: PoseSample): number | null {
  const recently = risingSpeed(SPEED_MS, poses, at);
  if (recently === null || recently > SLOW_M_S) return recently;
  return speedOver(SLOW_SPEED_MS, poses, at) ?? recently;
}

/** A robot that had not set out before is at twice its mean speed. */
function risingSpeed(leastMs: number, poses: readonly PoseSample[], at: PoseSample): number | null {
  const meanMS = speedOver(leastMs, poses, at);
  const from = poses.findLast(({ atMs }) => atMs <= at.atMs - leastMs);
  if (meanMS === null || from === undefined) return meanMS;
  const before = poses.findLast(({ atMs }) => atMs <= from.atMs - SET_OUT_MS);
  const isNear = before !== undefined && from.atMs - before.atMs <= MAX_APART_MS;
  return isNear && wayBetween(before, from) < SET_OUT_M ? 2 * meanMS : meanMS;
}

function speedOver(leastMs: number, poses: readonly PoseSample[], at: PoseSample): number | null {
  const before = poses.findLast(({ atMs }) => atMs <= at.atMs - leastMs);
  if (before === undefined || at.atMs - before.atMs > MAX_APART_MS) return null;
  return (wayBetween(before, at) * 1_000) / (at.atMs - before.atMs);
}

function wayBetween(a: PoseSample, b: PoseSample): number {
  return Math.hypot(b.xM - a.xM, b.yM - a.yM);
}
