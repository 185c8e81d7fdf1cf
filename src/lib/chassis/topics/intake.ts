import type { Clock } from '../../lifecycle/index.ts';

/** Work that can be interrupted at every `yield`. */
export type Steps = Generator<undefined, void>;

export interface IntakeOptions {
  readonly clock: Clock;
  /** Nothing more is to come in for now: the sender waits, by the backpressure of TCP. */
  readonly hold: () => void;
  readonly release: () => void;
}

/**
 * Takes in what a chassis sends, in order and without losing any of it, in at most half of the time: a chassis that
 * sends more than that waits, and everything else of the gateway gets its turn.
 */
export interface TopicIntake extends Disposable {
  /** Done at once where nothing waits and there is time, otherwise later. */
  push(steps: Steps): void;
  /** What a frame of so many bytes took before it came here, which nobody can measure frame by frame. */
  charge(bytes: number): void;
  /** How many wait to be taken in. */
  readonly waiting: number;
  /** For how many milliseconds the sender had to wait since this was last asked. */
  takeHeldMs(): number;
}

/** Decisions of ours: so much at a stretch, and of all time so large a part. */
const STRETCH_MS = 5;
const SHARE = 0.5;
/** What the library takes for a frame and for its bytes (measured, rounded up). */
const FRAME_MS = 0.002;
const MIB_MS = 2;

export function createTopicIntake({ clock, hold, release }: IntakeOptions): TopicIntake {
  const waiting: Steps[] = [];
  let first = 0;
  /** Milliseconds of work that it may do now; below zero it rests until they have come in again. */
  let creditMs = STRETCH_MS;
  let countedAt = clock.monotonicMs();
  let rest: Disposable | undefined;
  let heldMs = 0;
  let heldSince: number | null = null;
  let isWorking = false;
  let isOver = false;

  function count(): void {
    const now = clock.monotonicMs();
    creditMs = Math.min(STRETCH_MS, creditMs + (now - countedAt) * SHARE);
    countedAt = now;
  }

  /** One step of the first that waits. */
  function step(): void {
    const steps = waiting[first] as Steps;
    const began = clock.monotonicMs();
    const { done } = steps.next();
    creditMs -= clock.monotonicMs() - began;
    if (done !== true || isOver) return;
    first += 1;
    if (first < waiting.length) return;
    waiting.length = 0;
    first = 0;
  }

  function work(): void {
    if (isWorking || rest !== undefined) return;
    isWorking = true;
    count();
    while (waiting.length > 0 && creditMs > 0 && !isOver) step();
    isWorking = false;
    if (waiting.length > 0 && !isOver) takeRest();
  }

  function takeRest(): void {
    hold();
    heldSince ??= clock.monotonicMs();
    rest = clock.after((STRETCH_MS - creditMs) / SHARE, () => {
      rest = undefined;
      work();
      if (rest !== undefined || isOver) return;
      countHeld();
      heldSince = null;
      release();
    });
  }

  function countHeld(): void {
    if (heldSince === null) return;
    const now = clock.monotonicMs();
    heldMs += now - heldSince;
    heldSince = now;
  }

  return {
    push(steps) {
      if (isOver) return;
      waiting.push(steps);
      work();
    },
    charge(bytes) {
      if (isOver) return;
      count();
      creditMs -= FRAME_MS + (MIB_MS * bytes) / (1024 * 1024);
      if (creditMs <= 0 && rest === undefined && !isWorking) takeRest();
    },
    get waiting() {
      return waiting.length - first;
    },
    takeHeldMs() {
      countHeld();
      const taken = heldMs;
      heldMs = 0;
      return taken;
    },
    [Symbol.dispose]() {
      isOver = true;
      rest?.[Symbol.dispose]();
      waiting.length = 0;
    },
  };
}
