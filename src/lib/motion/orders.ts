import { turnBetween } from '../angle/index.ts';
import {
  type ChassisLink,
  isBeforeConnection,
  judgeStanding,
  type Pose,
  type Standing,
  shownUnit,
} from '../chassis/index.ts';
import type { ChassisMoves } from '../chassis/moves.ts';
import { asGwError, formatTried, type Tried } from '../error/index.ts';
import type { Clock, Log } from '../lifecycle/index.ts';
import { onAbort } from '../lifecycle/index.ts';
import { poseTolerance } from './arrival.ts';
import type { Canceller } from './canceller.ts';
import { confirmMap } from './map-frame.ts';
import type { DriveOrder, MoveOutcome, Order } from './model.ts';
import { ended, failed, isDoubtfulSuccess, succeeded } from './outcome.ts';
import type { PoseAlarm } from './pose-alarm.ts';
import type { StopProofs } from './stop-proof.ts';
import type { MoveWatch, OwnMove } from './unowned-move.ts';

/** Timeouts in milliseconds. Project decisions; tests shorten them. */
export interface OrderLimits {
  /** A whole move, from the order to its end: `motion.moveLimitS` of the site file. */
  readonly moveMs: number;
  /** Without a report about this move for so long, gw requests its state. */
  readonly silenceMs: number;
  /** An unknown state may last so long before the move is cancelled. */
  readonly unclearMs: number;
  /** After a cancel, and after a lost reply, gw waits so long for the end of the move. */
  readonly settleMs: number;
  /** A pose that was set must be reported within this time. */
  readonly readBackMs: number;
  /** After a reported success, gw waits so long for the proof that the robot stands. */
  readonly arriveMs: number;
  /** A paused tour ends after this time. */
  readonly pauseMs: number;
  /** An undelivered cancel is sent so often, then again after the reconnect. */
  readonly cancelTries: number;
}

export const orderLimits: Omit<OrderLimits, 'moveMs'> = {
  silenceMs: 5_000,
  unclearMs: 10_000,
  settleMs: 3_000,
  readBackMs: 3_000,
  arriveMs: 15_000,
  pauseMs: 30 * 60_000,
  cancelTries: 12,
};

export interface OrderTools {
  readonly link: ChassisLink;
  readonly moves: ChassisMoves;
  readonly canceller: Canceller;
  readonly watch: MoveWatch;
  readonly proofs: Pick<StopProofs, 'ordered' | 'rested'>;
  readonly poseAlarm: PoseAlarm;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: OrderLimits;
}

/** Project decisions: a pose that was set must be reported all this time, by so many messages. */
const HELD_MS = 3_000;
const MIN_HELD_POSES = 4;
/** Project decision: a noisy heading of undecided unit shows a rest so late, with one pose a second. */
const RESTS_WITHIN_MS = 30_000;

/**
 * Sends an order that passed the gate and follows it to its end. Aborting the signal cancels the move. Throws only when
 * the chassis certainly did not accept the order.
 */
export async function carryOut(order: Order, tools: OrderTools, signal: AbortSignal): Promise<MoveOutcome> {
  const { map } = (order.kind === 'pose' ? order.pose : order.goal).value;
  await confirmMap(map, tools);
  tools.proofs.ordered();
  if (order.kind === 'pose') return setPose(order.pose.value, tools);
  using own = tools.watch.begin();
  const outcome = await drive(order, tools, signal, own);
  if (outcome.state === 'unknown') own.lost();
  return outcome;
}

