import type { GwError } from '../../error/index.ts';
import { firstOf } from '../../lifecycle/index.ts';
import type { Refusal } from '../gate.ts';

export type ActivityKind = 'order' | 'tour' | 'drive' | 'trial';

/** An activity that occupies the robot. */
interface Activity {
  readonly kind: ActivityKind;
  /** Refusals by the facts it relies on, as they are known now. */
  readonly judgeFacts: () => readonly Refusal[];
  /** Why nothing else may be ordered meanwhile. */
  readonly busy: () => GwError;
  /** Whether it keeps the robot for itself without driving it. */
  readonly isPaused: () => boolean;
  readonly ending: AbortController;
  done: Promise<unknown>;
}

/** At most one activity at a time occupies the robot. */
export function createOccupancy() {
  let current: Activity | null = null;
  return {
    /** null: the robot is free. */
    get current(): Activity | null {
      return current;
    },
    /** Occupies the robot for one activity; the caller has verified that it is free. */
    occupy<T>(
      about: Omit<Activity, 'ending' | 'done'>,
      signal: AbortSignal | undefined,
      work: (signal: AbortSignal) => Promise<T>,
    ): Promise<T> {
      const ending = new AbortController();
      const mine: Activity = { ...about, ending, done: Promise.resolve() };
      current = mine;
      const done = work(firstOf(signal, ending.signal)).finally(() => {
        if (current === mine) current = null;
      });
      mine.done = done.catch(() => {});
      return done;
    },
  };
}

export type Occupancy = ReturnType<typeof createOccupancy>;
