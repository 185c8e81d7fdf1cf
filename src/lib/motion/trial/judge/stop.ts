import type { MoveOutcome } from '../../model.ts';
import type { TrialFinding } from '../model.ts';
import type { PlanSample, PoseSample } from '../samples.ts';
import { type AfterCancel, creptM, restWithinMs } from './after-cancel.ts';
import { finding, ownStates } from './finding.ts';
import { DRIVES_M, endText, farthestM, remedyText } from './not-driven.ts';
import { distanceM, largestJumpM, type Place, type Rest } from './numbers.ts';

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
  /** When the chassis first answered the cancel with success; null without such an answer. */
  readonly cancelAnsweredAtMs: number | null;
  /** Why the first attempt of the cancel was not delivered; null where it was. */
  readonly cancelFailure: string | null;
  /** What the robot did then, by its poses. */
  readonly after: AfterCancel;
  readonly poses: readonly PoseSample[];
  readonly plans: readonly PlanSample[];
  readonly outcome: Pick<MoveOutcome, 'state' | 'reason'>;
  /** State from GET of this move afterwards. */
  readonly readAfter: string | null;
}

/** Project decisions. A robot that a move takes to its goal ends nearer to it. */
export const SHORT_OF_GOAL_M = 0.2;
/** With slower responses it is ambiguous whether the robot drove when it was cancelled. */
export const MAX_ANSWER_MS = 1_000;
/** A robot that comes to rest within this time, short of its goal, has not ignored the cancel. */
const PROMPT_MS = 3_000;
/** Without poses for so long it is not known when it came to rest. */
const MAX_REST_MS = 10_000;

/** Whether a cancel ends a move: by positions, by the topic and by GET. */
export function judgeStop(seen: StopSeen): TrialFinding[] {
  return [finding('vendor.move.cancel', judge(seen))];
}

function judge(seen: StopSeen): Pick<TrialFinding, 'verdict' | 'why'> {
  const { poses, moveId, answeredInMs, cancelAtMs, cancelAnsweredAtMs, cancelFailure, readAfter, sentAtMs } = seen;
  const { droveOn, timeDoubt, rest, again, doubt } = seen.after;
  const open = (why: string) => ({ verdict: 'not-decided', why }) as const;
  if (moveId === null || answeredInMs === null) return open('the order was not answered with a move id');
  if (cancelAtMs === null) return open(notCancelledText(seen));
  const then = droveOn === null ? '' : `; ${droveOn.why}`;
  const failure = cancelFailure?.replace(/\.$/, '') ?? null;
  if (cancelAnsweredAtMs === null) {
    return open(`the chassis did not accept the cancel: ${failure ?? 'no answer'}${then}`);
  }
  const driven = poses.filter(({ atMs }) => atMs >= sentAtMs);
  const jumpM = largestJumpM(driven);
  if (jumpM > 0) return open(`the position jumped by ${jumpM.toFixed(2)} m`);
  if (answeredInMs > MAX_ANSWER_MS) {
    return open(`the order was answered too late for a verdict (${Math.round(answeredInMs)} ms)`);
  }
  const cancelTookMs = Math.round(cancelAnsweredAtMs - cancelAtMs);
  if (cancelTookMs > MAX_ANSWER_MS) {
    const first = failure === null ? '' : `; before: ${failure}`;
    return open(`the cancel was accepted too late for a verdict (${cancelTookMs} ms${first})${then}`);
  }
  const states = ownStates(seen);
  const reported = `topic reported ${states.join(', ') || 'nothing'}, GET returned ${readAfter ?? 'nothing'}`;
  if (droveOn !== null) {
    const restText = again === null ? 'it was not observed at rest' : 'it came to rest later';
    const why = `the robot did not stop at the accepted cancel: ${droveOn.why}; ${restText}; ${reported}`;
    // A long braking way alone contradicts nothing, and verifies nothing.
    const restMs =
      again === null ? Number.POSITIVE_INFINITY : restWithinMs(again, poses, cancelAtMs, seen.start.noiseM);
    if (again !== null && restMs <= PROMPT_MS && distanceM(again.rest, seen.goal) >= SHORT_OF_GOAL_M) {
      return open(`${why}; at rest within ${seconds(restMs)}`);
    }
    return droveOn.isCertain ? { verdict: 'differs', why } : open(`${why}; the unit of its heading is not decided`);
  }
  if (timeDoubt !== null) {
    return open(
      `whether the robot stopped at the cancel is not decided: ${timeDoubt}. Run the trial again; ${reported}`,
    );
  }
  if (rest === null) return open(`the robot was not observed at rest after the cancel: ${doubt}; ${reported}`);
  if (again === null) return open(`the robot was not observed at rest for a second time: ${doubt}; ${reported}`);
  const { byM, allowedM, hasCrept } = creptM({ rest, again }, seen.start.noiseM);
  if (hasCrept) {
    const why = `the robot moved by ${byM.toFixed(3)} m between two times at which it seemed at rest, more than noise explains (${allowedM.toFixed(3)} m)`;
    return open(`${why}; ${reported}`);
  }
  const restMs = restWithinMs(again, poses, cancelAtMs, seen.start.noiseM);
  const shortM = distanceM(again.rest, seen.goal);
  const within = `at rest within ${seconds(restMs)}`;
  const seenText = `cancelled after ${distanceM(seen.start, again.rest).toFixed(2)} m, ${within}, still at rest ${((again.toMs - rest.toMs) / 1_000).toFixed(0)} s later, and ${shortM.toFixed(2)} m short of the goal; ${reported}`;
  const isCancelled = states.at(-1) === 'cancelled' && states.includes('moving') && readAfter === 'cancelled';
  if (isCancelled && shortM >= SHORT_OF_GOAL_M && restMs <= MAX_REST_MS) return { verdict: 'holds', why: seenText };
  return open(seenText);
}

/** Rounded up: it is an upper bound. */
function seconds(ms: number): string {
  return `${(Math.ceil(ms / 100) / 10).toFixed(1)} s`;
}

/** Why no cancel was sent. A robot counts as not driving only where poses show it. */
function notCancelledText(seen: StopSeen): string {
  const movedM = farthestM(seen);
  const end = endText(seen.outcome);
  if (seen.outcome.state === 'succeeded') {
    return `the move ended before poses showed the robot driving, so no cancel was sent: they arrive too seldom for its speed. ${end} Run the trial again with a longer way: --distance 2.`;
  }
  if (movedM === null) return `no pose was received after the order, so no cancel was sent. ${end}`;
  if (movedM >= DRIVES_M) {
    return `the move ended before a cancel was sent, after a change of the position by ${movedM.toFixed(2)} m. ${end}`;
  }
  return `the robot was not observed driving (${movedM.toFixed(2)} m), so no cancel was sent. ${end}${remedyText(seen)}`;
}