async function drive(order: DriveOrder, tools: OrderTools, signal: AbortSignal, own: OwnMove): Promise<MoveOutcome> {
  const { link, moves, clock, log, limits } = tools;
  const { xM, yM, yawDeg } = order.goal.value;
  const beganMs = clock.monotonicMs();
  let moveId: number;
  let isNew: boolean;
  try {
    // Without the caller's signal: an aborted request may have been accepted, and its number would be unknown.
    const request = { type: order.kind === 'dock' ? 'charge' : 'standard', xM, yM } as const;
    const sent = await moves.move(
      yawDeg === undefined ? request : { ...request, yawDeg },
      new AbortController().signal,
    );
    moveId = sent.moveId;
    isNew = own.accepted(moveId);
  } catch (error) {
    if (isCertainlyNotAccepted(error)) throw error;
    return afterLostReply(asGwError(error).message, beganMs, tools);
  }
  if (!isNew) return afterLostReply(`it has the number ${moveId} of an earlier move`, beganMs, tools);
  log.info({ moveId, kind: order.kind, source: order.goal.source }, 'the chassis accepted the order');

  let lastUpdateMs = clock.monotonicMs();
  let unclearSinceMs: number | null = null;
  let connected = true;
  for (;;) {
    const nowMs = clock.monotonicMs();
    const tookMs = nowMs - beganMs;
    const snapshot = link.snapshot();

    if (snapshot.link.kind === 'not-connected' && snapshot.link.failure === 'wrong-device') {
      return outOfReach(moveId, beganMs, snapshot.link, tools);
    }
    let update = updateFromTopic(tools, moveId, beganMs);
    const isConnected = snapshot.link.kind === 'connected';
    const due = !connected || nowMs - Math.max(lastUpdateMs, update?.atMs ?? 0) >= limits.silenceMs;
    if (isConnected && due && !update?.end) {
      update = await updateFromRequest(tools, moveId);
      lastUpdateMs = clock.monotonicMs();
    } else if (update) {
      lastUpdateMs = Math.max(lastUpdateMs, update.atMs);
    }
    connected = isConnected;

    if (update?.end) return outcomeOf(update, moveId, clock.monotonicMs() - beganMs);
    if (signal.aborted) {
      return abandon(moveId, beganMs, 'cancelled', `The move was cancelled: ${reasonOf(signal)}.`, tools);
    }
    if (snapshot.unitContradicted) {
      const why = 'The move was cancelled: the chassis contradicts angles.tracked-pose-ori, its heading is unknown.';
      return abandon(moveId, beganMs, 'cancelled', why, tools);
    }
    if (update?.gone) {
      return abandon(moveId, beganMs, 'unknown', 'The chassis no longer knows this move.', tools);
    }
    if (update?.unclear === undefined) {
      if (update) unclearSinceMs = null;
    } else {
      unclearSinceMs ??= nowMs;
      if (nowMs - unclearSinceMs >= limits.unclearMs) {
        const why = `The chassis reports the state ${update.unclear}, which is no end that gw knows; the move was cancelled.`;
        return abandon(moveId, beganMs, 'unknown', why, tools);
      }
    }
    if (tookMs >= limits.moveMs) {
      const why = `The move did not end within ${Math.round(limits.moveMs / 1000)} s; it was cancelled.`;
      return abandon(moveId, beganMs, 'cancelled', why, tools);
    }
    await nextChange(tools, Math.min(500, limits.silenceMs, limits.moveMs - tookMs), signal);
  }
}

/** The state of a move from one source. */
interface MoveUpdate {
  /** Time of receipt by the monotonic clock. */
  readonly atMs: number;
  readonly end?: 'succeeded' | 'failed' | 'cancelled';
  /** A state that is neither an end nor 'moving', in quotes, or a success with a reason of its failure. Never a success. */
  readonly unclear?: string;
  readonly gone?: boolean;
  readonly failReason: number | null;
  readonly failReasonText: string | null;
}

/** Only messages since the order count: move numbers may be reused after a restart. */
function updateFromTopic({ link, clock }: OrderTools, moveId: number, sinceMs: number): MoveUpdate | undefined {
  const { planning } = link.snapshot().values;
  if (planning.status !== 'received' || planning.value.actionId !== moveId) return undefined;
  const atMs = clock.monotonicMs() - planning.ageMs;
  if (atMs < sinceMs) return undefined;
  const { moveState, failReason, failReasonText } = planning.value;
  return { atMs, ...meaningOf(moveState, failReason), failReason, failReasonText };
}

/** Requests the state of this move, after a reconnect or without reports. */
async function updateFromRequest({ moves, clock, log }: OrderTools, moveId: number): Promise<MoveUpdate | undefined> {
  try {
    const move = await moves.readMove(moveId);
    const { failReason, failReasonText } = move;
    return { atMs: clock.monotonicMs(), ...meaningOf(move.state, failReason), failReason, failReasonText };
  } catch (error) {
    const gwError = asGwError(error);
    log.warn({ moveId, error: gwError.message }, 'GET of the move failed');
    if (gwError.details?.status !== 404) return undefined;
    return { atMs: clock.monotonicMs(), gone: true, failReason: null, failReasonText: null };
  }
}

function meaningOf(state: string | null, failReason: number | null): Pick<MoveUpdate, 'end' | 'unclear'> {
  if (isDoubtfulSuccess(state, failReason)) return { unclear: `'succeeded' with fail_reason ${failReason}` };
  switch (state) {
    case 'moving':
      return {};
    case 'succeeded':
    case 'failed':
    case 'cancelled':
      return { end: state };
    default:
      return { unclear: `'${state ?? ''}'` };
  }
}

