import { z } from 'zod';
import { GwError } from '../../error/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import type { Finding } from '../finding.result.ts';
import { type FindingStart, notChecked, ok, wrong } from '../finding.ts';
import { type OperatorAccess, type OperatorSession, steadyOperatorAccess } from '../operator/access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { StopCheck } from './commissioning-checks.result.ts';
import { type LiveRobot, onlyPose, type ReportedPose, readLiveRobot } from './live-robot.ts';

/** Project decisions: what 'at once' is for a stop, and for a robot at walking pace. */
const ANSWER_LIMIT_MS = 1_000;
const STANDSTILL_LIMIT_MS = 3_000;
/** Only a robot that was seen driving proves anything when it stands afterwards. */
const DRIVEN_M = 0.1;
const DRIVES_WITHIN_MS = 20_000;
const REST_WATCH_MS = 8_000;
/** At rest: this many poses in a row, over at least so long, all within this distance. */
const REST_POSES = 3;
const REST_MS = 1_000;
const REST_M = 0.02;
const POLL_MS = 50;

const stopSchema = z.looseObject({
  stop: z.looseObject({ latched: z.boolean(), saved: z.union([z.boolean(), z.literal('pending')]).optional() }),
});
const runSchema = z.looseObject({ run: z.looseObject({ state: z.string() }).nullable() });

/**
 * Starts a tour, stops the robot while it drives, measures how it comes to rest, looks whether the stop holds, and
 * clears it as a signed-in person. THE ROBOT MOVES: the caller has asked a person. When it is interrupted the robot
 * stays stopped. Throws OPERATOR_NOT_REACHABLE, why the sign-in or the tour was refused, MOTION_STOPPED.
 */
export async function checkStop(
  toolkit: Toolkit,
  { tour, password }: { readonly tour: string; readonly password: string },
  context: CheckContext,
): Promise<StopCheck> {
  const { clock } = toolkit;
  const operator = steadyOperatorAccess(toolkit, context);
  // Before anything moves: a stop that nobody can clear would leave the robot standing there.
  await using session = await operator.signIn(password);
  if ((await operator.ask('GET', '/api/stopp', stopSchema)).stop.latched) {
    throw new GwError('MOTION_STOPPED', 'The robot is stopped already, so a stop cannot be measured.', {
      remedy: 'Find out who stopped it and why, clear the stop, then run this again.',
    });
  }
  const from = (await readLiveRobot(operator)).pose;
  await session.ask('POST', '/api/touren/lauf', runSchema, { tour });
  let sent: SentStop | null = null;
  let driving: ReportedPose | null = null;
  try {
    context.onProgress(`waiting until the robot drives tour ${tour}`);
    driving = await waitUntilDriving(operator, from, clock, context.signal);
  } finally {
    // Whatever happened on the way: what this check set in motion, it stops.
    sent = await sendStop(operator, clock);
  }
  context.onProgress('stopped; watching the robot come to rest');
  const rest = await watchRest(operator, sent.atMs, clock, context.signal);
  const findings = [
    answeredFinding(sent),
    drivingFinding(driving),
    standstillFinding(driving, rest),
    await holdsFinding(session, tour),
    await clearedFinding(operator, session),
  ];
  const distanceM =
    driving === null || rest.at === null ? null : Math.hypot(rest.at.xM - driving.xM, rest.at.yM - driving.yM);
  return {
    tour,
    answeredMs: sent.tookMs,
    standstillMs: driving === null ? null : rest.standstillMs,
    distanceM: distanceM === null ? null : Math.round(distanceM * 1000) / 1000,
    findings,
  };
}

/** The pose at which it was seen driving; null when it was not seen doing so in time. */
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
  /** Whether the stop would outlive gw; undefined: the gateway does not tell. */
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
  /** What the chassis said of its move last. */
  readonly moveState: string | null;
  readonly poses: number;
}

