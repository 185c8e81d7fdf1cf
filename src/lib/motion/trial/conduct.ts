import type { ChassisMoves } from '../../chassis/moves.ts';
import { asGwError } from '../../error/index.ts';
import { firstOf } from '../../lifecycle/index.ts';
import type { MoveOutcome, Order } from '../model.ts';
import { carryOut, type OrderTools } from '../orders.ts';
import { judgeDock } from './judge/dock.ts';
import { judgeMove } from './judge/move.ts';
import { distanceM, isAtRest, MIN_REST_SAMPLES, type Rest, restOf } from './judge/numbers.ts';
import { judgePose, type PoseSet } from './judge/pose.ts';
import { DRIVES_M, judgeStop, restAtMs } from './judge/stop.ts';
import type { TrialFinding, TrialKind } from './model.ts';
import { headingsToSet } from './plan.ts';
import type { Sampler } from './samples.ts';

/** What one trial is conducted with. */
export interface Conduct {
  readonly tools: OrderTools;
  readonly sampler: Sampler;
  readonly order: Order;
  readonly start: Rest;
  /** Aborted by a stop, a lost client, a lost connection, the end of the daemon. */
  readonly signal: AbortSignal;
  /** What it does now, for the person beside the robot. */
  say(phase: string): void;
  note(text: string): void;
  alarm(text: string): void;
}

/** Project decisions, in milliseconds. */
const MAX_TRIAL_MS = 60_000;
const REST_WATCH_MS = 4_000;
const REST_SAMPLES = 8;
const STOP_WATCH_MS = 6_000;
/** So long a robot that does not come to rest is cancelled again and again. */
const MAX_RUNAWAY_MS = 30_000;
const CANCEL_AGAIN_MS = 1_000;
/** So much of its way lies behind the robot when the chassis is asked about the move. */
const ASK_AFTER_M = 0.1;

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

/** Sends the order by the same way as every order, and knows when it was sent and answered. */
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
  const { tools, sampler, order, start, signal, say } = conduct;
  if (order.kind !== 'move' || order.goal.value.yawDeg === undefined) throw new RangeError('a trial of a move turns');
  const { xM, yM, yawDeg } = order.goal.value;
  say(`Drives ${distanceM(start, { xM, yM }).toFixed(2)} m, then turns to ${yawDeg}°.`);
  let readWhileMoving: string | null = null;
  const asking = askOnTheWay(conduct, (state) => {
    readWhileMoving = state;
  });
  const driven = await drive(conduct, signal);
  await asking.end();
  say('Has ended; watches that it stands.');
  await settle(conduct, driven.endedAtMs);
  const readAfter = driven.moveId === null ? null : await ask(tools, sampler, driven.moveId);
  const { poses, plans } = sampler;
  return judgeMove({ ...driven, goal: { xM, yM, yawDeg }, start, poses, plans, readWhileMoving, readAfter });
}

/** Asks about the move once, while it drives. */
function askOnTheWay({ tools, sampler, start, signal }: Conduct, onState: (state: string | null) => void) {
  const ending = new AbortController();
  const isUnderWay = () => {
    const last = sampler.poses.at(-1);
    return last !== undefined && distanceM(last, start) >= ASK_AFTER_M && sampler.plans.at(-1)?.moveState === 'moving';
  };
  const work = (async () => {
    if (!(await sampler.until(isUnderWay, MAX_TRIAL_MS, firstOf(signal, ending.signal)))) return;
    const moveId = sampler.plans.at(-1)?.actionId;
    if (moveId !== undefined) onState(await ask(tools, sampler, moveId));
  })();
  return {
    async end(): Promise<void> {
      ending.abort();
      await work;
    },
  };
}

/** What GET of this move says; null when it does not answer. */
async function ask({ moves }: OrderTools, sampler: Sampler, moveId: number): Promise<string | null> {
  try {
    const { state } = await moves.readMove(moveId);
    sampler.note(`GET of move ${moveId}: ${state ?? 'no state'}`);
    return state;
  } catch (error) {
    sampler.note(`GET of move ${moveId} failed: ${asGwError(error).message}`);
    return null;
  }
}

/** Waits for poses at rest after the end, as long as nobody wants it ended. */
async function settle({ sampler, signal }: Conduct, endedAtMs: number): Promise<void> {
  const after = () => sampler.poses.filter(({ atMs }) => atMs >= endedAtMs + 300);
  const isEnough = () => {
    const samples = after();
    return samples.length >= REST_SAMPLES || (samples.length >= MIN_REST_SAMPLES && spanMs(samples) >= 2_000);
  };
  await sampler.until(isEnough, REST_WATCH_MS, signal);
}

function spanMs(samples: readonly { readonly atMs: number }[]): number {
  return (samples.at(-1)?.atMs ?? 0) - (samples[0]?.atMs ?? 0);
}