function outcomeOf(update: MoveUpdate, moveId: number, tookMs: number): MoveOutcome {
  switch (update.end) {
    case 'succeeded':
      return succeeded(moveId, tookMs);
    case 'failed':
      return failed(moveId, update.failReason, update.failReasonText, tookMs);
    default:
      return ended('cancelled', moveId, 'The move was cancelled on the chassis.', tookMs);
  }
}

/** Cancels the move and returns the end the chassis then reports; without a report the end is unknown. */
async function abandon(
  moveId: number,
  beganMs: number,
  state: 'cancelled' | 'unknown',
  reason: string,
  tools: OrderTools,
): Promise<MoveOutcome> {
  const { canceller, clock, limits, link } = tools;
  const cancelledAtMs = clock.monotonicMs();
  const delivered = await canceller.cancel(reason);
  const untilMs = clock.monotonicMs() + limits.settleMs;
  for (;;) {
    const nowMs = clock.monotonicMs();
    const tookMs = nowMs - beganMs;
    const update = updateFromTopic(tools, moveId, beganMs);
    if (update?.end === 'cancelled') return ended(state, moveId, reason, tookMs);
    if (update?.end) return outcomeOf(update, moveId, tookMs);
    if (nowMs >= untilMs) break;
    await nextChange(tools, Math.min(200, untilMs - nowMs));
  }
  if (link.state().kind === 'connected') {
    const update = await updateFromRequest(tools, moveId);
    if (update?.end === 'cancelled') return ended(state, moveId, reason, clock.monotonicMs() - beganMs);
    if (update?.end) return outcomeOf(update, moveId, clock.monotonicMs() - beganMs);
  }
  const waitedMs = Math.round(clock.monotonicMs() - cancelledAtMs);
  const doubt = delivered
    ? `The chassis accepted the cancel, but did not report the end of the move within ${waitedMs} ms.`
    : 'The cancel was not delivered; it is repeated when the chassis is connected again.';
  return ended('unknown', moveId, `${reason} ${doubt}`, clock.monotonicMs() - beganMs);
}

/**
 * Another chassis answers in the place of the one that drives: its end cannot be observed, and no cancel may go to the
 * other one. The cancel stays pending, closes the gate, and is sent when the right chassis is connected again.
 */
function outOfReach(
  moveId: number,
  beganMs: number,
  { foundSerial, tried }: { readonly foundSerial?: string | undefined; readonly tried: Tried },
  { canceller, clock, log }: OrderTools,
): MoveOutcome {
  const found = foundSerial === undefined ? 'Another chassis' : `Another chassis, ${foundSerial},`;
  const reason = `${found} answers at ${formatTried(tried)}: the move can neither be observed nor cancelled, and THE ROBOT MAY STILL BE MOVING.`;
  log.error({ moveId, foundSerial }, 'another chassis answers during a move');
  void canceller.cancel(reason);
  return ended('unknown', moveId, reason, clock.monotonicMs() - beganMs);
}

/**
 * The order was sent without a reply that names its move: the chassis may execute it. It is cancelled, and cancelled again when a movement
 * begins later.
 */
async function afterLostReply(why: string, beganMs: number, tools: OrderTools): Promise<MoveOutcome> {
  const { canceller, clock, link, limits, log } = tools;
  log.error({ why }, 'the reply to a move order does not name its move; the move is cancelled');
  let delivered = await canceller.cancel('the reply to the order does not name its move');
  const untilMs = clock.monotonicMs() + limits.settleMs;
  for (let nowMs = clock.monotonicMs(); nowMs < untilMs; nowMs = clock.monotonicMs()) {
    const { planning } = link.snapshot().values;
    const isMoving = planning.status === 'received' && planning.value.moveState === 'moving';
    if (isMoving && nowMs - planning.ageMs > canceller.answeredAtMs) {
      delivered = await canceller.cancel('a movement began after its order was cancelled');
    }
    await nextChange(tools, Math.min(200, Math.max(1, untilMs - nowMs)));
  }
  const then = delivered
    ? 'any move was cancelled'
    : 'the cancel was not delivered either; it is repeated when the chassis is connected again';
  return ended(
    'unknown',
    null,
    `The chassis did not confirm the order (${why}); ${then}.`,
    clock.monotonicMs() - beganMs,
  );
}

/** Only a response of the chassis, or a failed connection attempt, proves that the order was not accepted. */
export function isCertainlyNotAccepted(error: unknown): boolean {
  const { code, details, tried } = asGwError(error);
  if (code === 'CHASSIS_BOOTING' || code === 'CHASSIS_WRONG_DEVICE' || code === 'MOTION_REFUSED') return true;
  // It failed while the serial number was verified, before the order.
  if (tried?.action?.startsWith('GET ')) return true;
  if (code === 'CHASSIS_REFUSED') return !(typeof details?.status === 'number' && details.status >= 500);
  return isBeforeConnection((error as { failure?: unknown }).failure);
}

