import { createFakeClock, type FakeClock } from '../lifecycle/fake-clock.ts';
import { until as untilSeen } from '../waiting.ts';

const STEP_MS = 50;
/** In simulated time; a detector of what never happens. */
const MAX_STEPS = 6_000;
/** Of the event loop, for a message and its answer over the sockets of this process. */
const ROUNDS = 4;

export interface DrivenClock extends FakeClock {
  seconds(count: number): Promise<void>;
  /** Advances simulated time until it holds. */
  until(holds: () => boolean | Promise<boolean>): Promise<void>;
  /** Advances simulated time until this is done. */
  during<T>(work: Promise<T>): Promise<T>;
}

/** A clock for a simulator that a test reads over sockets: it advances only where the test says so. */
export function createDrivenClock(): DrivenClock {
  const clock = createFakeClock({
    async settled() {
      for (let round = 0; round < ROUNDS; round += 1) await new Promise(setImmediate);
    },
  });
  // One after the other, so that time never goes back.
  let last: Promise<void> = Promise.resolve();
  function advance(ms: number): Promise<void> {
    last = last.then(() => clock.advance(ms));
    return last;
  }
  async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
    for (let steps = 0; !(await holds()); steps += 1) {
      if (steps > MAX_STEPS) throw new Error(`not within ${MAX_STEPS * STEP_MS} ms of simulated time: ${holds}`);
      // Without a timer only sockets and files can bring it about, and simulated time would run away from them.
      if (clock.pending > 0) await advance(STEP_MS);
      else
        await untilSeen(
          async () => clock.pending > 0 || (await holds()),
          (is) => is,
        );
    }
  }
  return {
    ...clock,
    get pending() {
      return clock.pending;
    },
    advance,
    seconds: (count) => advance(count * 1000),
    until,
    async during<T>(work: Promise<T>): Promise<T> {
      let isDone = false;
      const end = () => {
        isDone = true;
      };
      work.then(end, end);
      await until(() => isDone);
      return work;
    },
  };
}
