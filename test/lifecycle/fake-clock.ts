import type { Clock } from '../../src/lib/lifecycle/index.ts';

/** Time that stands still until a test moves it. Timers due at the same moment fire in the order they were set. */
export interface FakeClock extends Clock {
  /**
   * Moves time on by `ms`, firing what falls due on the way, each at its own moment. Between two timers everything
   * that promises and the event loop have ready is run, so that a chain of waits advances in one call.
   */
  advance(ms: number): Promise<void>;
  /** How many timers are set: 0 after a clean stop. */
  readonly pending: number;
  /** What `random()` gives from now on; 0.5 at first. */
  setRandom(value: number): void;
  /** Moves the wall clock alone, as a technician or a time server would. */
  setWall(date: Date): void;
}

interface Timer {
  readonly dueMs: number;
  readonly order: number;
  fire(): void;
}

export function createFakeClock(options: { startMs?: number; wall?: Date; random?: number } = {}): FakeClock {
  let nowMs = options.startMs ?? 86_400_000;
  let wallOffsetMs = (options.wall ?? new Date('2026-01-31T12:00:00Z')).getTime() - nowMs;
  let random = options.random ?? 0.5;
  let order = 0;
  const timers = new Set<Timer>();

  const set = (ms: number, fire: () => void): Timer => {
    const timer = { dueMs: nowMs + Math.max(0, ms), order: order++, fire };
    timers.add(timer);
    return timer;
  };

  const next = (untilMs: number): Timer | undefined =>
    [...timers].filter((timer) => timer.dueMs <= untilMs).sort((a, b) => a.dueMs - b.dueMs || a.order - b.order)[0];

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

/** Lets promises and one round of the event loop run. Real sockets may need more rounds: wait for what they do. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
}
