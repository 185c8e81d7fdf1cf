import {
  createTrack,
  createUnitJudge,
  failureDetail,
  openTopicStream,
  type PoseSample,
  type Standing,
  type TopicMessage,
  type TopicStreamOptions,
} from '../chassis/index.ts';
import { GwError } from '../error/index.ts';
import { onAbort } from '../lifecycle/index.ts';
import { plural } from '../text/index.ts';

/** Whether the robot stands still, by its poses. 'not-checked' is not still. */
export interface Stillness {
  readonly verdict: 'still' | 'moving' | 'not-checked';
  /** Reason of the verdict, as a clause. */
  readonly detail: string;
}

export type StillnessOptions = Pick<TopicStreamOptions, 'endpoint' | 'dialer' | 'clock' | 'secret'>;

/** Checks whether the robot stands still. */
export type StillnessCheck = (signal?: AbortSignal, onProgress?: (text: string) => void) => Promise<Stillness>;

/**
 * Project decision: with noise of a centimetre and one pose per second 95 of 100 robots at rest are found to stand
 * within this time, three seconds of which are the least that is judged.
 */
const LIMIT_MS = 15_000;
/**
 * A pose that never changes is also that of a chassis which renews it only after 0.2 m; the slowest robot needs so long for
 * them. Project decision.
 */
const UNCHANGED_MS = 10_000;
/** Poses further apart show nothing, so a first one that comes later is not waited for. Project decision. */
const FIRST_POSE_MS = 3_000;
const PROGRESS_MS = 1_000;

/** Move states without a move under way. @source vendor REST book (HINWEIS) */
const restingStates: readonly string[] = ['none', 'idle', 'succeeded', 'failed', 'cancelled'];

/**
 * Subscribes to `/tracked_pose` and `/planning_state` until the poses decide, for at most 15 s: about 4 s with ten poses
 * per second, 4 to 10 s with one, and 10 s where they never change. Too few poses, too much noise and a stream that cannot be opened are 'not-checked'.
 * Throws INTERRUPTED only.
 */
export async function checkStillness(
  options: StillnessOptions,
  signal?: AbortSignal,
  onProgress: (text: string) => void = () => {},
): Promise<Stillness> {
  const { clock } = options;
  const { promise, resolve } = Promise.withResolvers<Stillness>();
  const judge = createStillnessJudge();
  const onMessage = (message: TopicMessage) => {
    const found = judge.add(message, clock.monotonicMs());
    if (found !== null) resolve(found);
  };

  try {
    signal?.throwIfAborted();
    onProgress('checking by its poses that the robot stands still, for 3 to 15 s');
    // Subscriptions for single topics are supported by every software version.
    using stream = await openTopicStream({
      ...options,
      topics: ['/planning_state', '/tracked_pose'],
      listForm: false,
      onMessage,
      signal,
    });
    const beganMs = clock.monotonicMs();
    using _first = clock.after(FIRST_POSE_MS, () => {
      if (!judge.hasPose()) resolve(noPose);
    });
    using _progress = clock.every(PROGRESS_MS, () => {
      const nowMs = clock.monotonicMs();
      const seconds = Math.round((nowMs - beganMs) / 1_000);
      onProgress(`checking that the robot stands still, ${seconds} of up to 15 s: ${judge.doubt(nowMs)}`);
    });
    using _limit = clock.after(LIMIT_MS, () => resolve(judge.timeIsUp(clock.monotonicMs())));
    using _aborted = onAbort(signal, () => resolve(noPose));
    void stream.ended.then(({ detail }) => resolve({ verdict: 'not-checked', detail: `the topic stream: ${detail}` }));
    const stillness = await promise;
    if (signal?.aborted) throw interrupted(signal);
    return stillness;
  } catch (error) {
    if (signal?.aborted) throw interrupted(signal);
    return { verdict: 'not-checked', detail: `the topic stream cannot be opened: ${failureDetail(error)}` };
  }
}

/**
 * Judges the messages of one connection. 'still' needs poses that stand, and a move state without a move under way: a
 * robot that waits in front of an obstacle stands as well. A move that is reported makes it moving, whatever its poses
 * show; a move state at rest shows nothing.
 */
