import { turnBetween } from '../angle/index.ts';
import type { ChassisLink, Pose } from '../chassis/index.ts';
import type { ChassisMoves } from '../chassis/moves.ts';
import { asGwError } from '../error/index.ts';
import type { Clock, Log } from '../lifecycle/index.ts';
import { onAbort } from '../lifecycle/index.ts';
import type { Canceller } from './canceller.ts';
import type { MoveOutcome, Order } from './model.ts';
import { ended, failed, succeeded } from './outcome.ts';
import type { MoveWatch, OwnMove } from './unowned-move.ts';

/** How long gw waits for what, in milliseconds. Decisions of ours; tests shorten them. */
export interface OrderLimits {
  /** A whole move, from the order to its end: `motion.moveLimitS` of the site file. */
  readonly moveMs: number;
  /** Without a word about this move for so long, gw asks. */
  readonly silenceMs: number;
  /** A state that gw does not know may last so long before the move is cancelled. */
  readonly unclearMs: number;
  /** After a cancel, and after a lost reply, gw watches so long for how it ends. */
  readonly settleMs: number;
  /** A pose that was set must be reported back within. */
  readonly readBackMs: number;
  /** A cancel that does not reach the chassis is sent so often, then again when the chassis is back. */
  readonly cancelTries: number;
}

export const orderLimits: Omit<OrderLimits, 'moveMs'> = {
  silenceMs: 5_000,
  unclearMs: 10_000,
  settleMs: 3_000,
  readBackMs: 3_000,
  cancelTries: 12,
};

export interface OrderTools {
  readonly link: ChassisLink;
  readonly moves: ChassisMoves;
  readonly canceller: Canceller;
  readonly watch: MoveWatch;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: OrderLimits;
}

/** How far the chassis may correct a pose that it was given, by its own sensors. Decision of ours. */
const POSE_TOLERANCE_M = 0.5;
const POSE_TOLERANCE_DEG = 15;

/**
 * Sends an order that the gate has let pass and follows it to its end. Aborting the signal cancels the move. Throws
 * only when the chassis certainly did not take the order.
 */
export async function carryOut(order: Order, tools: OrderTools, signal: AbortSignal): Promise<MoveOutcome> {
  if (order.kind === 'pose') return setPose(order.pose.value, tools);
  using own = tools.watch.begin();
  const outcome = await drive(order, tools, signal, own);
  if (outcome.state === 'unknown') own.lost();
  return outcome;
}

type DriveOrder = Exclude<Order, { kind: 'pose' }>;

