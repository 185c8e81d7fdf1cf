import { goalTolerance } from '../../arrival.ts';
import type { MoveOutcome } from '../../model.ts';
import type { TrialFinding, TrialVerdict } from '../model.ts';
import type { PlanSample, PoseSample } from '../samples.ts';
import { finding, isDoubtful, ownStates, type Verdict } from './finding.ts';
import { type Course, courseOf, isSteadyInRadians, isTelling, misfit, showsDirection, swiftTurnOf } from './heading.ts';
import { DRIVES_M, endText, farthestM, remedyText } from './not-driven.ts';
import {
  degreesOfGradians,
  distanceM,
  largestJumpM,
  numberInRadians,
  type Place,
  type Rest,
  shortWay,
  TURN_DEG,
  TURN_RAD,
} from './numbers.ts';

/** Observations of a move trial. Plain data, so that a test can define any robot. */
export interface MoveSeen {
  readonly goal: Place & { readonly yawDeg: number };
  /** Pose before the order. */
  readonly start: Rest;
  /** When the order was sent, and its number. */
  readonly sentAtMs: number;
  readonly moveId: number | null;
  readonly outcome: Pick<MoveOutcome, 'state' | 'failReason' | 'reason'>;
  readonly endedAtMs: number;
  /** Where it was seen at rest after its end; null where it was not, or poses are too few. */
  readonly end: Rest | null;
  readonly poses: readonly PoseSample[];
  readonly plans: readonly PlanSample[];
  /** State from GET of this move on the way and after its end; null without a request or a response. */
  readonly readWhileMoving: string | null;
  readonly readAfter: string | null;
}

/** Project decisions, in degrees and metres. */
const FIT_DEG = 12;
const FIT_RAD = 0.2;
/** Of a heading that is counted clockwise. */
const HEADING_DEG = 15;
const OTHER_HEADING_DEG = 30;
const NUMBER_DEG = 4;
/** More than twice the heading tolerance: the final heading must differ from the heading on the way. */
const MIN_TURN_DEG = 40;
const MAX_SPREAD_DEG = 10;
const MAX_REACHED_M = 0.2;
const ELSEWHERE_M = 0.5;
/** Verdicts on the facts of a move trial. */
export function judgeMove(seen: MoveSeen): TrialFinding[] {
  const driven = seen.poses.filter(({ atMs }) => atMs >= seen.sentAtMs);
  const view: View = {
    ...seen,
    driven,
    course: courseOf(
      driven.filter(({ atMs }) => atMs <= seen.endedAtMs),
      seen.start,
      seen.end ?? driven.at(-1) ?? seen.start,
      seen.start.noiseM,
    ),
    jumpM: largestJumpM(driven),
    orderedM: distanceM(seen.start, seen.goal),
  };
  const unit = judgeUnit(view);
  // An end in another heading is no arrival; before its unit is decided nothing says so.
  const isTurned = unit.verdict === 'holds' && seen.end !== null && offGoal(seen.end.ori, view) > goalTolerance.turnDeg;
  return [
    finding('angles.tracked-pose-ori', unit),
    finding('angles.target-ori', judgeTarget(view, unit)),
    finding('vendor.move.request', judgeRequest({ ...view, isTurned })),
    finding('vendor.move.state', judgeState({ ...view, isTurned })),
  ];
}

/** How far a heading is from the one that was ordered, in degrees. */
function offGoal(headingDeg: number, { goal }: Pick<MoveSeen, 'goal'>): number {
  return Math.abs(shortWay(headingDeg - goal.yawDeg, TURN_DEG));
}

interface View extends MoveSeen {
  readonly driven: readonly PoseSample[];
  readonly course: Course | null;
  readonly jumpM: number;
  readonly orderedM: number;
}

interface UnitVerdict extends Verdict {
  /** Degrees or gradians: nothing else is open. */
  readonly orGradians?: true;
}

interface Arrived extends View {
  /** It ended in another heading than ordered. */
  readonly isTurned: boolean;
}

