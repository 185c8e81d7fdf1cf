import { z } from 'zod';
import { createTrack, judgeStanding, type PoseSample, type Standing } from '../../chassis/index.ts';
import { GwError } from '../../error/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import type { Finding } from '../finding.result.ts';
import { type FindingStart, notChecked, ok, wrong } from '../finding.ts';
import { orderOnceItStands } from '../motion/standstill.ts';
import { type OperatorAccess, type OperatorSession, steadyOperatorAccess } from '../operator/access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { StopCheck } from './gateway.result.ts';
import { onlyPose, type ReportedPose, readLiveRobot } from './live-robot.ts';

/** Project decisions: time limits for the answer to a stop, and for standstill from walking pace. */
const ANSWER_LIMIT_MS = 1_000;
const STANDSTILL_LIMIT_MS = 3_000;
/** Standstill proves a stop only if the robot was driving before. */
const DRIVEN_M = 0.1;
const DRIVES_WITHIN_MS = 20_000;
/** The poses of a robot at rest decide within this time, also one per second. */
const REST_WATCH_MS = 15_000;
/** Poses of a robot at rest are within this distance of its place. Project decision. */
const REST_M = 0.03;
const POLL_MS = 50;

const stopSchema = z.looseObject({
  stop: z.looseObject({ latched: z.boolean(), saved: z.union([z.boolean(), z.literal('pending')]).optional() }),
});
const runSchema = z.looseObject({ run: z.looseObject({ state: z.string() }).nullable() });

/**
 * Starts a tour, stops the robot while it drives, measures time and distance to rest, checks that the stop is latched,
 * and clears it as a signed-in person. THE ROBOT MOVES: the caller has asked a person. After an interruption the robot
 * stays stopped. Throws OPERATOR_NOT_REACHABLE, the error of the sign-in or of the tour, MOTION_STOPPED.
 */
export async function checkStop(
  toolkit: Toolkit,
  { tour, password }: { readonly tour: string; readonly password: string },
  context: CheckContext,
): Promise<StopCheck> {
  const { clock } = toolkit;
  const operator = steadyOperatorAccess(toolkit, context);
  // Before the robot moves: without a session the stop could not be cleared.
  await using session = await operator.signIn(password);
  if ((await operator.ask('GET', '/api/stopp', stopSchema)).stop.latched) {
    throw new GwError('MOTION_STOPPED', 'The robot is stopped already, so a stop cannot be measured.', {
      remedy: 'Find out the reason of the stop, clear it with `gw motion clear`, then run this again.',
    });
  }
  const from = (await readLiveRobot(operator)).pose;
  const order = () => session.ask('POST', '/api/touren/lauf', runSchema, { tour });
  await orderOnceItStands(order, session, { clock }, context);
  let sent: SentStop | null = null;
  let driving: ReportedPose | null = null;
  try {
    context.onProgress(`waiting until the robot drives tour ${tour}`);
    driving = await waitUntilDriving(operator, from, clock, context.signal);
  } finally {
    // In any case: the robot was set in motion by this check.
    sent = await sendStop(operator, clock);
  }
  context.onProgress('stopped; watching the robot come to rest, for 4 to 15 s');
  const rest = await watchRest(operator, sent.atMs, clock, context);
  const findings = [
    answeredFinding(sent),
    drivingFinding(driving),
    standstillFinding(driving, rest),
    await holdsFinding(session, tour),
    await clearedFinding(operator, session),
  ];
  // Rest at the end of its drive is no effect of the stop.
  const stoppedFrom = rest.moveState === 'cancelled' ? driving : null;
  const distanceM =
    stoppedFrom === null || rest.at === null
      ? null
      : Math.hypot(rest.at.xM - stoppedFrom.xM, rest.at.yM - stoppedFrom.yM);
  return {
    tour,
    answeredMs: sent.tookMs,
    standstillMs: stoppedFrom === null ? null : rest.standstillMs,
    distanceM: distanceM === null ? null : Math.round(distanceM * 1000) / 1000,
    findings,
  };
}

