import type { Clock } from '../../lifecycle/index.ts';

/** Work that can be interrupted at every `yield`. */
export type Steps = Generator<undefined, void>;

export interface IntakeOptions {
  readonly clock: Clock;
  /** Pauses reading: TCP backpressure makes the sender wait. */
  readonly hold: () => void;
  readonly release: () => void;
}

/**
 * Processes messages in order and without loss, in at most half of the time: a chassis that sends more has to wait,
 * so that the rest of the gateway stays responsive.
 */
export interface TopicIntake extends Disposable {
  /** Runs at once where the queue is empty and credit is left, otherwise later. */
  push(steps: Steps): void;
  /** Charges the time the library spent on a frame of this size, which cannot be measured per frame. */
  charge(bytes: number): void;
  /** Queue length. */
  readonly waiting: number;
  /** Milliseconds for which reading was paused since the last call. */
  takeHeldMs(): number;
}

/** Project decisions: longest run without a pause, and share of all time. */
const STRETCH_MS = 5;
const SHARE = 0.5;
/** Time the library spends per frame and per MiB (measured, rounded up). */
const FRAME_MS = 0.002;
const MIB_MS = 2;

export function createTopicIntake({ clock, hold, release }: IntakeOptions): TopicIntake {
  const waiting: Steps[] = [];
  let first = 0;
  /** Milliseconds of work left; below zero it pauses until the credit is restored. */
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

  /** One step of the first queued message. */
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
    if (waiting.length > 0 && !isOver) pause();
  }

  function pause(): void {
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
      if (creditMs <= 0 && rest === undefined && !isWorking) pause();
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
