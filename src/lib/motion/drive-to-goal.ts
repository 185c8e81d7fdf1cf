import { shownUnit } from '../chassis/index.ts';
import { asGwError, GwError } from '../error/index.ts';
import { firstOf } from '../lifecycle/index.ts';
import { judgeArrival } from './arrival.ts';
import { unfitUnderWay } from './fitness.ts';
import { asClause, confirmMap, leftFrame } from './map-frame.ts';
import type { Arrival, DriveOrder, MoveOutcome } from './model.ts';
import { carryOut, nextChange, type OrderTools, reasonOf } from './orders.ts';
import { ended } from './outcome.ts';

/** Project decision: an ended run waits so long for the proof that the robot stands. */
const AFTER_ABORT_MS = 6_000;
const POLL_MS = 200;
/** Project decision: so much longer while a noisy heading has to stand still in either unit, or as a repeated pose needs. */
const UNDECIDED_MS = 20_000;

interface DriveTools extends OrderTools {
  /** Alerts that a person passes, by their numbers. */
  readonly although: readonly number[];
}

/**
 * Carries out a drive, then waits until the poses show that the robot stands, and compares its pose with the goal. It
 * has succeeded only where both agree with the report of the chassis; a robot that is not proven to stand is cancelled.
 * So is one whose control mode or map changes, or that reports a new error, on its way.
 */
export async function driveToGoal(order: DriveOrder, tools: DriveTools, ended: AbortSignal): Promise<MoveOutcome> {
  const { link, although, log } = tools;
  const unfit = new AbortController();
  const check = () => {
    const { values, link: state, linkForMs } = link.snapshot();
    const about = { isConnected: state.kind === 'connected', linkForMs };
    const unfitNow = unfitUnderWay(values, although);
    const why = unfitNow === null ? leftFrame(order.goal.value.map, values, about) : asClause(unfitNow);
    if (why === null || unfit.signal.aborted) return;
    log.warn({ why }, 'the running drive is cancelled');
    unfit.abort(new GwError('MOTION_REFUSED', why));
  };
  using _watching = link.subscribe(check);
  check();
  return await driveAndCompare(order, tools, firstOf(ended, unfit.signal));
}

async function driveAndCompare(order: DriveOrder, tools: DriveTools, signal: AbortSignal): Promise<MoveOutcome> {
  const { clock, canceller, watch, log } = tools;
  const beganMs = clock.monotonicMs();
  const outcome = await carryOut(order, tools, signal);
  if (outcome.state !== 'succeeded') return outcome;
  const wasEndedOnItsWay = signal.aborted;
  const endedAtMs = clock.monotonicMs();
  const arrival = await confirmFrame(await awaitArrival(order, endedAtMs, tools, signal), order, tools);
  const { moveId } = outcome;
  const { verdict, reason } = arrival;
  const tookMs = () => clock.monotonicMs() - beganMs;
  if (verdict === 'at-goal') {
    if (!wasEndedOnItsWay) return { ...outcome, arrival, tookMs: tookMs() };
    const why = `The drive was ended (${reasonOf(signal)}), and the robot went on to its goal`;
    return { ...ended('cancelled', moveId, `${why}.`, tookMs()), arrival };
  }
  log.warn({ moveId, verdict, reason }, 'the chassis reports success, but the robot is not at its goal');
  const why = `The chassis reports success, but ${reason}.`;
  if (verdict === 'elsewhere') {
    const isEnded = signal.aborted;
    const end = isEnded ? `The move was cancelled: ${reasonOf(signal)}.` : why;
    return { ...ended(isEnded ? 'cancelled' : 'failed', moveId, end, tookMs()), arrival };
  }
  const isDelivered = await canceller.cancel(why);
  // If the chassis reports it again, the move is unowned, which closes the gate.
  using own = watch.begin();
  if (moveId !== null) own.accepted(moveId);
  own.lost();
  const doubt = isDelivered
    ? 'It was cancelled.'
    : 'The cancel was not delivered; it is repeated when the chassis is connected again.';
  const cause = signal.aborted ? `The move was ended: ${reasonOf(signal)}. ` : '';
  return { ...ended('unknown', moveId, `${cause}${why} ${doubt}`, tookMs()), arrival };
}

/** Also by request: a goal that was reached on a map which the chassis no longer uses is another place. */
async function confirmFrame(arrival: Arrival, order: DriveOrder, tools: DriveTools): Promise<Arrival> {
  if (arrival.verdict !== 'at-goal') return arrival;
  try {
    await confirmMap(order.goal.value.map, tools);
    return arrival;
  } catch (error) {
    return { ...arrival, verdict: 'not-known', reason: asClause(asGwError(error).message) };
  }
}

/** Until the robot stands, or the time is over. An ended run is cancelled once and waits shorter. */
async function awaitArrival(
  order: DriveOrder,
  endedAtMs: number,
  { link, clock, canceller, limits }: DriveTools,
  signal: AbortSignal,
): Promise<Arrival> {
  let untilMs = endedAtMs + limits.arriveMs;
  let isCancelled = false;
  for (;;) {
    const nowMs = clock.monotonicMs();
    if (signal.aborted && !isCancelled) {
      isCancelled = true;
      untilMs = Math.min(untilMs, nowMs + AFTER_ABORT_MS);
      // Not awaited: the time that the robot needs to stand does not begin with the answer.
      void canceller.cancel(reasonOf(signal));
    }
    const snapshot = link.snapshot();
    const unit = shownUnit(snapshot.poseUnit);
    const arrival = judgeArrival(order, { snapshot, unit, endedAtMs });
    const longerMs = Math.max(unit === 'not-decided' ? UNDECIDED_MS : 0, snapshot.poses.at(-1)?.restMs ?? 0);
    const leftMs = untilMs - nowMs + (isCancelled ? 0 : longerMs);
    if (arrival.pose !== null || leftMs <= 0) return arrival;
    await nextChange({ link, clock }, Math.min(POLL_MS, leftMs), isCancelled ? undefined : signal);
  }
}
