import { type Clock, systemClock } from '../../../src/lib/lifecycle/index.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';
import { isDiskPending } from '../../lifecycle/paced-clock.ts';

const STEP_MS = 20;
const FOREVER_MS = 1e9;

/**
 * Simulated time that passes in waits alone: it jumps to the end of the next one. While a request is on its way, whose limit
 * is pending then, it goes on in small steps, as the paced clock does, so that a silent server is given up too.
 */
export function createWaitingClock(): Clock {
  const fake = createFakeClock({ startMs: 1_000_000, wall: systemClock.wall() });
  let limits = 0;
  let isRunning = false;

  async function run(): Promise<void> {
    if (isRunning) return;
    isRunning = true;
    while (fake.pending > 0) {
      await systemClock.sleep(1);
      if (isDiskPending()) continue;
      if (limits === 0) await fake.step(FOREVER_MS);
      else await fake.advance(STEP_MS);
    }
    isRunning = false;
  }

  const started = <T>(set: T): T => {
    void run();
    return set;
  };
  return {
    ...fake,
    random: systemClock.random,
    sleep: (ms, signal) => started(fake.sleep(ms, signal)),
    every: (ms, fn) => started(fake.every(ms, fn)),
    after(ms, fn) {
      limits += 1;
      let isOver = false;
      const over = () => {
        if (!isOver) limits -= 1;
        isOver = true;
      };
      const timer = started(
        fake.after(ms, () => {
          over();
          fn();
        }),
      );
      return {
        [Symbol.dispose]() {
          over();
          timer[Symbol.dispose]();
        },
      };
    },
  };
}