const verdict = (verdict: TrialVerdict, why: string, measured?: string): Verdict => ({
  verdict,
  why,
  ...(measured !== undefined && { measured }),
});
const open = (why: string) => verdict('not-decided', why);

/** The unit of `/tracked_pose`, counter-clockwise: by the direction of travel from positions alone, and by turns too fast for radians. */
function judgeUnit(view: View): UnitVerdict {
  const { course, driven, jumpM } = view;
  if (jumpM > 0) return open(`the position jumped by ${jumpM.toFixed(2)} m, so its course is no evidence`);
  if (course === null) return open('no straight drive with enough poses was observed');
  if (!isTelling(course.deg))
    return open(`on the course ${deg(course.deg)} degrees and radians cannot be distinguished`);
  const seen = `course ${deg(course.deg)} by positions, ${number(course.asDegrees.value)} reported (${course.samples} poses over ${course.wayM.toFixed(2)} m)`;
  const fits = misfit(course.asDegrees.value, course.deg, TURN_DEG) <= FIT_DEG;
  if (fits && course.asDegrees.spread <= MAX_SPREAD_DEG) {
    const swift = swiftTurnOf(driven);
    if (swift === null) return open(`${seen}, but no turn too fast for radians was observed`);
    if (!showsDirection(course.deg)) {
      return open(
        `${seen}: on this course a heading that counts clockwise cannot be distinguished from a robot that drives backwards; repeat with --towards 45`,
      );
    }
    if (!excludesGradians(view, course)) {
      const why = `${seen}; gradians fit as well; repeat with --towards 135 or --towards -135`;
      return { ...open(why), orGradians: true };
    }
    const turn = `a change by ${swift.change.toFixed(0)} within ${(swift.tookMs / 1_000).toFixed(1)} s is too fast for radians`;
    return verdict('holds', `${seen}; ${turn}`);
  }
  const clockwise = clockwiseOf(view, course, seen);
  return clockwise ?? radiansOf(view, course, seen);
}

/** The number of a heading in gradians is larger by a ninth: 5 at 45°, which a course does not show, and 15 at 135°. */
function excludesGradians({ goal, end, outcome }: View, { asDegrees, deg: courseDeg }: Course): boolean {
  if (misfit(degreesOfGradians(asDegrees.value), courseDeg, TURN_DEG) > FIT_DEG) return true;
  if (end === null || outcome.state !== 'succeeded') return false;
  const isAtGoal = (headingDeg: number) => offGoal(headingDeg, { goal }) <= goalTolerance.turnDeg;
  return isAtGoal(end.ori) && !isAtGoal(degreesOfGradians(end.ori));
}

/** Clockwise only where the course and the ordered end, both in degrees, fit it; null where the course does not. */
function clockwiseOf({ goal, end, driven, outcome }: View, course: Course, seen: string): Verdict | null {
  const fits = misfit(-course.asDegrees.value, course.deg, TURN_DEG) <= FIT_DEG;
  if (!fits || course.asDegrees.spread > MAX_SPREAD_DEG || swiftTurnOf(driven) === null) return null;
  const fitsEnd =
    end !== null &&
    outcome.state === 'succeeded' &&
    Math.abs(shortWay(end.ori + goal.yawDeg, TURN_DEG)) <= HEADING_DEG &&
    Math.abs(shortWay(end.ori - goal.yawDeg, TURN_DEG)) > OTHER_HEADING_DEG;
  if (fitsEnd) {
    const atEnd = `${deg(end.ori)} reported at the end for ${deg(goal.yawDeg)} ordered is so, too`;
    return verdict('differs', `${seen}, which is that course counted clockwise; ${atEnd}`, 'degrees clockwise');
  }
  return open(
    `${seen}: either the heading counts clockwise, or the robot drove across its heading (90° off): the end does not decide it`,
  );
}

