import type { Clock } from '../../src/lib/lifecycle/index.ts';

/** A clock that a test advances. Timers due at the same time fire in the order they were set. */
export interface FakeClock extends Clock {
  /**
   * Advances time by `ms`, firing due timers, each at its own time. Between two timers all pending promises and event
   * loop callbacks run, so that a chain of waits completes in one call.
   */
  advance(ms: number): Promise<void>;
  /** Advances to the next timer that is due within `maxMs`, and fires it; without one, by `maxMs`. */
  step(maxMs: number): Promise<void>;
  /** Number of pending timers: 0 after a clean stop. */
  readonly pending: number;
  /** Sets the value of `random()`; 0.5 at first. */
  setRandom(value: number): void;
  /** Changes the wall clock only, as a technician or a time server would. */
  setWall(date: Date): void;
}

interface Timer {
  readonly dueMs: number;
  fire(): void;
}

interface FakeClockOptions {
  readonly startMs?: number;
  readonly wall?: Date;
  readonly random?: number;
  /** Resolves when everything that a fired timer has set off is done; by default after one round of the event loop. */
  readonly settled?: () => Promise<void>;
}

export function createFakeClock(options: FakeClockOptions = {}): FakeClock {
  const settle = options.settled ?? eventLoopRound;
  let nowMs = options.startMs ?? 86_400_000;
  let wallOffsetMs = (options.wall ?? new Date('2026-01-31T12:00:00Z')).getTime() - nowMs;
  let random = options.random ?? 0.5;
  const timers = new Set<Timer>();

  const set = (ms: number, fire: () => void): Timer => {
    const timer = { dueMs: nowMs + Math.max(0, ms), fire };
    timers.add(timer);
    return timer;
  };

  function next(untilMs: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of timers) {
      if (timer.dueMs > untilMs) continue;
      // In the order of setting, so the first of equal ones was set first.
      if (first === undefined || timer.dueMs < first.dueMs) first = timer;
    }
    return first;
  }

  return {
    monotonicMs: () => nowMs,
    wall: () => new Date(nowMs + wallOffsetMs),
    random: () => random,

    sleep(ms, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      if (signal?.aborted) {
        reject(signal.reason);
        return promise;
      }
      const timer = set(ms, () => {
        timers.delete(timer);
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
      const onAbort = () => {
        timers.delete(timer);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      return promise;
    },

    after(ms, fn) {
      const timer = set(ms, () => {
        timers.delete(timer);
        fn();
      });
      return { [Symbol.dispose]: () => void timers.delete(timer) };
    },

    every(ms, fn) {
      if (!(ms > 0)) throw new RangeError('a period must be above 0');
      let timer: Timer;
      const arm = () => {
        timer = set(ms, () => {
          timers.delete(timer);
          arm();
          fn();
        });
      };
      arm();
      return { [Symbol.dispose]: () => void timers.delete(timer) };
    },

    async advance(ms) {
      const untilMs = nowMs + ms;
      await settle();
      for (let timer = next(untilMs); timer; timer = next(untilMs)) {
        nowMs = Math.max(nowMs, timer.dueMs);
        timer.fire();
        await settle();
      }
      nowMs = untilMs;
      await settle();
    },

    async step(maxMs) {
      await settle();
      const timer = next(nowMs + maxMs);
      nowMs = timer === undefined ? nowMs + maxMs : Math.max(nowMs, timer.dueMs);
      timer?.fire();
      await settle();
    },

    get pending() {
      return timers.size;
    },
    setRandom(value) {
      random = value;
    },
    setWall(date) {
      wallOffsetMs = date.getTime() - nowMs;
    },
  };
}

/** Lets time pass, in steps, until the work has ended: for work that ends with nothing but time. */
export async function passTime<T>(clock: FakeClock, stepMs: number, work: Promise<T>): Promise<T> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  work.then(over, over);
  while (!isOver) await clock.advance(stepMs);
  return await work;
}

/** Runs pending promises and one round of the event loop. Real sockets may need more rounds: wait for their effect. */
async function eventLoopRound(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
}