async function conductStop(conduct: Conduct): Promise<TrialFinding[]> {
  const { tools, sampler, order, start, signal, say } = conduct;
  if (order.kind !== 'move') throw new RangeError('a trial of the cancel drives');
  say('Sets out, and is cancelled as soon as it drives.');
  const cancelling = new AbortController();
  let cancelAtMs: number | null = null;
  const isDriving = () => {
    const last = sampler.poses.at(-1);
    return last !== undefined && distanceM(last, start) >= DRIVES_M && sampler.plans.at(-1)?.moveState === 'moving';
  };
  const watching = sampler.until(isDriving, MAX_TRIAL_MS, firstOf(signal, cancelling.signal)).then((drives) => {
    if (!drives || cancelling.signal.aborted) return;
    cancelAtMs = sampler.now();
    sampler.note('cancel sent');
    say('Was cancelled; watches that it comes to rest.');
    cancelling.abort(new Error('the cancel is what is tried'));
  });
  const driven = await drive(conduct, firstOf(signal, cancelling.signal));
  if (!cancelling.signal.aborted) cancelling.abort();
  await watching;
  const answeredAtMs = tools.canceller.answeredAtMs - tools.clock.monotonicMs() + sampler.now();
  const cancelAnsweredAtMs = cancelAtMs !== null && answeredAtMs >= cancelAtMs ? answeredAtMs : null;
  const isStill = () => restAtMs({ poses: sampler.poses, cancelAnsweredAtMs }) !== null;
  if (cancelAnsweredAtMs !== null) await sampler.until(isStill, STOP_WATCH_MS, signal);
  const readAfter = driven.moveId === null ? null : await ask(tools, sampler, driven.moveId);
  const { poses, plans } = sampler;
  const goal = order.goal.value;
  return judgeStop({ ...driven, goal, start, cancelAtMs, cancelAnsweredAtMs, poses, plans, readAfter });
}

async function conductDock(conduct: Conduct): Promise<TrialFinding[]> {
  const { tools, sampler, order, start, signal, say } = conduct;
  if (order.kind !== 'dock') throw new RangeError('a trial of docking docks');
  say('Drives to the dock.');
  const driven = await drive(conduct, signal);
  say('Has ended; watches that it stands.');
  await settle(conduct, driven.endedAtMs);
  const { battery } = tools.link.snapshot().values;
  const isFresh = battery.status === 'heard' && battery.ageMs <= sampler.now() - driven.endedAtMs;
  const batteryStatus = isFresh ? battery.value.status : null;
  const { poses, plans } = sampler;
  return judgeDock({ ...driven, dock: order.goal.value, start, poses, plans, batteryStatus });
}

/** The robot does not drive. The pose of before is set again whatever happens, also when the trial is ended. */
async function conductPose(conduct: Conduct): Promise<TrialFinding[]> {
  const { tools, sampler, order, start, signal, say } = conduct;
  if (order.kind !== 'pose') throw new RangeError('a trial of the pose sets it');
  const sets: PoseSet[] = [];
  const never = new AbortController().signal;
  const set = async (yawDeg: number): Promise<Rest | null> => {
    const value = { xM: start.xM, yM: start.yM, yawDeg: yawDeg as typeof order.pose.value.yawDeg };
    sampler.note(`pose sent: ${JSON.stringify(value)}`);
    const outcome = await carryOut({ kind: 'pose', pose: { ...order.pose, value } }, tools, never);
    sampler.note(`pose ${outcome.state}${outcome.reason === null ? '' : `: ${outcome.reason}`}`);
    const setAtMs = sampler.now();
    const after = () => sampler.poses.filter(({ atMs }) => atMs > setAtMs);
    await sampler.until(() => after().length >= MIN_REST_SAMPLES, REST_WATCH_MS);
    return restOf(after());
  };
  try {
    for (const setDeg of headingsToSet(start.ori)) {
      if (signal.aborted) break;
      say(`Sets its heading to ${setDeg}°; the robot does not drive.`);
      sets.push({ setDeg, reported: await set(setDeg) });
    }
  } finally {
    say('Sets the pose of before again.');
    await restore(conduct, set);
  }
  return judgePose({ start, sets });
}

const BACK_M = 0.3;
const BACK_DEG = 10;

async function restore({ start, note, alarm }: Conduct, set: (yawDeg: number) => Promise<Rest | null>): Promise<void> {
  const was = `${start.xM.toFixed(2)} m, ${start.yM.toFixed(2)} m, ${start.ori.toFixed(1)}°`;
  let found = 'no pose was reported since';
  try {
    const now = await set(start.ori);
    if (now !== null) {
      found = `${now.xM.toFixed(2)} m, ${now.yM.toFixed(2)} m, ${now.ori.toFixed(1)}° is reported`;
      const offDeg = Math.abs(now.ori - start.ori - 360 * Math.round((now.ori - start.ori) / 360));
      if (isAtRest(now) && distanceM(now, start) <= BACK_M && offDeg <= BACK_DEG) {
        note(`The robot has its old pose again: ${was}.`);
        return;
      }
    }
  } catch (error) {
    found = asGwError(error).message;
  }
  alarm(
    `THE ROBOT TAKES ITSELF FOR TURNED: its old pose (${was}) could not be set again, ${found}. Set it before it drives.`,
  );
}

/**
 * A robot that drives on after everything is cancelled again and again, until it stands or its time is over. False where
 * it did not come to rest, or where nobody can see it: a connection that is lost leaves that open.
 */
export async function holdUntilStill({ tools, sampler }: Pick<Conduct, 'tools' | 'sampler'>): Promise<boolean> {
  const beganMs = sampler.now();
  const isConnected = () => tools.link.snapshot().link.kind === 'connected';
  const isMoving = () => {
    const { planning } = tools.link.snapshot().values;
    return planning.status === 'heard' && planning.value.moveState === 'moving';
  };
  while (isMoving() && isConnected() && sampler.now() - beganMs < MAX_RUNAWAY_MS) {
    await tools.canceller.cancel('a trial has ended, and the robot drives');
    await sampler.until(() => !isMoving(), CANCEL_AGAIN_MS);
  }
  return !isMoving();
}