/** Radians only where the course, the ordered end and every step between fit them. */
function radiansOf({ goal, end, driven, outcome }: View, course: Course, seen: string): Verdict {
  const fitsCourse =
    misfit(course.asRadians.value, numberInRadians(course.deg), TURN_RAD) <= FIT_RAD &&
    course.asRadians.spread <= FIT_RAD;
  const fitsEnd =
    end !== null &&
    outcome.state === 'succeeded' &&
    Math.abs(shortWay(end.ori - numberInRadians(goal.yawDeg), TURN_RAD)) <= FIT_RAD &&
    Math.abs(shortWay(end.ori - course.asRadians.value, TURN_RAD)) >= 1;
  if (fitsCourse && fitsEnd && isSteadyInRadians(driven)) {
    return verdict(
      'differs',
      `${seen}, which is that course in radians; the end fits radians too, ${number(end.ori)}`,
      'radians',
    );
  }
  return open(`${seen}: neither degrees nor radians fit`);
}

/** The unit of `target_ori`: by the heading at the end, in degrees as verified on the course. */
function judgeTarget({ goal, end, course, outcome }: View, unit: UnitVerdict): Verdict {
  const { verdict: unitVerdict, orGradians = false } = unit;
  if ((unitVerdict !== 'holds' && !orGradians) || course === null) {
    return open('the unit of the reported heading was not verified on the way');
  }
  if (outcome.state !== 'succeeded') return open(`the move did not succeed: ${outcome.reason ?? outcome.state}`);
  if (end === null) return open('the robot was not observed at rest after the move');
  const sent = numberInRadians(goal.yawDeg);
  const seen = `${sent.toFixed(4)} sent for ${deg(goal.yawDeg)}, ${deg(end.ori)} reported at the end`;
  const offIfGradians = orGradians ? offGoal(degreesOfGradians(end.ori), { goal }) : Number.POSITIVE_INFINITY;
  const off = Math.min(offGoal(end.ori, { goal }), offIfGradians);
  const turned = Math.abs(shortWay(end.ori - course.asDegrees.value, TURN_DEG));
  if (off <= goalTolerance.turnDeg) {
    if (orGradians) return open(`${seen}: in degrees or in gradians`);
    if (turned >= MIN_TURN_DEG) return verdict('holds', `${seen}, turned by ${turned.toFixed(0)}° from its course`);
    return open(`${seen}, but the robot had that heading before`);
  }
  if (off < OTHER_HEADING_DEG) return open(`${seen}: ${off.toFixed(0)}° off`);
  // The unit and the direction of the report were verified on the way.
  const isMirrored = Math.abs(shortWay(end.ori + goal.yawDeg, TURN_DEG)) <= HEADING_DEG;
  if (isMirrored) {
    return verdict('differs', `${seen}: it was counted clockwise, or the robot ended backwards`, 'not radians');
  }
  const isNumber = Math.abs(shortWay(end.ori - sent, TURN_DEG)) <= NUMBER_DEG;
  if (isNumber) return verdict('differs', `${seen}: the number was interpreted as degrees`, 'degrees');
  return verdict('differs', `${seen}: ${off.toFixed(0)}° off, so it was not interpreted as radians`, 'not radians');
}

function judgeRequest(view: Arrived): Verdict {
  const { moveId, outcome, start, end, goal, orderedM, jumpM } = view;
  if (moveId === null) return open('the order was not answered with a move id');
  if (outcome.state !== 'succeeded') return open(notSucceededText(view));
  if (jumpM > 0) return open(`the position jumped by ${jumpM.toFixed(2)} m`);
  if (end === null) return open('the robot was not observed at rest after the move');
  const offM = distanceM(end, goal);
  const wayM = distanceM(start, end);
  const seen = `move ${moveId}: ${wayM.toFixed(2)} m driven of ${orderedM.toFixed(2)} m, ${offM.toFixed(2)} m from the goal`;
  if (!sawMoving(view)) return open(`${seen}, but 'moving' was not reported`);
  if (hasReached(view, end)) return view.isTurned ? open(`${seen}, in another heading`) : verdict('holds', seen);
  if (offM >= ELSEWHERE_M && wayM >= MAX_REACHED_M) return verdict('differs', `${seen}: the robot drove elsewhere`);
  return open(seen);
}