/** The first pose while driving; null when the robot did not drive in time. */
async function waitUntilDriving(
  operator: OperatorAccess,
  from: ReportedPose | null,
  clock: Clock,
  signal: AbortSignal,
): Promise<ReportedPose | null> {
  const untilMs = clock.monotonicMs() + DRIVES_WITHIN_MS;
  let begin = from;
  while (clock.monotonicMs() < untilMs) {
    const { pose, moveState } = await readLiveRobot(operator);
    begin ??= pose;
    const isAway = pose !== null && begin !== null && Math.hypot(pose.xM - begin.xM, pose.yM - begin.yM) >= DRIVEN_M;
    if (isAway && moveState === 'moving') return onlyPose(pose);
    const { run } = await operator.ask('GET', '/api/touren/lauf', runSchema);
    if (run?.state !== 'running') return null;
    await clock.sleep(POLL_MS, signal);
  }
  return null;
}

interface SentStop {
  readonly atMs: number;
  readonly tookMs: number | null;
  readonly latched: boolean;
  /** Whether the stop survives a restart of gw; undefined: not reported by the gateway. */
  readonly saved?: boolean | 'pending' | undefined;
  readonly why: string | null;
}

async function sendStop(operator: OperatorAccess, clock: Clock): Promise<SentStop> {
  const atMs = clock.monotonicMs();
  try {
    const { stop } = await operator.ask('POST', '/api/stopp', stopSchema, { reason: 'commissioning: measured stop' });
    return {
      atMs,
      tookMs: Math.round(clock.monotonicMs() - atMs),
      latched: stop.latched,
      saved: stop.saved,
      why: null,
    };
  } catch (error) {
    return { atMs, tookMs: null, latched: false, why: error instanceof Error ? error.message : String(error) };
  }
}

interface Rest {
  readonly standstillMs: number | null;
  readonly at: ReportedPose | null;
  /** The last reported move state. */
  readonly moveState: string | null;
  /** From the poses since the stop. */
  readonly standing: Standing;
}

async function watchRest(
  operator: OperatorAccess,
  sinceMs: number,
  clock: Clock,
  { signal, onProgress }: CheckContext,
): Promise<Rest> {
  const track = createTrack();
  for (;;) {
    const { pose, moveState, poseUnit: unit } = await readLiveRobot(operator);
    const nowMs = clock.monotonicMs();
    const newest = track.poses().at(-1)?.atMs ?? sinceMs;
    // The age is rounded and read a moment later, so this margin keeps one message from counting twice.
    if (pose !== null && nowMs - pose.ageMs > newest + POLL_MS / 2) {
      track.add({ xM: pose.xM, yM: pose.yM, ori: pose.yawDeg, atMs: nowMs - pose.ageMs }, moveState === 'moving');
    }
    const poses = track.poses();
    const standing = judgeStanding({ poses, nowMs, unit });
    if (standing.verdict === 'stands' && moveState !== 'moving') {
      const atMs = restsSince(poses, standing);
      return { standstillMs: Math.round(atMs - sinceMs), at: pose && onlyPose(pose), moveState, standing };
    }
    const beganMs = (poses.at(-1)?.atMs ?? sinceMs) - standing.overMs;
    const isRunaway = standing.verdict === 'moves' && beganMs > sinceMs + STANDSTILL_LIMIT_MS;
    if (isRunaway) onProgress('THE ROBOT STILL MOVES: press the emergency stop');
    if (isRunaway || nowMs - sinceMs > REST_WATCH_MS) return { standstillMs: null, at: null, moveState, standing };
    await clock.sleep(POLL_MS, signal);
  }
}

/** The first of the poses of a robot that stands from which on it was at its place; a single one may be off by noise. */
function restsSince(poses: readonly PoseSample[], { overMs }: Standing): number {
  const newest = poses.at(-1)?.atMs ?? 0;
  const judged = poses.filter(({ atMs }) => atMs >= newest - overMs);
  const late = judged.slice(Math.floor(judged.length / 2));
  const xM = late.reduce((sum, pose) => sum + pose.xM, 0) / late.length;
  const yM = late.reduce((sum, pose) => sum + pose.yM, 0) / late.length;
  const isAway = (pose: PoseSample | undefined) =>
    pose !== undefined && Math.hypot(pose.xM - xM, pose.yM - yM) > REST_M;
  const away = poses.findLastIndex((pose, at) => isAway(pose) && (at === 0 || isAway(poses[at - 1])));
  return poses[away + 1]?.atMs ?? newest;
}

