import { systemClock } from '../../src/lib/lifecycle/index.ts';
import { createFakeClock, type FakeClock } from '../lifecycle/fake-clock.ts';
import type { PacedClock } from '../lifecycle/paced-clock.ts';
import { settled } from '../story/in-flight.ts';
import { until } from '../waiting.ts';

/** A clock with which a test waits. */
export type TestClock = PacedClock & Pick<FakeClock, 'advance'>;

/** Real time, for peers in other processes. */
export const realClock: TestClock = {
  ...systemClock,
  advance: systemClock.sleep,
  async until(what, is) {
    const beganMs = systemClock.monotonicMs();
    await until(is, (value) => value).catch((error: Error) => {
      throw new Error(`${what}: ${error.message}`);
    });
    return systemClock.monotonicMs() - beganMs;
  },
};

/** Time that moves on only while a test waits, from timer to timer, whenever nothing is in flight in this process. */
export function createSteppedClock(random?: number): TestClock {
  const fake = createFakeClock({ startMs: 1_000_000, wall: new Date(), settled });
  return {
    ...fake,
    random: random === undefined ? systemClock.random : () => random,
    async until(what, is, maxMs = 60_000) {
      const beganMs = fake.monotonicMs();
      for (await settled(); !is(); await fake.step(1_000)) {
        if (fake.monotonicMs() - beganMs > maxMs) throw new Error(`not within ${maxMs} ms: ${what}`);
      }
      return fake.monotonicMs() - beganMs;
    },
  };
}

/** Lets time pass until this has ended. */
export async function during<T>(clock: TestClock, work: Promise<T>): Promise<T> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  work.then(end, end);
  await clock.until('the end of it', () => isOver, 600_000);
  return await work;
}
