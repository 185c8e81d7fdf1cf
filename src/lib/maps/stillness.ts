import { failureDetail, openTopicStream, type TopicMessage, type TopicStreamOptions } from '../chassis/index.ts';
import { GwError } from '../error/index.ts';
import { onAbort } from '../lifecycle/index.ts';

/** Whether the robot stands still, as reported by the chassis. 'not-checked' is not still. */
export interface Stillness {
  readonly verdict: 'still' | 'moving' | 'not-checked';
  /** Reason of the verdict, as a clause. */
  readonly detail: string;
}

export type StillnessOptions = Pick<TopicStreamOptions, 'endpoint' | 'dialer' | 'clock' | 'secret'>;

/** Checks whether the robot stands still. */
export type StillnessCheck = (signal?: AbortSignal) => Promise<Stillness>;

/** Time limit for the first message. Project decision, as the next two. */
const LISTEN_TIMEOUT_MS = 3_000;
/** Watch time after the first message, so that an older latched message does not decide alone. */
const WATCH_MS = 1_000;
/** Smaller changes of the position count as noise. */
const MAX_NOISE_M = 0.05;

/** Move states without a move under way. @source vendor REST book (HINWEIS) */
const restingStates: readonly string[] = ['none', 'idle', 'succeeded', 'failed', 'cancelled'];

/**
 * Subscribes to `/planning_state` for at most 3 s, and to `/tracked_pose`, since a robot that is pushed or steered by hand
 * moves without a plan. An unknown move state is 'not-checked', and so is a stream that cannot be opened. Throws
 * INTERRUPTED only.
 */
export async function checkStillness(options: StillnessOptions, signal?: AbortSignal): Promise<Stillness> {
  const { clock } = options;
  const { promise, resolve } = Promise.withResolvers<Stillness>();
  let reported: Stillness | undefined;
  let start: readonly [number, number] | undefined;
  let watching: Disposable | undefined;

  const onMessage = (message: TopicMessage) => {
    if (message.kind !== 'data') return;
    if (message.topic === '/tracked_pose') {
      const [xM, yM] = message.data.pos;
      start ??= [xM, yM];
      const distanceM = Math.hypot(xM - start[0], yM - start[1]);
      if (distanceM > MAX_NOISE_M) {
        resolve({ verdict: 'moving', detail: `its position changed by ${distanceM.toFixed(2)} m` });
      }
    } else if (message.topic === '/planning_state') {
      reported = ofMoveState(message.data.move_state);
      if (reported.verdict === 'moving') resolve(reported);
      watching ??= clock.after(WATCH_MS, () => resolve(reported ?? notReceived));
    }
  };

  try {
    signal?.throwIfAborted();
    // Subscriptions for single topics are supported by every software version.
    using stream = await openTopicStream({
      ...options,
      topics: ['/planning_state', '/tracked_pose'],
      listForm: false,
      onMessage,
      signal,
    });
    using _limit = clock.after(LISTEN_TIMEOUT_MS, () => resolve(reported ?? notReceived));
    using _aborted = onAbort(signal, () => resolve(notReceived));
    void stream.ended.then(({ detail }) => resolve({ verdict: 'not-checked', detail: `the topic stream: ${detail}` }));
    const stillness = await promise;
    if (signal?.aborted) throw interrupted(signal);
    return stillness;
  } catch (error) {
    if (signal?.aborted) throw interrupted(signal);
    return { verdict: 'not-checked', detail: `the topic stream cannot be opened: ${failureDetail(error)}` };
  } finally {
    watching?.[Symbol.dispose]();
  }
}

const notReceived: Stillness = {
  verdict: 'not-checked',
  detail: '/planning_state was not received within 3 s',
};

function ofMoveState(state: string): Stillness {
  if (state === 'moving') return { verdict: 'moving', detail: 'a move is under way' };
  const shown = JSON.stringify(state.slice(0, 40));
  return restingStates.includes(state)
    ? { verdict: 'still', detail: `no move is under way (move_state ${shown})` }
    : { verdict: 'not-checked', detail: `move_state ${shown} is unknown` };
}

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
  throw new GwError('CHASSIS_MOVING', `Whether the robot stands still is unknown: ${detail}. Nothing was changed.`, {
    remedy: 'Check the robot. If it stands still and will not be sent anywhere, add --it-stands-still.',
    details: { stillness: verdict, detail },
  });
}

function interrupted({ reason }: AbortSignal): GwError {
  if (reason instanceof GwError) return reason;
  return new GwError('INTERRUPTED', 'Interrupted.', { cause: reason });
}