async function drive(order: DriveOrder, tools: OrderTools, signal: AbortSignal, own: OwnMove): Promise<MoveOutcome> {
  const { link, moves, clock, log, limits } = tools;
  const { xM, yM, yawDeg } = order.goal.value;
  const beganMs = clock.monotonicMs();
  let moveId: number;
  try {
    // Not under the caller's signal: an order cut off half way may have been taken, and nobody would know its number.
    const request = { type: order.kind === 'dock' ? 'charge' : 'standard', xM, yM } as const;
    const sent = await moves.move(
      yawDeg === undefined ? request : { ...request, yawDeg },
      new AbortController().signal,
    );
    moveId = sent.moveId;
    own.taken(moveId);
  } catch (error) {
    if (certainlyNotTaken(error)) throw error;
    return afterLostReply(asGwError(error).message, beganMs, tools);
  }
  log.info({ moveId, kind: order.kind, source: order.goal.source }, 'the chassis has taken the order');

  let lastWordMs = clock.monotonicMs();
  let unclearSinceMs: number | null = null;
  let connected = true;
  for (;;) {
    const nowMs = clock.monotonicMs();
    const tookMs = nowMs - beganMs;
    const snapshot = link.snapshot();

    let word = wordFromTopic(tools, moveId, beganMs);
    const isConnected = snapshot.link.kind === 'connected';
    const due = !connected || nowMs - Math.max(lastWordMs, word?.atMs ?? 0) >= limits.silenceMs;
    if (isConnected && due && !word?.end) {
      word = await wordFromRequest(tools, moveId);
      lastWordMs = clock.monotonicMs();
    } else if (word) {
      lastWordMs = Math.max(lastWordMs, word.atMs);
    }
    connected = isConnected;

    if (word?.end) return outcomeOf(word, moveId, clock.monotonicMs() - beganMs);
    if (signal.aborted) {
      return abandon(moveId, beganMs, 'cancelled', `The move was cancelled: ${reasonOf(signal)}.`, tools);
    }
    if (snapshot.unitContradicted) {
      const why = 'The move was cancelled: the chassis contradicts angles.tracked-pose-ori, its heading is not known.';
      return abandon(moveId, beganMs, 'cancelled', why, tools);
    }
    if (word?.gone) {
      return abandon(moveId, beganMs, 'unknown', 'The chassis does not know this move any more.', tools);
    }
    if (word?.unclear === undefined) {
      if (word) unclearSinceMs = null;
    } else {
      unclearSinceMs ??= nowMs;
      if (nowMs - unclearSinceMs >= limits.unclearMs) {
        const why = `The chassis reports the state '${word.unclear}', which gw does not know; the move was cancelled.`;
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

/** What is known about a move from one source. */
interface Word {
  /** When it was heard, by the monotonic clock. */
  readonly atMs: number;
  readonly end?: 'succeeded' | 'failed' | 'cancelled';
  /** A state that is neither an end nor 'moving'. It is never taken for success. */
  readonly unclear?: string;
  readonly gone?: boolean;
  readonly failReason: number | null;
  readonly failReasonText: string | null;
}

/** The topic is the truth; only what was heard since the order counts, for numbers may begin anew after a restart. */
function wordFromTopic({ link, clock }: OrderTools, moveId: number, sinceMs: number): Word | undefined {
  const { planning } = link.snapshot().values;
  if (planning.status !== 'heard' || planning.value.actionId !== moveId) return undefined;
  const atMs = clock.monotonicMs() - planning.ageMs;
  if (atMs < sinceMs) return undefined;
  const { moveState, failReason, failReasonText } = planning.value;
  return { atMs, ...meaningOf(moveState), failReason, failReasonText };
}

/** After a reconnect or a silence, the chassis is asked about this one move. */
async function wordFromRequest({ moves, clock, log }: OrderTools, moveId: number): Promise<Word | undefined> {
  try {
    const move = await moves.readMove(moveId);
    const { failReason, failReasonText } = move;
    return { atMs: clock.monotonicMs(), ...meaningOf(move.state), failReason, failReasonText };
  } catch (error) {
    const gwError = asGwError(error);
    log.warn({ moveId, error: gwError.message }, 'asking about the move failed');
    if (gwError.details?.status !== 404) return undefined;
    return { atMs: clock.monotonicMs(), gone: true, failReason: null, failReasonText: null };
  }
}

function meaningOf(state: string | null): Pick<Word, 'end' | 'unclear'> {
  switch (state) {
    case 'moving':
      return {};
    case 'succeeded':
    case 'failed':
    case 'cancelled':
      return { end: state };
    default:
      return { unclear: state ?? '' };
  }
}

function outcomeOf(word: Word, moveId: number, tookMs: number): MoveOutcome {
  switch (word.end) {
    case 'succeeded':
      return succeeded(moveId, tookMs);
    case 'failed':
      return failed(moveId, word.failReason, word.failReasonText, tookMs);
    default:
      return ended('cancelled', moveId, 'The move was cancelled on the chassis.', tookMs);
  }
}

/** Cancels the move and reports what the chassis then says; without a word from it, the end is unknown. */
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
    const word = wordFromTopic(tools, moveId, beganMs);
    if (word?.end === 'cancelled') return ended(state, moveId, reason, tookMs);
    if (word?.end) return outcomeOf(word, moveId, tookMs);
    if (nowMs >= untilMs) break;
    await nextChange(tools, Math.min(200, untilMs - nowMs));
  }
  if (link.snapshot().link.kind === 'connected') {
    const word = await wordFromRequest(tools, moveId);
    if (word?.end === 'cancelled') return ended(state, moveId, reason, clock.monotonicMs() - beganMs);
    if (word?.end) return outcomeOf(word, moveId, clock.monotonicMs() - beganMs);
  }
  const waitedMs = Math.round(clock.monotonicMs() - cancelledAtMs);
  const doubt = delivered
    ? `The chassis took the cancel, but did not say within ${waitedMs} ms that the move has ended.`
    : 'The cancel has not reached the chassis; it is repeated when the chassis is back.';
  return ended('unknown', moveId, `${reason} ${doubt}`, clock.monotonicMs() - beganMs);
}

/**
 * The order was sent and no answer came: the chassis may drive. It is cancelled, and cancelled again when a
 * movement shows up late.
 */
async function afterLostReply(why: string, beganMs: number, tools: OrderTools): Promise<MoveOutcome> {
  const { canceller, clock, link, limits, log } = tools;
  log.error({ why }, 'the reply to a move order was lost; the move is cancelled');
  let delivered = await canceller.cancel('the reply to the order was lost');
  const untilMs = clock.monotonicMs() + limits.settleMs;
  for (let nowMs = clock.monotonicMs(); nowMs < untilMs; nowMs = clock.monotonicMs()) {
    const { planning } = link.snapshot().values;
    const isMoving = planning.status === 'heard' && planning.value.moveState === 'moving';
    if (isMoving && nowMs - planning.ageMs > canceller.answeredAtMs) {
      delivered = await canceller.cancel('a movement began after its order was cancelled');
    }
    await nextChange(tools, Math.min(200, Math.max(1, untilMs - nowMs)));
  }
  const then = delivered
    ? 'whatever it drove was cancelled'
    : 'the cancel has not reached it either, and is repeated when it is back';
  return ended(
    'unknown',
    null,
    `The chassis did not confirm the order (${why}); ${then}.`,
    clock.monotonicMs() - beganMs,
  );
}

/** Only an answer of the chassis, or a connection that never came about, proves that the order was not taken. */
function certainlyNotTaken(error: unknown): boolean {
  const { code, details, tried } = asGwError(error);
  if (code === 'CHASSIS_BOOTING' || code === 'CHASSIS_WRONG_DEVICE') return true;
  // It failed already while the serial number was asked for.
  if (tried?.action?.startsWith('GET ')) return true;
  if (code === 'CHASSIS_REFUSED') return !(typeof details?.status === 'number' && details.status >= 500);
  const failure = (error as { failure?: unknown }).failure;
  return failure === 'refused' || failure === 'no-route' || failure === 'unknown-name';
}

/** The pose that comes back must be the pose that was sent: a wrong unit would show here and nowhere else. */
async function setPose(pose: Pose, tools: OrderTools): Promise<MoveOutcome> {
  const { moves, clock, link, limits, log } = tools;
  const beganMs = clock.monotonicMs();
  // Always said: without it the vendor leaves the behaviour open. Small errors of a person are corrected.
  await moves.setPose({ ...pose, adjust: true });
  const sentMs = clock.monotonicMs();
  log.info({ ...pose }, 'the pose was set');
  let seen: Pose | undefined;
  for (let nowMs = sentMs; nowMs < sentMs + limits.readBackMs; nowMs = clock.monotonicMs()) {
    const told = link.snapshot().values.pose;
    const toldMs = told.status === 'heard' ? nowMs - told.ageMs : Number.NEGATIVE_INFINITY;
    if (told.status === 'heard' && toldMs > beganMs) {
      if (isNear(pose, told.value)) return succeeded(null, nowMs - beganMs);
      // What was told before the chassis had answered may be from before it took the pose.
      if (toldMs > sentMs) seen = told.value;
    }
    await nextChange(tools, Math.min(200, Math.max(1, sentMs + limits.readBackMs - nowMs)));
  }
  const tookMs = clock.monotonicMs() - beganMs;
  if (!seen) {
    return ended('unknown', null, 'The chassis took the pose, but has not reported where it stands since.', tookMs);
  }
  const found = `${seen.xM} m, ${seen.yM} m, ${seen.yawDeg}°`;
  return ended('failed', null, `The chassis took the pose, but reports another one: ${found}.`, tookMs);
}

function isNear(a: Pose, b: Pose): boolean {
  return (
    Math.hypot(a.xM - b.xM, a.yM - b.yM) <= POSE_TOLERANCE_M &&
    Math.abs(turnBetween(a.yawDeg, b.yawDeg)) <= POSE_TOLERANCE_DEG
  );
}

function reasonOf(signal: AbortSignal): string {
  return signal.reason instanceof Error ? signal.reason.message.replace(/\.$/, '') : String(signal.reason);
}

/** Resolves at the next change of the link, after `ms`, or when the signal is aborted; never rejects. */
async function nextChange({ link, clock }: OrderTools, ms: number, signal?: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  using _change = link.subscribe(resolve);
  using _limit = clock.after(ms, resolve);
  using _aborted = onAbort(signal, resolve);
  await promise;
}