async function setPose(pose: Pose, tools: OrderTools): Promise<MoveOutcome> {
  try {
    return await setAndReadBack(pose, tools);
  } finally {
    // Also after a lost reply: the jump from the old pose to the new one is no movement.
    tools.link.poseWasSet();
  }
}

/**
 * The reported pose must be the pose that was sent, stay it, and be that of a robot at rest: a wrong unit is detected only
 * here, a chassis may take a pose and return to its own a moment later, or drift from it.
 */
async function setAndReadBack(pose: Pose, tools: OrderTools): Promise<MoveOutcome> {
  const { moves, clock, link, limits, log } = tools;
  const beganMs = clock.monotonicMs();
  // Always sent: without it the behaviour is undefined (vendor). Small errors of a person are corrected.
  await moves.setPose({ ...pose, adjust: true });
  const sentMs = clock.monotonicMs();
  log.info({ ...pose }, 'the pose was set');
  let seen: Pose | undefined;
  let last: Pose | undefined;
  /** Since when every reported pose has been near, and how many were. */
  let held = null as { readonly sinceMs: number; readonly poses: number } | null;
  let rest: Standing | null = null;
  const tookMs = () => clock.monotonicMs() - beganMs;
  for (;;) {
    const nowMs = clock.monotonicMs();
    const { values, poses, poseUnit } = link.snapshot();
    const reported = values.pose;
    const reportedMs = reported.status === 'received' ? nowMs - reported.ageMs : Number.NEGATIVE_INFINITY;
    if (reported.status === 'received' && reported.value !== last && reportedMs > beganMs) {
      last = reported.value;
      if (isNear(pose, last)) held = { sinceMs: held?.sinceMs ?? reportedMs, poses: (held?.poses ?? 0) + 1 };
      // A pose received before the response may be older than the new pose.
      else if (reportedMs > sentMs) {
        seen = last;
        if (held !== null)
          return ended('failed', null, `The chassis took the pose, and then reports ${poseText(last)}.`, tookMs());
      }
    }
    if (held !== null && held.poses >= MIN_HELD_POSES && reportedMs - held.sinceMs >= HELD_MS) {
      rest = judgeStanding({ poses, nowMs, unit: shownUnit(poseUnit), sinceMs: held.sinceMs });
      if (rest.verdict === 'stands') return succeeded(null, tookMs());
    }
    const leftMs = (held === null ? sentMs + limits.readBackMs : held.sinceMs + RESTS_WITHIN_MS) - nowMs;
    if (leftMs <= 0) break;
    await nextChange(tools, Math.min(200, Math.max(1, leftMs)));
  }
  if (rest !== null) {
    const state = rest.verdict === 'moves' ? 'failed' : 'unknown';
    return ended(
      state,
      null,
      `The chassis took the pose, but the robot does not rest there: ${rest.reason}.`,
      tookMs(),
    );
  }
  if (held !== null) {
    return ended('unknown', null, 'The chassis took the pose, but has reported too few poses since.', tookMs());
  }
  if (!seen) {
    return ended('unknown', null, 'The chassis accepted the pose, but has not reported a pose since.', tookMs());
  }
  return ended('failed', null, `The chassis accepted the pose, but reports another one: ${poseText(seen)}.`, tookMs());
}

function poseText({ xM, yM, yawDeg }: Pose): string {
  return `${xM} m, ${yM} m, ${yawDeg}°`;
}

function isNear(a: Pose, b: Pose): boolean {
  return (
    Math.hypot(a.xM - b.xM, a.yM - b.yM) <= poseTolerance.distanceM &&
    Math.abs(turnBetween(a.yawDeg, b.yawDeg)) <= poseTolerance.turnDeg
  );
}

/** Why the signal was aborted, for the middle of a sentence. */
export function reasonOf(signal: AbortSignal): string {
  return signal.reason instanceof Error ? signal.reason.message.replace(/\.$/, '') : String(signal.reason);
}

/** Resolves at the next change of the link, after `ms`, or when the signal is aborted; never rejects. */
export async function nextChange(
  { link, clock }: Pick<OrderTools, 'link' | 'clock'>,
  ms: number,
  signal?: AbortSignal,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  using _change = link.subscribe(resolve);
  using _limit = clock.after(ms, resolve);
  using _aborted = onAbort(signal, resolve);
  await promise;
}