/** A robot counts as not driving only where poses show it. */
function notSucceededText(view: View): string {
  const movedM = farthestM(view);
  const end = endText(view.outcome);
  if (movedM === null || movedM >= DRIVES_M) return `the move did not succeed: ${end}`;
  return `the robot was not observed driving (${movedM.toFixed(2)} m). ${end}${remedyText(view)}`;
}

function judgeState(view: Arrived): Verdict {
  const { moveId, readWhileMoving, readAfter, end, goal, orderedM, jumpM } = view;
  if (moveId === null) return open('the order was not answered with a move id');
  const topic = ownStates(view);
  const seen = `topic reported ${topic.join(', ') || 'nothing'}; GET returned ${readWhileMoving ?? 'nothing'} on the way and ${readAfter ?? 'nothing'} after the end`;
  const strange = [...topic, readWhileMoving ?? 'moving', readAfter ?? 'moving'].find(
    (state) => !known.includes(state) && !isDoubtful(state),
  );
  if (strange !== undefined) return verdict('differs', `${seen}: the vendor names no state '${strange}'`);
  const succeeded = topic.at(-1) === 'succeeded' && readAfter === 'succeeded';
  if (!succeeded) {
    const isAtOdds = readAfter !== null && topic.at(-1) === 'succeeded' && ends.includes(readAfter);
    return isAtOdds ? verdict('differs', `${seen}: they disagree`) : open(seen);
  }
  if (jumpM > 0 || end === null) return open(`${seen}; the final position is unknown`);
  const offM = distanceM(end, goal);
  if (offM > Math.max(MAX_REACHED_M, orderedM / 2)) {
    return verdict('differs', `${seen}, but the robot stands ${offM.toFixed(2)} m from the goal`);
  }
  const earlyM = wayAfterSuccessM(view, end);
  if (earlyM === null) return open(`${seen}; no pose was received at the reported success`);
  if (earlyM > MAX_REACHED_M) {
    return verdict('differs', `${seen}, but the robot drove ${earlyM.toFixed(2)} m further after the reported success`);
  }
  if (view.isTurned) return open(`${seen}, but the robot stands in another heading`);
  if (!sawMoving(view) || readWhileMoving !== 'moving' || !hasReached(view, end)) return open(seen);
  return verdict('holds', seen);
}

/** How far the robot came to rest from the place where its success was reported; null without a pose before that. */
function wayAfterSuccessM({ plans, moveId, sentAtMs, driven }: View, end: Rest): number | null {
  const success = plans.find(
    ({ actionId, moveState, atMs }) => actionId === moveId && moveState === 'succeeded' && atMs >= sentAtMs,
  );
  // The pose after it where there is one: of a robot that has arrived both are the same.
  const then = driven.find(({ atMs }) => success !== undefined && atMs >= success.atMs) ?? driven.at(-1);
  return success === undefined || then === undefined ? null : distanceM(then, end);
}

/** @source vendor REST book (HINWEIS): vendor.move.state */
const known: readonly string[] = ['idle', 'moving', 'succeeded', 'failed', 'cancelled'];
const ends: readonly string[] = ['succeeded', 'failed', 'cancelled'];

/** Near the goal, and by having driven there. */
function hasReached({ start, goal, orderedM }: View, end: Rest): boolean {
  return distanceM(end, goal) <= Math.min(MAX_REACHED_M, orderedM / 3) && distanceM(start, end) >= orderedM / 2;
}

function sawMoving(view: View): boolean {
  return ownStates(view).includes('moving');
}

function deg(value: number): string {
  return `${value.toFixed(1)}°`;
}

function number(value: number): string {
  return value.toFixed(2);
}
