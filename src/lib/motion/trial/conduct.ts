import type { ChassisMoves } from '../../chassis/moves.ts';
import { asGwError } from '../../error/index.ts';
import { firstOf } from '../../lifecycle/index.ts';
import type { PlaceMap } from '../../site/index.ts';
import { poseTolerance } from '../arrival.ts';
import type { Canceller } from '../canceller.ts';
import type { MoveOutcome, Order } from '../model.ts';
import { carryOut, isCertainlyNotAccepted, type OrderTools } from '../orders.ts';
import { type FollowedFrame, followFrame, setInFrame } from '../set-pose.ts';
import type { TrialKind } from '../verify-remedy.ts';
import { type AfterCancel, createAfterCancel } from './judge/after-cancel.ts';
import { judgeDock } from './judge/dock.ts';
import { stateText } from './judge/finding.ts';
import { judgeMove } from './judge/move.ts';
import { DRIVES_M } from './judge/not-driven.ts';
import { distanceM, type Place, type Rest } from './judge/numbers.ts';
import { judgePose, type PoseSet } from './judge/pose.ts';
import { judgeStop, MAX_ANSWER_MS, SHORT_OF_GOAL_M } from './judge/stop.ts';
import type { TrialFinding } from './model.ts';
import { headingsToSet } from './plan.ts';
import { restNow, untilRest } from './rest.ts';
import { CANCEL_AGAIN_MS } from './runaway.ts';
import type { Sampler } from './samples.ts';

/** Dependencies of one trial. */
export interface Conduct {
  readonly tools: OrderTools;
  readonly sampler: Sampler;
  readonly order: Order;
  readonly start: Rest;
  /** Aborted by a stop, a lost client, a lost connection, the end of the daemon. */
  readonly signal: AbortSignal;
  /** Sets the phase shown to the person beside the robot. */
  setPhase(phase: string): void;
  note(text: string): void;
  alarm(text: string): void;
  /** The robot does not obey its cancel, as a clause: the person must press the emergency stop. */
  raise(why: string): void;
}

/** Project decisions, in milliseconds. */
const MAX_TRIAL_MS = 60_000;
/** From the cancel to the second rest: the longest time over which rest is judged, the time between, and reserve. */
const MAX_STOP_MS = 45_000;
/** How often a failed attempt of a cancel is looked for. */
const OBSERVE_MS = 50;
/** Distance driven before the state of the move is requested. */
const GET_AFTER_M = 0.1;

export async function conductTrial(kind: TrialKind, conduct: Conduct): Promise<TrialFinding[]> {
  switch (kind) {
    case 'stop':
      return conductStop(conduct);
    case 'move':
      return conductMove(conduct);
    case 'pose':
      return conductPose(conduct);
    case 'dock':
      return conductDock(conduct);
  }
}

interface Driven {
  readonly sentAtMs: number;
  readonly answeredInMs: number | null;
  readonly moveId: number | null;
  readonly outcome: MoveOutcome;
  readonly endedAtMs: number;
}

/** Sends the order as every order is sent, and measures when it was sent and answered. */
async function drive({ tools, sampler, order }: Conduct, signal: AbortSignal): Promise<Driven> {
  let sentAtMs = sampler.now();
  let answeredInMs: number | null = null;
  let moveId: number | null = null;
  const moves: ChassisMoves = {
    ...tools.moves,
    async move(request, sending) {
      sentAtMs = sampler.now();
      sampler.note(`order sent: ${JSON.stringify(request)}`);
      const sent = await tools.moves.move(request, sending);
      answeredInMs = sampler.now() - sentAtMs;
      moveId = sent.moveId;
      sampler.note(`order answered: move ${sent.moveId}`);
      return sent;
    },
  };
  const limits = { ...tools.limits, moveMs: Math.min(MAX_TRIAL_MS, tools.limits.moveMs) };
  const outcome = await carryOut(order, { ...tools, moves, limits }, signal);
  sampler.note(`order ended: ${outcome.state}${outcome.reason === null ? '' : `, ${outcome.reason}`}`);
  return { sentAtMs, answeredInMs, moveId, outcome, endedAtMs: sampler.now() };
}

async function conductMove(conduct: Conduct): Promise<TrialFinding[]> {
  const { tools, sampler, order, start, signal, setPhase } = conduct;
  if (order.kind !== 'move' || order.goal.value.yawDeg === undefined)
    throw new RangeError('the order of a move trial must be a move with a heading');
  const { xM, yM, yawDeg } = order.goal.value;
  setPhase(`Drives ${distanceM(start, { xM, yM }).toFixed(2)} m, then turns to ${yawDeg}°.`);
  let readWhileMoving: string | null = null;
  const reading = readWhileUnderWay(conduct, (state) => {
    readWhileMoving = state;
  });
  const driven = await drive(conduct, signal);
  await reading.end();
  setPhase('Move ended; verifies that the robot stands still.');
  const end = await untilRest(sampler, driven.endedAtMs, signal);
  const readAfter = driven.moveId === null ? null : await readState(tools, sampler, driven.moveId);
  const { poses, plans } = sampler;
  return judgeMove({ ...driven, goal: { xM, yM, yawDeg }, start, end, poses, plans, readWhileMoving, readAfter });
}