async function watchRest(operator: OperatorAccess, sinceMs: number, clock: Clock, signal: AbortSignal): Promise<Rest> {
  /** Poses that are near to each other, oldest first, with when they were received. */
  let still: { readonly pose: ReportedPose; readonly atMs: number }[] = [];
  let poses = 0;
  let last: LiveRobot = { pose: null, moveState: null };
  while (clock.monotonicMs() - sinceMs < REST_WATCH_MS) {
    last = await readLiveRobot(operator);
    const { pose, moveState } = last;
    const atMs = pose === null ? 0 : clock.monotonicMs() - pose.ageMs;
    const newest = still.at(-1)?.atMs ?? sinceMs;
    // The age is whole milliseconds and read a moment later, so one message must not count as two.
    if (pose !== null && atMs > newest + POLL_MS / 2) {
      poses += 1;
      const first = still[0];
      const isStill = first !== undefined && Math.hypot(pose.xM - first.pose.xM, pose.yM - first.pose.yM) <= REST_M;
      still = isStill ? [...still, { pose: onlyPose(pose), atMs }] : [{ pose: onlyPose(pose), atMs }];
      const restedMs = atMs - (still[0]?.atMs ?? atMs);
      if (still.length >= REST_POSES && restedMs >= REST_MS && moveState !== 'moving') {
        return { standstillMs: Math.round((still[0]?.atMs ?? atMs) - sinceMs), at: onlyPose(pose), moveState, poses };
      }
    }
    await clock.sleep(POLL_MS, signal);
  }
  return { standstillMs: null, at: null, moveState: last.moveState, poses };
}

function answeredFinding({ tookMs, latched, saved, why }: SentStop): Finding {
  const start = { id: 'answered', title: 'The stop is answered at once', spec: 'Events' };
  const remedy = 'Take the robot out of service until a stop stops it; see the log of `gw serve`.';
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
  if (driving !== null) return ok(start, `more than ${DRIVEN_M} m on its way`);
  const detail = `it was not seen driving more than ${DRIVEN_M} m away from its start`;
  return notChecked(start, detail, 'Drive a tour whose first station is not where the robot stands.');
}

function standstillFinding(driving: ReportedPose | null, rest: Rest): Finding {
  const start = { id: 'standstill', title: 'It comes to rest', spec: 'Events' };
  const remedy = 'Take the robot out of service until a stop stops it.';
  if (driving === null) return notChecked(start, 'it was not driving');
  if (rest.standstillMs === null) {
    const word = rest.moveState === null ? 'nothing' : `'${rest.moveState}'`;
    if (rest.poses < REST_POSES) {
      return notChecked(start, `only ${rest.poses} poses were received in ${REST_WATCH_MS / 1000} s after the stop`);
    }
    return wrong(start, `not within ${REST_WATCH_MS / 1000} s; the chassis reports ${word} of its move`, remedy);
  }
  // A robot that drove on to its goal stands there as well.
  if (rest.moveState === 'succeeded') {
    return wrong(start, "it drove on to its goal: the chassis reports its move as 'succeeded'", remedy);
  }
  if (rest.moveState !== 'cancelled') {
    return notChecked(start, `it stands, and the chassis reports '${rest.moveState}' of its move, not 'cancelled'`);
  }
  const detail = `at rest ${rest.standstillMs} ms after the stop (up to ${STANDSTILL_LIMIT_MS} ms)`;
  return rest.standstillMs <= STANDSTILL_LIMIT_MS ? ok(start, detail) : wrong(start, detail, remedy);
}

async function holdsFinding(operator: OperatorSession, tour: string): Promise<Finding> {
  const start = { id: 'holds', title: 'While stopped no tour starts', spec: 'Events' };
  const { status, code } = await operator.answerTo('POST', '/api/touren/lauf', { tour });
  const detail = `starting a tour answers ${status}${code === null ? '' : ` ${code}`}`;
  if (status === 423) return ok(start, detail);
  // It may drive now.
  await operator.answerTo('POST', '/api/stopp');
  return wrong(start, `${detail}, expected 423`, 'Take the robot out of service until a stop holds.');
}

async function clearedFinding(operator: OperatorAccess, session: OperatorSession): Promise<Finding> {
  const start = { id: 'cleared', title: 'Only a signed-in person clears it', spec: null };
  const stranger = await operator.answerTo('DELETE', '/api/stopp');
  const held = (await operator.ask('GET', '/api/stopp', stopSchema)).stop.latched;
  const cleared = await session.answerTo('DELETE', '/api/stopp');
  const latched = (await operator.ask('GET', '/api/stopp', stopSchema)).stop.latched;
  const detail = `without a session ${stranger.status}, with one ${cleared.status}; ${latched ? 'still latched' : 'cleared'}`;
  if (stranger.status === 401 && held && cleared.status === 200 && !latched) return ok(start, detail);
  return wrong(start, detail, 'See the log of `gw serve`; do not hand the robot over.');
}
