import { failureDetail, openTopicStream, type TopicMessage, type TopicStreamOptions } from '../chassis/index.ts';
import { GwError } from '../error/index.ts';
import { onAbort } from '../lifecycle/index.ts';

/** Whether the robot stands still, as far as the chassis tells it. Not checked is not still. */
export interface Stillness {
  readonly verdict: 'still' | 'moving' | 'not-checked';
  /** One clause for a person: what was heard, or why nothing was. */
  readonly detail: string;
}

export type StillnessOptions = Pick<TopicStreamOptions, 'endpoint' | 'dialer' | 'clock' | 'secret'>;

/** Looks whether the robot stands still. */
export type LookForStillness = (signal?: AbortSignal) => Promise<Stillness>;

/** Decisions of ours. */
const LISTEN_MS = 3_000;
/** So long it is watched after the first word of it, so that a latched message of before does not decide alone. */
const WATCH_MS = 1_000;
/** A position that wanders by less may be the noise of positioning. */
const NOISE_M = 0.05;

/** States of the last move in which the planner drives nothing. @source vendor REST book (HINWEIS) */
const restingStates: readonly string[] = ['none', 'idle', 'succeeded', 'failed', 'cancelled'];

/**
 * Listens to `/planning_state` for at most 3 seconds, and to `/tracked_pose` beside it, since a robot that is pushed
 * or steered by hand moves without a plan. A state that no list has is not checked, never still. Throws INTERRUPTED
 * only: a stream that does not open is 'not-checked'.
 */
export async function lookForStillness(options: StillnessOptions, signal?: AbortSignal): Promise<Stillness> {
  const { clock } = options;
  const { promise, resolve } = Promise.withResolvers<Stillness>();
  let heard: Stillness | undefined;
  let start: readonly [number, number] | undefined;
  let watching: Disposable | undefined;

  const onMessage = (message: TopicMessage) => {
    if (message.kind !== 'data') return;
    if (message.topic === '/tracked_pose') {
      const [xM, yM] = message.data.pos;
      start ??= [xM, yM];
      const wayM = Math.hypot(xM - start[0], yM - start[1]);
      if (wayM > NOISE_M) {
        resolve({ verdict: 'moving', detail: `its position changed by ${wayM.toFixed(2)} m while it was watched` });
      }
    } else if (message.topic === '/planning_state') {
      heard = ofMoveState(message.data.move_state);
      if (heard.verdict === 'moving') resolve(heard);
      watching ??= clock.after(WATCH_MS, () => resolve(heard ?? nothingHeard));
    }
  };

  try {
    signal?.throwIfAborted();
    // One message a topic: that form every software version understands.
    using stream = await openTopicStream({
      ...options,
      topics: ['/planning_state', '/tracked_pose'],
      listForm: false,
      onMessage,
      signal,
    });
    using _limit = clock.after(LISTEN_MS, () => resolve(heard ?? nothingHeard));
    using _aborted = onAbort(signal, () => resolve(nothingHeard));
    void stream.ended.then(({ detail }) => resolve({ verdict: 'not-checked', detail: `the topic stream: ${detail}` }));
    const stillness = await promise;
    if (signal?.aborted) throw interrupted(signal);
    return stillness;
  } catch (error) {
    if (signal?.aborted) throw interrupted(signal);
    return { verdict: 'not-checked', detail: `the topic stream does not open: ${failureDetail(error)}` };
  } finally {
    watching?.[Symbol.dispose]();
  }
}

const nothingHeard: Stillness = {
  verdict: 'not-checked',
  detail: '/planning_state was not heard within 3 s',
};

function ofMoveState(state: string): Stillness {
  if (state === 'moving') return { verdict: 'moving', detail: 'a move is under way' };
  const word = JSON.stringify(state.slice(0, 40));
  return restingStates.includes(state)
    ? { verdict: 'still', detail: `no move is under way (move_state ${word})` }
    : { verdict: 'not-checked', detail: `the state of the last move is ${word}, which no list of states has` };
}

/**
 * Throws CHASSIS_MOVING unless the robot stands still, or nobody could hear whether it does and a person who sees it
 * says so by name. A robot that was heard moving is refused whatever the person says.
 */
export function assertStill({ verdict, detail }: Stillness, personSeesIt: boolean): void {
  if (verdict === 'still' || (verdict === 'not-checked' && personSeesIt)) return;
  if (verdict === 'moving') {
    throw new GwError('CHASSIS_MOVING', `The robot is moving: ${detail}. Nothing was changed.`, {
      remedy: 'End its tour or move and let it come to a stop, then try again.',
      details: { stillness: verdict, detail },
    });
  }
  throw new GwError('CHASSIS_MOVING', `Whether the robot stands still is not known: ${detail}. Nothing was changed.`, {
    remedy: 'Look at the robot. When it stands still and nobody will send it anywhere, add --it-stands-still.',
    details: { stillness: verdict, detail },
  });
}

function interrupted({ reason }: AbortSignal): GwError {
  if (reason instanceof GwError) return reason;
  return new GwError('INTERRUPTED', 'Interrupted.', { cause: reason });
}
