import type { PoseSample } from '../pose-sample.ts';
import { noiseOf } from './noise.ts';
import { createStandingJudge, SLOWEST_M_S, type StandingInput } from './standing.ts';

/** What became of a robot whose cancel the chassis acknowledged. */
export interface AfterStop {
  /** 'drives-on': it went further than braking explains. 'not-known' is not standing. */
  readonly verdict: 'stands' | 'drives-on' | 'not-known';
  /** Why, as a clause. */
  readonly reason: string;
  /** By the arrival of its poses it did not obey, but they may have been late: whether it obeyed is not decided. */
  readonly isTimeInDoubt?: true;
}

export interface AfterStopInput extends Omit<StandingInput, 'sinceMs'> {
  /** When the chassis acknowledged the cancel. */
  readonly acknowledgedAtMs: number;
  /** When the robot was last ordered to drive; null: long before, or its poses show the drive. */
  readonly orderedAtMs: number | null;
}

/** Project decisions: what a robot that stops may need. The platform states no braking. */
const REACTION_S = 0.3;
const BRAKING_M_S2 = 0.6;
/** The fastest robot. Project decision. */
const MAX_SPEED_M_S = 1.2;
/** By then the fastest robot has braked. */
const BRAKED_AFTER_S = REACTION_S + MAX_SPEED_M_S / BRAKING_M_S2;
/** A speed is taken over at least this; a slow one over the longer time, so that noise is not a speed. Project decisions. */
const SPEED_MS = 500;
const SLOW_SPEED_MS = 2_000;
const SLOW_M_S = 0.15;
/** So long after its order a robot may still gain speed, until it brakes. Project decision. */
const SETS_OUT_MS = 3_000;
/** A robot that moved less than this within that time had hardly set out: it is faster than on average since. Project decisions. */
const SET_OUT_M = 0.03;
const SET_OUT_MS = 400;
/** A pose that may be older when it arrives does not show the speed at the cancel: the robot may have set out since. Project decision. */
const SHOWS_SPEED_WITHIN_MS = 200;
/** A robot that is slower than this part of its speed has braked, however long its way was. Project decisions. */
const BRAKED_PART = 0.3;
const BRAKED_M_S = 0.05;
/** Its speed while it brakes is taken over at least this, and is an estimate. Project decisions. */
const BRAKES_MS = 300;
const FASTER_BY = 1.2;
const FASTER_BY_M_S = 0.02;
/** What is under way for less arrives at once. Project decision. */
const AT_ONCE_MS = 200;
/** Poses further apart show no speed. */
const MAX_APART_MS = 4_000;
/**
 * Two places of a robot that stands, each the mean of two poses, are not further apart by noise than this multiple of it.
 * Project decision.
 */
const NOISE_OF_MEANS = 5;
/** The same of two poses; of many, more are by chance. Project decisions. */
const NOISE = 7;
const NOISE_OF_FEW = 6.2;
const FEW_POSES = 10;

/**
 * Judges, pose by pose, whether the robot obeyed. An acknowledged cancel is a word; the way since then is the deed: no
 * further than braking explains, and then standing. Poses that came late are judged by both times between which they were
 * measured, and only what both show is known.
 */
export function judgeAfterStop(input: AfterStopInput): AfterStop {
  const { poses } = input;
  const longestMs = Math.max(0, ...poses.map(agoMs));
  if (longestMs === 0) return judgeAt(input);
  const arrived = judgeAt({ ...input, poses: poses.map(({ lateMs: _lateMs, ...pose }) => pose) });
  if (arrived.verdict === 'not-known') return arrived;
  const earliest = judgeAt({
    ...input,
    poses: poses.map((pose) => ({ ...pose, atMs: pose.atMs - agoMs(pose), delayMs: 0 })),
  });
  if (earliest.verdict === arrived.verdict) return arrived;
  const seconds = `${(longestMs / 1_000).toFixed(1)} s`;
  const areLate = poses.some(({ lateMs }) => lateMs === longestMs);
  const how = areLate ? `poses arrived in bunches, up to ${seconds} late` : `poses were under way for up to ${seconds}`;
  const reason = `${arrived.reason}; but ${how}`;
  return { verdict: 'not-known', reason, ...(arrived.verdict === 'drives-on' && { isTimeInDoubt: true }) };
}

