import type { MoveOutcome } from '../../model.ts';
import type { TrialFinding } from '../model.ts';
import type { PlanSample, PoseSample } from '../samples.ts';
import { finding, ownStates } from './finding.ts';
import { DRIVES_M, endText, farthestM, remedyText } from './not-driven.ts';
import { distanceM, largestJumpM, type Place, type Rest, restOf, steadyRest } from './numbers.ts';

/** Observations of a stop trial. */
export interface StopSeen {
  readonly goal: Place;
  readonly start: Rest;
  readonly sentAtMs: number;
  readonly moveId: number | null;
  /** Response time of the order. */
  readonly answeredInMs: number | null;
  /** When the cancel was sent, once the robot was observed driving; null when it never was. */
  readonly cancelAtMs: number | null;
  /** When the chassis answered the cancel; null without an answer. */
  readonly cancelAnsweredAtMs: number | null;
  readonly poses: readonly PoseSample[];
  readonly plans: readonly PlanSample[];
  readonly outcome: Pick<MoveOutcome, 'state' | 'reason'>;
  /** State from GET of this move afterwards. */
  readonly readAfter: string | null;
}

/** Project decisions. Braking distance after the cancel was answered. */
const MAX_BRAKING_M = 0.3;
const REST_WITHIN_MS = 3_000;
const REST_WINDOW_MS = 800;
const SHORT_OF_GOAL_M = 0.2;
/** With slower responses it is ambiguous whether the robot drove when it was cancelled. */
const MAX_ANSWER_MS = 1_000;

/** How far the robot drove on after the cancel was answered, in metres. */
export function droveOnM({ poses, cancelAnsweredAtMs }: Pick<StopSeen, 'poses' | 'cancelAnsweredAtMs'>): number {
  if (cancelAnsweredAtMs === null) return 0;
  const before = poses.findLast(({ atMs }) => atMs <= cancelAnsweredAtMs);
  const last = poses.at(-1);
  return before === undefined || last === undefined ? 0 : distanceM(before, last);
}

/** The first moment from which the poses show the robot at rest; null while they do not. */
export function restAtMs({ poses, cancelAnsweredAtMs }: Pick<StopSeen, 'poses' | 'cancelAnsweredAtMs'>): number | null {
  if (cancelAnsweredAtMs === null) return null;
  const after = poses.filter(({ atMs }) => atMs >= cancelAnsweredAtMs);
  const last = after.at(-1);
  if (last === undefined) return null;
  for (const { atMs } of after) {
    if (last.atMs - atMs < REST_WINDOW_MS) return null;
    if (steadyRest(restOf(after.filter((sample) => sample.atMs >= atMs))) !== null) return atMs;
  }
  return null;
}

/** Whether a cancel ends a move: by positions, by the topic and by GET. */
export function judgeStop(seen: StopSeen): TrialFinding[] {
  return [finding('vendor.move.cancel', judge(seen))];
}

function judge(seen: StopSeen): Pick<TrialFinding, 'verdict' | 'why'> {
  const { poses, moveId, answeredInMs, cancelAtMs, cancelAnsweredAtMs, readAfter, sentAtMs } = seen;
  const open = (why: string) => ({ verdict: 'not-decided', why }) as const;
  if (moveId === null || answeredInMs === null) return open('the order was not answered with a move id');
  if (cancelAtMs === null) return open(notCancelledText(seen));
  if (cancelAnsweredAtMs === null) return open('the chassis has not answered the cancel');
  const driven = poses.filter(({ atMs }) => atMs >= sentAtMs);
  const jumpM = largestJumpM(driven);
  if (jumpM > 0) return open(`the position jumped by ${jumpM.toFixed(2)} m`);
  if (answeredInMs > MAX_ANSWER_MS || cancelAnsweredAtMs - cancelAtMs > MAX_ANSWER_MS) {
    return open(`the chassis answered too late for a verdict (${Math.round(answeredInMs)} ms)`);
  }
  const states = ownStates(seen);
  const onM = droveOnM(seen);
  const reported = `topic reported ${states.join(', ') || 'nothing'}, GET returned ${readAfter ?? 'nothing'}`;
  if (onM > MAX_BRAKING_M) {
    return {
      verdict: 'differs',
      why: `the robot drove on by ${onM.toFixed(2)} m after the cancel was answered; ${reported}`,
    };
  }
  const restMs = restAtMs(seen);
  if (restMs === null) return open(`the robot was not observed at rest after the cancel; ${reported}`);
  const rest = restOf(driven.filter(({ atMs }) => atMs >= restMs));
  if (rest === null) return open('too few poses received after the cancel');
  const tookMs = Math.round(restMs - cancelAtMs);
  const shortM = distanceM(rest, seen.goal);
  const seenText = `cancelled after ${distanceM(seen.start, rest).toFixed(2)} m, at rest ${tookMs} ms later and ${shortM.toFixed(2)} m short of the goal; ${reported}`;
  const isShort = shortM >= SHORT_OF_GOAL_M;
  const isCancelled = states.at(-1) === 'cancelled' && states.includes('moving') && readAfter === 'cancelled';
  if (isCancelled && isShort && tookMs <= REST_WITHIN_MS && onM <= MAX_BRAKING_M) {
    return { verdict: 'holds', why: seenText };
  }
  return open(seenText);
}

/** Why no cancel was sent. A robot counts as not driving only where poses show it. */
function notCancelledText(seen: StopSeen): string {
  const movedM = farthestM(seen);
  const end = endText(seen.outcome);
  if (movedM === null) return `no pose was received after the order, so no cancel was sent. ${end}`;
  if (movedM >= DRIVES_M) {
    return `the move ended before a cancel was sent, after a change of the position by ${movedM.toFixed(2)} m. ${end}`;
  }
  return `the robot was not observed driving (${movedM.toFixed(2)} m), so no cancel was sent. ${end}${remedyText(seen)}`;
}