/** Requests the state of the move once, while it is running. */
function readWhileUnderWay({ tools, sampler, start, signal }: Conduct, onState: (state: string | null) => void) {
  const ending = new AbortController();
  const isUnderWay = () => {
    const last = sampler.poses.at(-1);
    return last !== undefined && distanceM(last, start) >= GET_AFTER_M && sampler.plans.at(-1)?.moveState === 'moving';
  };
  const work = (async () => {
    if (!(await sampler.until(isUnderWay, MAX_TRIAL_MS, firstOf(signal, ending.signal)))) return;
    const moveId = sampler.plans.at(-1)?.actionId;
    if (moveId !== undefined) onState(await readState(tools, sampler, moveId));
  })();
  return {
    async end(): Promise<void> {
      ending.abort();
      await work;
    },
  };
}

/** The state from GET of this move; null without a response. */
async function readState({ moves }: OrderTools, sampler: Sampler, moveId: number): Promise<string | null> {
  try {
    const { state, failReason } = await moves.readMove(moveId);
    const text = state === null ? null : stateText(state, failReason);
    sampler.note(`GET of move ${moveId}: ${text ?? 'no state'}`);
    return text;
  } catch (error) {
    sampler.note(`GET of move ${moveId} failed: ${asGwError(error).message}`);
    return null;
  }
}

async function conductStop(conduct: Conduct): Promise<TrialFinding[]> {
  const { tools, sampler, order, start, signal, setPhase } = conduct;
  if (order.kind !== 'move') throw new RangeError('the order of a stop trial must be a move');
  setPhase('Drives, and is cancelled as soon as it moves.');
  const goal = order.goal.value;
  const cancelling = new AbortController();
  const cancel = firstCancel(conduct);
  const isDriving = () => {
    const last = sampler.poses.at(-1);
    return last !== undefined && distanceM(last, start) >= DRIVES_M && sampler.plans.at(-1)?.moveState === 'moving';
  };
  const watching = sampler.until(isDriving, MAX_TRIAL_MS, firstOf(signal, cancelling.signal)).then(async (drives) => {
    if (!drives || cancelling.signal.aborted) return null;
    const atMs = sampler.now();
    sampler.note('cancel sent');
    setPhase('Cancelled; verifies by its poses that the robot comes to rest, and rests: up to a minute.');
    cancelling.abort(new Error('the trial cancels its own move'));
    return { atMs, after: await followToRest(conduct, { goal, answeredAtMs: cancel.answeredAtMs }) };
  });
  const driven = await drive({ ...conduct, tools: cancel.tools }, firstOf(signal, cancelling.signal));
  if (!cancelling.signal.aborted) cancelling.abort();
  const followed = await watching;
  const readAfter = driven.moveId === null ? null : await readState(tools, sampler, driven.moveId);
  const { poses, plans } = sampler;
  return judgeStop({
    ...{ ...driven, goal, start, poses, plans, readAfter },
    cancelAtMs: followed?.atMs ?? null,
    cancelAnsweredAtMs: followed === null ? null : cancel.answeredAtMs(),
    cancelFailure: cancel.failure(),
    after: followed?.after ?? createAfterCancel(0).seen,
  });
}

/** The tools of an order, and what became of its first cancel. */
function firstCancel({ tools, sampler }: Conduct) {
  const { canceller } = tools;
  let answeredAtMs: number | null = null;
  let failure: string | null = null;
  const observe = () => {
    failure ??= canceller.failure;
  };
  const observed: Canceller = {
    async cancel(why) {
      using _watching = tools.clock.every(OBSERVE_MS, observe);
      const isAnswered = await canceller.cancel(why);
      observe();
      if (isAnswered) answeredAtMs ??= canceller.answeredAtMs - tools.clock.monotonicMs() + sampler.now();
      return isAnswered;
    },
    get isPending() {
      return canceller.isPending;
    },
    get isSending() {
      return canceller.isSending;
    },
    get answeredAtMs() {
      return canceller.answeredAtMs;
    },
    get failure() {
      return canceller.failure;
    },
  };
  return { tools: { ...tools, canceller: observed }, answeredAtMs: () => answeredAtMs, failure: () => failure };
}

/**
 * Follows the cancelled robot by its poses until it was at rest twice, or the time is over. While it drives on it is
 * cancelled again and again; a robot that stops only then has not obeyed.
 */