/** How long before its arrival a pose may have been measured. */
function agoMs({ lateMs = 0, delayMs = 0 }: PoseSample): number {
  return Math.max(lateMs, delayMs < AT_ONCE_MS ? 0 : delayMs);
}

function judgeAt(input: AfterStopInput): AfterStop {
  const { poses, acknowledgedAtMs, nowMs, unit } = input;
  const newest = poses.at(-1);
  if (newest === undefined || newest.atMs <= acknowledgedAtMs) {
    return { verdict: 'not-known', reason: 'no pose was received since the cancel' };
  }
  // Only what it did since: a robot that stood before may be setting out, too slowly to be seen beside that rest.
  const standingSince = createStandingJudge({ poses, nowMs, unit });
  const standing = standingSince(acknowledgedAtMs);
  if (standing.verdict === 'stands') return { verdict: 'stands', reason: standing.reason };
  const wayM = furtherThanBraking(input, newest);
  if (wayM !== null) {
    const sinceS = ((newest.atMs - acknowledgedAtMs) / 1_000).toFixed(1);
    const reason = `it went ${wayM.toFixed(2)} m further, more than braking explains, within ${sinceS} s after the cancel`;
    return { verdict: 'drives-on', reason };
  }
  const braked = standingSince(brakedFromMs(input, newest));
  if (braked.verdict === 'moves') return { verdict: 'drives-on', reason: braked.reason };
  return {
    verdict: 'not-known',
    reason: standing.verdict === 'moves' ? `it still moves: ${standing.reason}` : standing.reason,
  };
}

/** A pose that is repeated may be of the time before: then only from a new one on is it known what the robot does. */
function brakedFromMs({ poses, acknowledgedAtMs }: AfterStopInput, { isStepwise }: PoseSample): number {
  const brakedMs = acknowledgedAtMs + BRAKED_AFTER_S * 1_000;
  if (isStepwise !== true) return brakedMs;
  const isNew = (pose: PoseSample, at: number) => {
    const before = poses[at - 1];
    return pose.atMs > brakedMs && before !== undefined && (wayBetween(before, pose) > 0 || before.ori !== pose.ori);
  };
  return poses.find(isNew)?.atMs ?? Number.POSITIVE_INFINITY;
}

/** How far it went, in metres; null: no further than braking explains, or poses are repeated, which shows no speed. */
function furtherThanBraking(input: AfterStopInput, newest: PoseSample): number | null {
  if (newest.isStepwise === true) return null;
  const further = [...whileSteady(input, newest), ...whileBraking(input, newest)].filter(
    ({ wayM, allowedM }) => wayM > allowedM,
  );
  // Noise allows more only, and looking for it takes longer than all the rest.
  if (further.length === 0) return null;
  const noiseM = noiseOf(input.poses);
  return further.find(({ wayM, allowedM, noises }) => wayM > allowedM + noises * noiseM)?.wayM ?? null;
}

interface Way {
  readonly wayM: number;
  /** Without noise. */
  readonly allowedM: number;
  /** How many times the noise of the position is allowed in addition. */
  readonly noises: number;
}

/** At the cancel a robot that has been driving for a while has the speed that it had before. */
function whileSteady({ poses, acknowledgedAtMs, orderedAtMs }: AfterStopInput, newest: PoseSample): readonly Way[] {
  if (orderedAtMs !== null && acknowledgedAtMs - orderedAtMs < SETS_OUT_MS) return [];
  const at = poses.findLastIndex(({ atMs }) => atMs <= acknowledgedAtMs);
  const pose = poses[at];
  const speedMS = pose === undefined ? null : speedAt(poses, pose);
  if (pose === undefined || speedMS === null) return [];
  if ((pose.lateMs ?? 0) > SHOWS_SPEED_WITHIN_MS) return [];
  const nowMS = speedOver(SPEED_MS, poses, newest)?.speedMS ?? speedMS;
  if (speedMS > SLOW_M_S && nowMS < BRAKED_PART * speedMS + BRAKED_M_S) return [];
  const fastestMS = atMost(speedMS);
  const onS = (acknowledgedAtMs - pose.atMs) / 1_000 + REACTION_S;
  const wayM = wayBetween(meanPlace(poses, at), meanPlace(poses, poses.length - 1));
  const allowedM = fastestMS * onS + brakingM(fastestMS) + coarseM(newest);
  return [{ wayM, allowedM, noises: NOISE_OF_MEANS }];
}

