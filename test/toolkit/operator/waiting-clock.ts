import { type Clock, systemClock } from '../../../src/lib/lifecycle/index.ts';
import { isDiskPending } from '../../lifecycle/paced-clock.ts';

const STEP_MS = 20;

interface Timer {
  readonly dueMs: number;
  readonly isLimit: boolean;
  fire(): void;
}

/**
 * Simulated time that passes in waits alone: it jumps to the end of the next one. While a request is on its way, whose limit
 * is pending then, it goes on in small steps, as the paced clock does, so that a silent server is given up too.
 */
export function createWaitingClock(): Clock {
  const timers = new Set<Timer>();
  const startMs = 1_000_000;
  const wallOffsetMs = systemClock.wall().getTime() - startMs;
  let nowMs = startMs;
  let isRunning = false;

  async function run(): Promise<void> {
    if (isRunning) return;
    isRunning = true;
    while (timers.size > 0) {
      await systemClock.sleep(1);
      if (isDiskPending()) continue;
      // Without a pause from here on: a request that begins in between would be given up at once.
      const all = [...timers].sort((a, b) => a.dueMs - b.dueMs);
      const isOnItsWay = all.some(({ isLimit }) => isLimit);
      nowMs = isOnItsWay ? nowMs + STEP_MS : Math.max(nowMs, all[0]?.dueMs ?? nowMs);
      for (const timer of all) if (timer.dueMs <= nowMs && timers.delete(timer)) timer.fire();
    }
    isRunning = false;
  }

  function set(ms: number, fire: () => void, isLimit = false): Disposable {
    const timer = { dueMs: nowMs + Math.max(0, ms), isLimit, fire };
    timers.add(timer);
    void run();
    return { [Symbol.dispose]: () => void timers.delete(timer) };
  }

  return {
    monotonicMs: () => nowMs,
    wall: () => new Date(nowMs + wallOffsetMs),
    random: systemClock.random,
    after: (ms, fn) => set(ms, fn, true),
    every(ms, fn) {
      let timer: Disposable;
      const arm = () => {
        timer = set(ms, () => {
          arm();
          fn();
        });
      };
      arm();
      return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
    },
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      using _timer = set(ms, resolve);
      const onAbort = () => reject(signal?.reason);
      signal?.addEventListener('abort', onAbort, { once: true });
      try {
        await promise;
      } finally {
        signal?.removeEventListener('abort', onAbort);
      }
    },
  };
}
