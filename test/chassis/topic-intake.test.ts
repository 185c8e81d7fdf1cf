import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTopicFlood } from '../../src/lib/chassis/topic-flood.ts';
import { createTopicIntake, type Steps } from '../../src/lib/chassis/topic-intake.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';

const MiB = 1024 * 1024;

/** An intake on a clock of its own that stands still but for what the work of a test takes. */
function taking() {
  let now = 1_000_000;
  const timers: { at: number; fn: () => void }[] = [];
  const clock = {
    ...createFakeClock(),
    monotonicMs: () => now,
    after(ms: number, fn: () => void) {
      const timer = { at: now + ms, fn };
      timers.push(timer);
      return { [Symbol.dispose]: () => void timers.splice(timers.indexOf(timer), 1) };
    },
  };
  const done: number[] = [];
  let isHeld = false;
  let holds = 0;
  const intake = createTopicIntake({
    clock,
    hold: () => {
      isHeld = true;
      holds += 1;
    },
    release: () => {
      isHeld = false;
    },
  });
  function* work(id: number, steps: number, stepMs: number): Steps {
    for (let step = 0; step < steps; step += 1) {
      now += stepMs;
      if (step < steps - 1) yield;
    }
    done.push(id);
  }
  return {
    intake,
    done,
    timers,
    now: () => now,
    isHeld: () => isHeld,
    holds: () => holds,
    push: (id: number, stepMs: number, steps = 1) => intake.push(work(id, steps, stepMs)),
    pass: (ms: number) => {
      now += ms;
    },
    /** Lets the next rest end. */
    next(): boolean {
      const timer = timers.shift();
      if (timer === undefined) return false;
      now = Math.max(now, timer.at);
      timer.fn();
      return true;
    },
  };
}

describe('taking in what the chassis sends', () => {
  it('does it at once while there is time, and holds nothing', () => {
    const { intake, push, pass, done, holds } = taking();
    // Fifty messages a second that take a tenth of a millisecond each.
    for (let i = 0; i < 500; i += 1) {
      push(i, 0.1);
      expect(done).toHaveLength(i + 1);
      pass(20);
    }
    expect([holds(), intake.waiting, intake.takeRests()]).toEqual([0, 0, 0]);
  });

  it('rests after a stretch, holds the sender meanwhile, and loses nothing', () => {
    const { intake, push, next, done, isHeld } = taking();
    for (let i = 0; i < 100; i += 1) push(i, 1);
    expect(done.length).toBeLessThanOrEqual(11);
    expect([isHeld(), intake.waiting]).toEqual([true, 100 - done.length]);
    while (next()) if (intake.waiting > 0) expect(isHeld()).toBe(true);
    expect(done).toEqual(Array.from({ length: 100 }, (_, i) => i));
    expect([isHeld(), intake.waiting]).toEqual([false, 0]);
    expect(intake.takeRests()).toBeGreaterThan(5);
    expect(intake.takeRests()).toBe(0);
  });

  it('takes no more than half of the time, whatever comes', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({ stepMs: fc.double({ min: 0, max: 40, noNaN: true }), steps: fc.integer({ min: 1, max: 5 }) }),
          {
            minLength: 1,
            maxLength: 50,
          },
        ),
        (sent) => {
          const { push, next, now, done } = taking();
          const began = now();
          for (const [i, { stepMs, steps }] of sent.entries()) push(i, stepMs, steps);
          while (next());
          expect(done).toEqual(sent.map((_, i) => i));
          const worked = sent.reduce((sum, { stepMs, steps }) => sum + stepMs * steps, 0);
          const last = sent.at(-1) ?? { stepMs: 0, steps: 1 };
          // But for the first stretch, and the last step, which is followed by nothing.
          expect(worked - 5 - last.stepMs).toBeLessThanOrEqual((now() - began) / 2 + 1e-6);
        },
      ),
    );
  });

  it('begins what comes during a rest only after it, in order', () => {
    const { push, next, done } = taking();
    push(1, 20);
    push(2, 0.1);
    push(3, 0.1);
    expect(done).toEqual([1]);
    next();
    expect(done).toEqual([1, 2, 3]);
  });

  it('lets others have a turn between the steps of one message', () => {
    const { intake, push, next, done } = taking();
    push(1, 4, 20);
    expect(done).toEqual([]);
    let turns = 0;
    while (intake.waiting > 0 && next()) turns += 1;
    expect(done).toEqual([1]);
    expect(turns).toBeGreaterThan(5);
  });

  it('counts what the frames took before they came here', () => {
    const { intake, isHeld, next } = taking();
    intake.charge(0);
    expect(isHeld()).toBe(false);
    for (let i = 0; i < 10_000; i += 1) intake.charge(0);
    expect(isHeld()).toBe(true);
    while (next());
    expect(isHeld()).toBe(false);
    intake.charge(16 * MiB);
    expect(isHeld()).toBe(true);
  });

  it('does nothing more once it is over', () => {
    const { intake, push, next, done, isHeld, timers } = taking();
    for (let i = 0; i < 10; i += 1) push(i, 20);
    intake[Symbol.dispose]();
    expect(timers).toEqual([]);
    push(99, 1);
    intake.charge(16 * MiB);
    expect(next()).toBe(false);
    expect([done, isHeld()]).toEqual([[0], true]);
  });
});