async function followToRest(
  conduct: Conduct,
  cancelled: { readonly goal: Place; readonly answeredAtMs: () => number | null },
): Promise<AfterCancel> {
  const { goal, answeredAtMs } = cancelled;
  const { tools, sampler, signal, raise } = conduct;
  await sampler.until(() => answeredAtMs() !== null, MAX_ANSWER_MS, signal);
  const fromMs = answeredAtMs() ?? sampler.now();
  const after = createAfterCancel(fromMs);
  let cancelledAtMs = fromMs;
  const shortM = () => distanceM(sampler.poses.at(-1) ?? goal, goal);
  const wasShort = shortM() >= 2 * SHORT_OF_GOAL_M;
  const isDone = () => {
    const seen = after.update(sampler.poses, sampler.unit, sampler.now());
    if (wasShort && shortM() < SHORT_OF_GOAL_M) raise('the robot drives to its goal although it was cancelled');
    if (seen.again !== null) return true;
    return seen.isMoving && !tools.canceller.isSending && sampler.now() - cancelledAtMs >= CANCEL_AGAIN_MS;
  };
  while (sampler.now() - fromMs < MAX_STOP_MS && !signal.aborted) {
    const isDecided = await sampler.until(isDone, MAX_STOP_MS - (sampler.now() - fromMs), signal);
    if (!isDecided || after.seen.again !== null) break;
    cancelledAtMs = sampler.now();
    sampler.note('cancel sent again');
    void tools.canceller.cancel('the robot moves although its move was cancelled');
  }
  return after.seen;
}

async function conductDock(conduct: Conduct): Promise<TrialFinding[]> {
  const { tools, sampler, order, start, signal, setPhase } = conduct;
  if (order.kind !== 'dock') throw new RangeError('the order of a dock trial must be a docking order');
  setPhase('Drives to the dock.');
  const driven = await drive(conduct, signal);
  setPhase('Docking ended; verifies that the robot stands still.');
  const end =
    (await untilRest(sampler, driven.endedAtMs, signal)) ?? restNow(sampler, driven.endedAtMs).standing.reason;
  const { battery } = tools.link.snapshot().values;
  const isFresh = battery.status === 'received' && battery.ageMs <= sampler.now() - driven.endedAtMs;
  const batteryStatus = isFresh ? battery.value.status : null;
  const { poses, plans } = sampler;
  return judgeDock({ ...driven, dock: order.goal.value, start, end, poses, plans, batteryStatus });
}

/** The robot does not drive. Once a pose was sent the original one is restored, also when the trial is aborted. */
async function conductPose(conduct: Conduct): Promise<TrialFinding[]> {
  const { tools, sampler, order, start, signal, setPhase } = conduct;
  if (order.kind !== 'pose') throw new RangeError('the order of a pose trial must set the pose');
  const { map } = order.pose.value;
  const sets: PoseSet[] = [];
  const never = new AbortController().signal;
  let isSent = false;
  using frame = followFrame(map, tools);
  const set = async (yawDeg: number): Promise<Rest | null> => {
    const value = { xM: start.xM, yM: start.yM, yawDeg: yawDeg as typeof order.pose.value.yawDeg, map };
    sampler.note(`pose sent: ${JSON.stringify(value)}`);
    const setting = setInFrame({ kind: 'pose', pose: { ...order.pose, value } }, tools, frame, never);
    const outcome = await setting.catch((error: unknown) => {
      isSent ||= !isCertainlyNotAccepted(error);
      throw error;
    });
    isSent = true;
    sampler.note(`pose ${outcome.state}${outcome.reason === null ? '' : `: ${outcome.reason}`}`);
    return untilRest(sampler, sampler.now());
  };
  const why = 'A trial set another pose, and did not restore the original one.';
  const withdraw = await tools.poseAlarm.raiseBefore(why, map);
  try {
    for (const setDeg of headingsToSet(start.ori)) {
      if (signal.aborted) break;
      setPhase(`Sets its heading to ${setDeg}°; the robot does not drive.`);
      sets.push({ setDeg, reported: await set(setDeg) });
    }
  } finally {
    if (isSent) {
      setPhase('Restores the original pose.');
      await restore(conduct, set, { map, frame });
    } else await withdraw();
  }
  return judgePose({ start, sets });
}

const BACK_M = 0.3;

async function restore(
  { start, tools, note, alarm }: Conduct,
  set: (yawDeg: number) => Promise<Rest | null>,
  { map, frame }: { readonly map: PlaceMap | null; readonly frame: FollowedFrame },
): Promise<void> {
  const was = `${start.xM.toFixed(2)} m, ${start.yM.toFixed(2)} m, ${start.ori.toFixed(1)}°`;
  let found = 'no pose at rest was reported since';
  try {
    const now = await set(start.ori);
    const left = frame.left();
    if (left !== null) found = `the map has changed: ${left}`;
    else if (now !== null) {
      found = `${now.xM.toFixed(2)} m, ${now.yM.toFixed(2)} m, ${now.ori.toFixed(1)}° is reported`;
      const offDeg = Math.abs(now.ori - start.ori - 360 * Math.round((now.ori - start.ori) / 360));
      if (distanceM(now, start) <= BACK_M && offDeg <= poseTolerance.turnDeg) {
        await tools.poseAlarm.clear(map);
        note(`The original pose is restored: ${was}.`);
        return;
      }
    }
  } catch (error) {
    found = asGwError(error).message;
  }
  const why = `the original pose (${was}) could not be restored, ${found}`;
  alarm(`THE POSE OF THE ROBOT IS WRONG: ${why}. Set it before the robot drives.`);
  // It holds in memory also where the disk fails.
  await tools.poseAlarm.raise(why, frame.left() === null ? map : null).catch(() => {});
}
