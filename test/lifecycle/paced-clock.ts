import { setTimeout as realSleep } from 'node:timers/promises';
import { type Clock, systemClock } from '../../src/lib/lifecycle/index.ts';
import { createFakeClock } from './fake-clock.ts';

const STEP_MS = 20;

export interface PacedClock extends Clock {
  /** Waits until something is so, and says after how many of its milliseconds; fails by name when it never was. */
  until(what: string, is: () => boolean, maxMs?: number): Promise<number>;
}

/**
 * Simulated time for programs of one process that talk over real sockets: it moves on by itself, a small step after
 * each round of the event loop, and stands still while the disk is asked. So it passes some ten times as fast as real
 * time, and a machine that is slow or stalls makes it pass more slowly, and never leap.
 */
export function createPacedClock(): PacedClock {
  const fake = createFakeClock({ startMs: 1_000_000, wall: new Date() });
  let isRunning = false;

  async function run(): Promise<void> {
    if (isRunning) return;
    isRunning = true;
    while (fake.pending > 0) {
      await realSleep(1);
      if (!isDiskAsked()) await fake.advance(STEP_MS);
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

/** Whether this process has asked the disk for something that was not answered yet. */
export function isDiskAsked(): boolean {
  return process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq') || name === 'CloseReq');
}