function answeredFinding({ tookMs, latched, saved, why }: SentStop): Finding {
  const start = { id: 'answered', title: 'The stop is answered at once', spec: 'Events' };
  const remedy = 'Take the robot out of service until the stop works; see the log of `gw serve`.';
  if (tookMs === null) return wrong(start, `the stop was not answered: ${why}`, remedy);
  const detail = `${tookMs} ms (up to ${ANSWER_LIMIT_MS} ms), ${latched ? 'latched' : 'NOT latched'}${savedText(saved)}`;
  return latched && saved !== false && tookMs <= ANSWER_LIMIT_MS ? ok(start, detail) : wrong(start, detail, remedy);
}

function savedText(saved: SentStop['saved']): string {
  if (saved === undefined) return '';
  if (saved === 'pending') return ', not saved yet';
  return saved ? ', saved' : ', NOT saved: a restart of gw would forget it';
}

function drivingFinding(driving: ReportedPose | null): Finding {
  const start: FindingStart = { id: 'driving', title: 'The robot was driving when it was stopped', spec: null };
  if (driving !== null) return ok(start, `more than ${DRIVEN_M} m away from its start`);
  const detail = `it did not drive more than ${DRIVEN_M} m away from its start`;
  return notChecked(start, detail, 'Use a tour whose first station is away from the robot.');
}

function standstillFinding(driving: ReportedPose | null, rest: Rest): Finding {
  const start = { id: 'standstill', title: 'The robot comes to rest', spec: 'Events' };
  const remedy = 'Take the robot out of service until the stop works.';
  if (driving === null) return notChecked(start, 'it was not driving');
  if (rest.standstillMs === null) {
    const { verdict, reason } = rest.standing;
    if (verdict === 'moves') {
      return wrong(start, `it still moves: ${reason}`, `Press the emergency stop if it still moves. ${remedy}`);
    }
    if (rest.moveState === 'moving') {
      return wrong(start, `the chassis still reports 'moving'; by its poses ${reason}`, remedy);
    }
    return notChecked(start, `its poses do not show it within ${REST_WATCH_MS / 1000} s: ${reason}`);
  }
  // A robot that continued to its goal stands there as well.
  if (rest.moveState === 'succeeded') {
    return wrong(start, "it continued to its goal: the chassis reports its move as 'succeeded'", remedy);
  }
  if (rest.moveState !== 'cancelled') {
    return notChecked(start, `it stands, but the chassis reports its move as '${rest.moveState}', not 'cancelled'`);
  }
  const detail = `at rest ${rest.standstillMs} ms after the stop (up to ${STANDSTILL_LIMIT_MS} ms)`;
  return rest.standstillMs <= STANDSTILL_LIMIT_MS ? ok(start, detail) : wrong(start, detail, remedy);
}

async function holdsFinding(operator: OperatorSession, tour: string): Promise<Finding> {
  const start = { id: 'holds', title: 'No tour starts while stopped', spec: 'Events' };
  const { status, code } = await operator.answerTo('POST', '/api/touren/lauf', { tour });
  const detail = `starting a tour answers ${status}${code === null ? '' : ` ${code}`}`;
  if (status === 423) return ok(start, detail);
  // The robot may drive now.
  await operator.answerTo('POST', '/api/stopp');
  return wrong(start, `${detail}, expected 423`, 'Take the robot out of service until a stop stays latched.');
}

async function clearedFinding(operator: OperatorAccess, session: OperatorSession): Promise<Finding> {
  const start = { id: 'cleared', title: 'Only a signed-in person clears the stop', spec: null };
  const stranger = await operator.answerTo('DELETE', '/api/stopp');
  const held = (await operator.ask('GET', '/api/stopp', stopSchema)).stop.latched;
  const cleared = await session.answerTo('DELETE', '/api/stopp');
  const latched = (await operator.ask('GET', '/api/stopp', stopSchema)).stop.latched;
  const detail = `without a session ${stranger.status}, with one ${cleared.status}; ${latched ? 'still latched' : 'cleared'}`;
  if (stranger.status === 401 && held && cleared.status === 200 && !latched) return ok(start, detail);
  return wrong(start, detail, 'See the log of `gw serve`; do not hand the robot over.');
}