describe('a flood of the topic stream', () => {
  const quiet = { rests: 0, bytes: 4_000, waiting: 0 };

  function judged(looks: readonly { rests: number; bytes: number; waiting: number; frames?: number }[]) {
    const flood = createTopicFlood();
    return looks.map(({ frames = 0, ...look }) => {
      for (let i = 0; i < frames; i += 1) flood.count();
      return flood.judge(look);
    });
  }
  const times = <T>(count: number, look: T) => Array.from({ length: count }, () => look);

  it('is neither fifty poses a second nor one large map', () => {
    const day = [
      ...times(20, { ...quiet, frames: 30 }),
      { rests: 8, bytes: 16 * MiB, waiting: 12 },
      ...times(5, quiet),
    ];
    expect(judged(day).every(({ end }) => end === null)).toBe(true);
    expect(judged(times(100, { ...quiet, frames: 30 })).some(({ isFlooded }) => isFlooded)).toBe(false);
    // A machine that is slow makes the reading rest, with little to read.
    expect(
      judged(times(100, { rests: 9, bytes: 20_000, waiting: 40, frames: 60 })).some((look) => look.isFlooded),
    ).toBe(false);
  });

  it.each([
    ['many small messages', { rests: 10, bytes: 100_000, waiting: 0, frames: 3_000 }],
    ['messages that came before and still wait', { rests: 10, bytes: 0, waiting: 20_000 }],
    ['large messages', { rests: 5, bytes: 2 * MiB, waiting: 1 }],
    ['frames that cost nothing', { rests: 0, bytes: 60_000, waiting: 0, frames: 30_000 }],
    ['bytes that cost nothing', { rests: 0, bytes: 40 * MiB, waiting: 0, frames: 1 }],
  ])('is %s without a pause: ended after two seconds, with figures', (_, look) => {
    const looks = judged(times(10, look));
    expect(looks.every(({ isFlooded }) => isFlooded)).toBe(true);
    expect(looks.slice(0, 9).every(({ end }) => end === null)).toBe(true);
    expect(looks[9]?.end).toMatch(
      /^the chassis floods the topic stream: \d+ messages, [\d.]+ MB within 2 s, more than/,
    );
  });

  it('is over after one quiet look', () => {
    const look = { rests: 10, bytes: 100_000, waiting: 3_000 };
    const looks = judged([...times(9, look), quiet, ...times(9, look)]);
    expect(looks.every(({ end }) => end === null)).toBe(true);
  });
});
