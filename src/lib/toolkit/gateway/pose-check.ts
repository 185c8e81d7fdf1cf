import { z } from 'zod';
import { degrees, turnBetween } from '../../angle/index.ts';
import { GwError } from '../../error/index.ts';
import type { Finding } from '../finding.result.ts';
import { type FindingStart, notChecked, ok, wrong } from '../finding.ts';
import { type OperatorSession, steadyOperatorAccess } from '../operator/access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { PoseCheck } from './commissioning-checks.result.ts';
import { formatPose, onlyPose, type ReportedPose, readLiveRobot } from './live-robot.ts';

/** How far the lidar may correct what was set. Project decision; a wrong unit is off by 88° at these headings. */
const TOLERANCE_DEG = 15;
const TOLERANCE_M = 0.5;
/** Degrees and radians are farthest apart here, and the specification measured it: 1.5708 sent is reported as 90. */
const HEADING_DEG = 90;
/** A heading that the robot already has would be reported without any effect of what was set. */
const NEAR_DEG = 60;
const POSE_WITHIN_MS = 3_000;
const POLL_MS = 50;

const outcomeSchema = z.looseObject({ outcome: z.looseObject({ state: z.string(), reason: z.string().nullable() }) });

/**
 * Sets the pose of the standing robot to another heading at the place where it stands, compares what the chassis
 * reports then, and sets the old pose again. The robot does not drive, but for a moment it takes itself for turned:
 * THE CALLER HAS ASKED A PERSON. Throws OPERATOR_NOT_REACHABLE, why the sign-in was refused, and MOTION_REFUSED
 * while the robot drives or its pose is unknown.
 * @source specification, 'Angles (critical rule)': 1.5708 sent to POST /chassis/pose is reported as 90 degrees
 */
export async function checkPose(
  toolkit: Toolkit,
  { password }: { readonly password: string },
  context: CheckContext,
): Promise<PoseCheck> {
  await using session = await steadyOperatorAccess(toolkit, context).signIn(password);
  const { pose, moveState } = await readLiveRobot(session);
  if (pose === null) throw new GwError('MOTION_REFUSED', 'The gateway has received no pose, so none can be set back.');
  if (moveState === 'moving') throw new GwError('MOTION_REFUSED', 'The robot drives; its pose is set while it stands.');
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

/** Null when the gateway saw it read back; otherwise why not. */
async function setPose(session: OperatorSession, pose: ReportedPose): Promise<string | null> {
  const { outcome } = await session.ask('POST', '/api/pose', outcomeSchema, pose);
  return outcome.state === 'succeeded' ? null : (outcome.reason ?? outcome.state);
}

/** The first pose received since now that is near `wanted`, else the last one; null when none was received in time. */
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
  if (reported === null) return notChecked(start, 'no pose was received after it was set');
  const offDeg = Math.abs(turnBetween(degrees(set.yawDeg), degrees(reported.yawDeg)));
  const detail = `set to ${formatPose(set)}, reported ${formatPose(reported)}: ${offDeg.toFixed(1)}° off (up to ${TOLERANCE_DEG}°)`;
  if (isNearPose(reported, set) && refusal === null) return ok(start, detail);
  const why = refusal === null ? detail : `${detail}; ${refusal}`;
  return wrong(start, why, 'Do not drive this robot: an angle unit may be wrong. Run `gw chassis probe`.');
}

/** Also after an interruption: a robot that takes itself for turned must not be left so. */
async function restore(toolkit: Toolkit, session: OperatorSession, before: ReportedPose): Promise<Finding> {
  const start = { id: 'restored', title: 'The robot has its old pose again', spec: null };
  const remedy = `Set the pose of the robot before it drives: it stood at ${formatPose(before)}.`;
  try {
    const refusal = await setPose(session, before);
    const now = await nextPose(toolkit, session, new AbortController().signal, before);
    if (refusal === null && now !== null && isNearPose(now, before)) return ok(start, formatPose(now));
    const found = now === null ? 'no pose was received since' : `${formatPose(now)} is reported`;
    return wrong(start, refusal === null ? found : `${found}; ${refusal}`, remedy);
  } catch (error) {
    return wrong(start, `it could not be set: ${error instanceof Error ? error.message : String(error)}`, remedy);
  }
}

function isNearPose(a: ReportedPose, b: ReportedPose): boolean {
  return (
    Math.hypot(a.xM - b.xM, a.yM - b.yM) <= TOLERANCE_M &&
    Math.abs(turnBetween(degrees(a.yawDeg), degrees(b.yawDeg))) <= TOLERANCE_DEG
  );
}
