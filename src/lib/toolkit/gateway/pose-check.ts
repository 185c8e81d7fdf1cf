import { z } from 'zod';
import { degrees, turnBetween } from '../../angle/index.ts';
import { GwError } from '../../error/index.ts';
import { poseTolerance } from '../../motion/index.ts';
import type { Finding } from '../finding.result.ts';
import { type FindingStart, notChecked, ok, wrong } from '../finding.ts';
import { type OperatorSession, steadyOperatorAccess } from '../operator/access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { PoseCheck } from './gateway.result.ts';
import { formatPose, onlyPose, type ReportedPose, readLiveRobot } from './live-robot.ts';

/** Degrees and radians are farthest apart here, and the specification measured it: 1.5708 sent is reported as 90. */
const HEADING_DEG = 90;
/** A heading near the current one would be reported even if setting the pose had no effect. */
const NEAR_DEG = 60;
const POSE_WITHIN_MS = 3_000;
const POLL_MS = 50;
/** A pose that was set is the first of those by which standing is judged anew, which takes up to 10 s. */
const AGAIN_WITHIN_MS = 15_000;
const AGAIN_MS = 500;

const outcomeSchema = z.looseObject({ outcome: z.looseObject({ state: z.string(), reason: z.string().nullable() }) });

/**
 * Sets the pose of the standing robot to another heading at its place, compares the pose reported afterwards, and
 * restores the old pose. The robot does not drive, but its localisation is wrong for a moment: THE CALLER HAS ASKED A
 * PERSON. Throws OPERATOR_NOT_REACHABLE, the error of the sign-in, and MOTION_REFUSED while the robot drives or its pose
 * is unknown.
 * @source specification, 'Angles (critical rule)': 1.5708 sent to POST /chassis/pose is reported as 90 degrees
 */
export async function checkPose(
  toolkit: Toolkit,
  { password }: { readonly password: string },
  context: CheckContext,
): Promise<PoseCheck> {
  await using session = await steadyOperatorAccess(toolkit, context).signIn(password);
  const { pose, moveState, moves } = await onceItStands(session, toolkit.clock, context.signal);
  if (pose === null)
    throw new GwError('MOTION_REFUSED', 'The gateway has received no pose, so the old one could not be restored.');
  if (moveState === 'moving' || moves !== null) {
    const why = moves === null ? 'The robot drives' : `The robot moves by its poses (${moves})`;
    throw new GwError('MOTION_REFUSED', `${why}; its pose can be set only at standstill.`);
  }
  const before = onlyPose(pose);
  const isNear = Math.abs(turnBetween(degrees(before.yawDeg), degrees(HEADING_DEG))) < NEAR_DEG;
  const set: ReportedPose = { ...before, yawDeg: isNear ? -HEADING_DEG : HEADING_DEG };
  let reported: ReportedPose | null = null;
  let refusal: string | null = null;
  let restored: Finding | null = null;
  try {
    refusal = await setPose(session, set);
    reported = await nextPose(toolkit, session, context.signal, set);
  } finally {
    restored = await restore(toolkit, session, before);
  }
  return { before, set, reported, findings: [readBackFinding(set, reported, refusal), restored] };
}

/** A robot that was just turned by hand is waited for; one that moves for longer is returned as it is. */
async function onceItStands(session: OperatorSession, clock: Toolkit['clock'], signal: AbortSignal) {
  const untilMs = clock.monotonicMs() + AGAIN_WITHIN_MS;
  for (;;) {
    const robot = await readLiveRobot(session);
    if (robot.moves === null || robot.moveState === 'moving' || clock.monotonicMs() > untilMs) return robot;
    await clock.sleep(AGAIN_MS, signal);
  }
}

/** null when the gateway has read the pose back; otherwise the reason. */
async function setPose(session: OperatorSession, pose: ReportedPose): Promise<string | null> {
  const { outcome } = await session.ask('POST', '/api/pose', outcomeSchema, pose);
  return outcome.state === 'succeeded' ? null : (outcome.reason ?? outcome.state);
}

/** The first new pose near `wanted`, else the last new one; null when none was received in time. */
async function nextPose(
  { clock }: Toolkit,
  session: OperatorSession,
  signal: AbortSignal,
  wanted: ReportedPose,
): Promise<ReportedPose | null> {
  const beganMs = clock.monotonicMs();
  let last: ReportedPose | null = null;
  for (;;) {
    const { pose } = await readLiveRobot(session);
    const waitedMs = clock.monotonicMs() - beganMs;
    if (pose !== null && pose.ageMs < waitedMs) last = onlyPose(pose);
    if ((last !== null && isNearPose(last, wanted)) || waitedMs >= POSE_WITHIN_MS) return last;
    await clock.sleep(POLL_MS, signal);
  }
}

function readBackFinding(set: ReportedPose, reported: ReportedPose | null, refusal: string | null): Finding {
  const radians = ((set.yawDeg * Math.PI) / 180).toFixed(4);
  const start: FindingStart = {
    id: 'read-back',
    title: `${radians} sent is reported as ${set.yawDeg}°`,
    spec: 'Angles (critical rule)',
  };
  if (reported === null) return notChecked(start, 'no pose was received after setting it');
  const offDeg = Math.abs(turnBetween(degrees(set.yawDeg), degrees(reported.yawDeg)));
  const detail = `set to ${formatPose(set)}, reported ${formatPose(reported)}: ${offDeg.toFixed(1)}° off (up to ${poseTolerance.turnDeg}°)`;
  if (isNearPose(reported, set) && refusal === null) return ok(start, detail);
  const why = refusal === null ? detail : `${detail}; ${refusal}`;
  return wrong(start, why, 'Do not drive this robot: an angle unit may be wrong. Run `gw chassis probe`.');
}

/** The gateway may refuse while it judges by the poses since the first one was set whether the robot stands. */
async function setPoseAgain({ clock }: Toolkit, session: OperatorSession, pose: ReportedPose): Promise<string | null> {
  const untilMs = clock.monotonicMs() + AGAIN_WITHIN_MS;
  for (;;) {
    try {
      return await setPose(session, pose);
    } catch (error) {
      const isRefused = error instanceof GwError && error.code === 'MOTION_REFUSED';
      if (!isRefused || clock.monotonicMs() > untilMs) throw error;
      await clock.sleep(AGAIN_MS);
    }
  }
}

/** Also after an interruption: the robot must not keep a wrong heading. */
async function restore(toolkit: Toolkit, session: OperatorSession, before: ReportedPose): Promise<Finding> {
  const start = { id: 'restored', title: 'The old pose is restored', spec: null };
  const remedy = `Set the pose of the robot before it drives; the old pose was ${formatPose(before)}.`;
  try {
    const refusal = await setPoseAgain(toolkit, session, before);
    const now = await nextPose(toolkit, session, new AbortController().signal, before);
    if (refusal === null && now !== null && isNearPose(now, before)) return ok(start, formatPose(now));
    const found = now === null ? 'no new pose was received' : `${formatPose(now)} is reported`;
    return wrong(start, refusal === null ? found : `${found}; ${refusal}`, remedy);
  } catch (error) {
    return wrong(start, `it could not be set: ${error instanceof Error ? error.message : String(error)}`, remedy);
  }
}

function isNearPose(a: ReportedPose, b: ReportedPose): boolean {
  return (
    Math.hypot(a.xM - b.xM, a.yM - b.yM) <= poseTolerance.distanceM &&
    Math.abs(turnBetween(degrees(a.yawDeg), degrees(b.yawDeg))) <= poseTolerance.turnDeg
  );
}