/** Once it should brake, a robot that obeys only becomes slower, whatever speed it had gained before. */
function whileBraking({ poses, acknowledgedAtMs }: AfterStopInput, newest: PoseSample): readonly Way[] {
  const brakesFromMs = acknowledgedAtMs + REACTION_S * 1_000;
  const from = poses.findLast(({ atMs }) => atMs <= brakesFromMs) ?? poses[0];
  const fromMs = Math.max(brakesFromMs, from?.atMs ?? 0);
  const pose = poses.find(({ atMs }) => atMs >= fromMs + BRAKES_MS);
  if (from === undefined || pose === undefined || pose.atMs - from.atMs > MAX_APART_MS) return [];
  // It came this far at least while it braked, so it was no faster at the end.
  const brakesS = (pose.atMs - fromMs) / 1_000;
  const endMS = Math.max(0, wayBetween(from, pose) / brakesS - (BRAKING_M_S2 * brakesS) / 2);
  const isFew = poses.filter(({ atMs }) => atMs > acknowledgedAtMs).length <= FEW_POSES;
  const allowedM = brakingM(atMost(endMS)) + coarseM(newest);
  return [{ wayM: wayBetween(pose, newest), allowedM, noises: isFew ? NOISE_OF_FEW : NOISE }];
}

/** Poses that change coarsely may be so far from the place of the robot. */
function coarseM({ restMs = 0 }: PoseSample): number {
  return (SLOWEST_M_S * restMs) / 1_000;
}

function brakingM(speedMS: number): number {
  return speedMS ** 2 / (2 * BRAKING_M_S2);
}

function atMost(speedMS: number): number {
  return Math.min(MAX_SPEED_M_S, FASTER_BY * speedMS + FASTER_BY_M_S);
}

/** Speed at this pose, from the poses before it; null where they do not show it. */
function speedAt(poses: readonly PoseSample[], pose: PoseSample): number | null {
  const recent = speedOver(SPEED_MS, poses, pose);
  if (recent === null) return null;
  const { from, speedMS } = recent;
  const before = poses.findLast(({ atMs }) => atMs <= from.atMs - SET_OUT_MS);
  const isNear = before !== undefined && from.atMs - before.atMs <= MAX_APART_MS;
  // Twice its mean speed where it had not set out before.
  const risingMS = isNear && wayBetween(before, from) < SET_OUT_M ? 2 * speedMS : speedMS;
  return risingMS > SLOW_M_S ? risingMS : (speedOver(SLOW_SPEED_MS, poses, pose)?.speedMS ?? risingMS);
}

/** Mean speed in the time before this pose, from another one on; null where the poses do not show it. */
function speedOver(leastMs: number, poses: readonly PoseSample[], pose: PoseSample) {
  const from = poses.findLast(({ atMs }) => atMs <= pose.atMs - leastMs);
  if (from === undefined || pose.atMs - from.atMs > MAX_APART_MS) return null;
  return { from, speedMS: (wayBetween(from, pose) * 1_000) / (pose.atMs - from.atMs) };
}

/** Of this pose and the one before it, where there is one. */
function meanPlace(poses: readonly PoseSample[], at: number): Pick<PoseSample, 'xM' | 'yM'> {
  const pose = poses[at] ?? { xM: 0, yM: 0 };
  const before = poses[at - 1] ?? pose;
  return { xM: (pose.xM + before.xM) / 2, yM: (pose.yM + before.yM) / 2 };
}

function wayBetween(a: Pick<PoseSample, 'xM' | 'yM'>, b: Pick<PoseSample, 'xM' | 'yM'>): number {
  return Math.hypot(b.xM - a.xM, b.yM - a.yM);
}
