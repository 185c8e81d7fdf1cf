import { setTimeout as realSleep } from 'node:timers/promises';
import { type Clock, systemClock } from '../../src/lib/lifecycle/index.ts';
import { settled } from '../story/in-flight.ts';
import { createFakeClock } from './fake-clock.ts';

const STEP_MS = 20;

export interface PacedClock extends Clock {
  /** Waits until a condition holds; returns its elapsed milliseconds, or fails with the label. */
  until(what: string, is: () => boolean, maxMs?: number): Promise<number>;
}

/**
 * Simulated time for components of one process that communicate over real sockets: it advances by itself, a small step
 * whenever nothing is on its way in a socket and no request is under way. So it runs about ten times as fast as real time,
 * and on a slow machine, where the system delivers bytes late too, it runs more slowly, without jumps.
 */
export function createPacedClock(): PacedClock {
  const fake = createFakeClock({ startMs: 1_000_000, wall: new Date() });
  let isRunning = false;

  async function run(): Promise<void> {
    if (isRunning) return;
    isRunning = true;
    while (fake.pending > 0) {
      await realSleep(1);
      await settled();
      await fake.advance(STEP_MS);
    }
    isRunning = false;
  }

  const started = <T>(set: T): T => {
    void run();
    return set;
  };
  const clock: Clock = {
    monotonicMs: fake.monotonicMs,
    wall: fake.wall,
    random: systemClock.random,
    sleep: (ms, signal) => started(fake.sleep(ms, signal)),
    every: (ms, fn) => started(fake.every(ms, fn)),
    after: (ms, fn) => started(fake.after(ms, fn)),
  };
  return {
    ...clock,
    async until(what, is, maxMs = 60_000) {
      const beganMs = clock.monotonicMs();
      while (!is()) {
        if (clock.monotonicMs() - beganMs > maxMs) throw new Error(`not within ${maxMs} ms: ${what}`);
        await clock.sleep(STEP_MS);
      }
      return clock.monotonicMs() - beganMs;
    },
  };
}

/** Resolves when this process has no pending disk request. */
export async function diskSettled(): Promise<void> {
  do await new Promise((resolve) => setImmediate(resolve));
  while (isDiskPending());
}

/** Whether this process has a pending disk request. */
export function isDiskPending(): boolean {
  return process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq') || name === 'CloseReq');
}