export function createStillnessJudge() {
  const track = createTrack();
  const unit = createUnitJudge();
  let poses = 0;
  /** The first of those that are the same as the newest one. */
  let unchanged: PoseSample | null = null;
  /** What the newest move state leaves open; null: no move is under way. */
  let open: string | null = '/planning_state was not received';
  let state = '';

  function standing(nowMs: number): Standing {
    const found = track.standing(nowMs, unit.verdict().verdict);
    const unchangedMs = nowMs - (unchanged?.atMs ?? nowMs);
    const isFrozen = unchangedMs >= found.overMs && unchangedMs < UNCHANGED_MS;
    if (found.verdict !== 'stands' || !isFrozen) return found;
    return { ...found, verdict: 'not-known', reason: 'its pose does not change at all, which has to last for 10 s' };
  }

  return {
    /** The verdict, or null while it is open. `atMs`: time of receipt by the monotonic clock. */
    add(message: TopicMessage, atMs: number): Stillness | null {
      if (message.kind === 'complaint' && message.topic === '/planning_state') {
        open = `the newest message of /planning_state could not be read (${message.what})`;
      }
      if (message.kind !== 'data') return null;
      if (message.topic === '/planning_state') {
        const { move_state: moveState } = message.data;
        if (moveState === 'moving') return { verdict: 'moving', detail: 'a move is under way' };
        state = `move_state ${JSON.stringify(moveState.slice(0, 40))}`;
        open = restingStates.includes(moveState) ? null : `${state} is unknown`;
      }
      if (message.topic !== '/tracked_pose') return null;
      const { pos, ori } = message.data;
      const pose = { xM: pos[0], yM: pos[1], ori, atMs };
      poses += 1;
      const isSame = unchanged?.xM === pose.xM && unchanged.yM === pose.yM && unchanged.ori === pose.ori;
      if (!isSame) unchanged = pose;
      track.add(pose);
      unit.add(pose);
      const { verdict, reason } = standing(atMs);
      if (verdict === 'not-known') return null;
      if (verdict === 'moves') return { verdict: 'moving', detail: reason };
      return open === null
        ? { verdict: 'still', detail: `${reason}; no move is under way (${state})` }
        : { verdict: 'not-checked', detail: `${reason}, but ${open}` };
    },
    hasPose: () => poses > 0,
    /** Why the poses do not show it yet, as a clause. */
    doubt: (nowMs: number) => standing(nowMs).reason,
    /** The verdict where `add` gave none. */
    timeIsUp(nowMs: number): Stillness {
      const received = `${plural(poses, 'pose')} in ${LIMIT_MS / 1_000} s`;
      return { verdict: 'not-checked', detail: `${received} were not enough: ${standing(nowMs).reason}` };
    },
  };
}

const noPose: Stillness = {
  verdict: 'not-checked',
  detail: `no pose (/tracked_pose) was received within ${FIRST_POSE_MS / 1_000} s`,
};

/**
 * Throws CHASSIS_MOVING unless the robot stands still, or its state is 'not-checked' and a person has confirmed that it
 * stands still. A robot reported as moving is always refused.
 */
export function assertStill({ verdict, detail }: Stillness, isConfirmed: boolean): void {
  if (verdict === 'still' || (verdict === 'not-checked' && isConfirmed)) return;
  if (verdict === 'moving') {
    throw new GwError('CHASSIS_MOVING', `The robot is moving: ${detail}. Nothing was changed.`, {
      remedy: 'End its tour or move, wait until it stands still, then try again.',
      details: { stillness: verdict, detail },
    });
  }
  const asked = 'a person who sees that it does adds --robot-stands-still';
  const title = 'Whether the robot stands still was not checked';
  throw new GwError('CHASSIS_MOVING', `${title}: ${detail}; ${asked}. Nothing was changed.`, {
    remedy: 'Check the robot. If it stands still and will not be sent anywhere, add --robot-stands-still.',
    details: { stillness: verdict, detail },
  });
}

function interrupted({ reason }: AbortSignal): GwError {
  if (reason instanceof GwError) return reason;
  return new GwError('INTERRUPTED', 'Interrupted.', { cause: reason });
}
