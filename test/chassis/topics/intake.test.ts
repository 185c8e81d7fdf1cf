import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTopicFlood, type Sample } from '../../../src/lib/chassis/topics/flood.ts';
import { createTopicIntake, type Steps } from '../../../src/lib/chassis/topics/intake.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';

const MiB = 1024 * 1024;

/** An intake on a clock that advances only by the work of a test. */
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
    /** Ends the next pause. */
    next(): boolean {
      const timer = timers.shift();
      if (timer === undefined) return false;
      now = Math.max(now, timer.at);
      timer.fn();
      return true;
    },
  };
}

describe('processing messages of the chassis', () => {
  it('is immediate within its time budget, and holds no messages', () => {
    const { intake, push, pass, done, holds } = taking();
    // Fifty messages a second that take a tenth of a millisecond each.
    for (let i = 0; i < 500; i += 1) {
      push(i, 0.1);
      expect(done).toHaveLength(i + 1);
      pass(20);
    }
    expect([holds(), intake.waiting, intake.takeHeldMs()]).toEqual([0, 0, 0]);
  });

  it('pauses after each slice, pauses the sender meanwhile, and loses no message', () => {
    const { intake, push, next, done, isHeld } = taking();
    for (let i = 0; i < 100; i += 1) push(i, 1);
    expect(done.length).toBeLessThanOrEqual(11);
    expect([isHeld(), intake.waiting]).toEqual([true, 100 - done.length]);
    while (next()) if (intake.waiting > 0) expect(isHeld()).toBe(true);
    expect(done).toEqual(Array.from({ length: 100 }, (_, i) => i));
    expect([isHeld(), intake.waiting]).toEqual([false, 0]);
    // A hundred milliseconds of work in half of the time.
    expect(intake.takeHeldMs()).toBeGreaterThan(150);
    expect(intake.takeHeldMs()).toBe(0);
  });

  it('uses at most half of the time, whatever arrives', { tags: 'property' }, () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({ stepMs: fc.double({ min: 0, max: 40, noNaN: true }), steps: fc.integer({ min: 1, max: 5 }) }),
          { minLength: 1, maxLength: 50 },
        ),
        (sent) => {
          const { push, next, now, done } = taking();
          const began = now();
          for (const [i, { stepMs, steps }] of sent.entries()) push(i, stepMs, steps);
          while (next());
          expect(done).toEqual(sent.map((_, i) => i));
          const worked = sent.reduce((sum, { stepMs, steps }) => sum + stepMs * steps, 0);
          const last = sent.at(-1) ?? { stepMs: 0, steps: 1 };
          // Except for the first slice, and the last step, which is followed by none.
          expect(worked - 5 - last.stepMs).toBeLessThanOrEqual((now() - began) / 2 + 1e-6);
        },
      ),
    );
  });

  it('starts messages received during a pause only after it, in order', () => {
    const { push, next, done } = taking();
    push(1, 20);
    push(2, 0.1);
    push(3, 0.1);
    expect(done).toEqual([1]);
    next();
    expect(done).toEqual([1, 2, 3]);
  });

  it('yields to the event loop between the steps of one message', () => {
    const { intake, push, next, done } = taking();
    push(1, 4, 20);
    expect(done).toEqual([]);
    let turns = 0;
    while (intake.waiting > 0 && next()) turns += 1;
    expect(done).toEqual([1]);
    expect(turns).toBeGreaterThan(5);
  });

  it('counts the time already spent on the frames', () => {
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

  it('processes nothing after it is disposed of', () => {
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
  const quiet: Sample = { ms: 200, heldMs: 0, frames: 20, large: 0, bytes: 4_000 };
  const times = (count: number, change: Partial<Sample>) =>
    Array.from({ length: count }, () => ({ ...quiet, ...change }));

  function judged(samples: readonly Sample[]) {
    const flood = createTopicFlood();
    return samples.map(flood);
  }

  it.each<[string, Sample[]]>([
    ['fifty poses a second', times(100, { frames: 30 })],
    [
      'one large map',
      [...times(20, {}), { ms: 900, heldMs: 700, frames: 1, large: 1, bytes: 16 * MiB }, ...times(20, {})],
    ],
    ['a few maps that a slow machine processes slowly', times(100, { ms: 1_000, heldMs: 900, large: 0.5, frames: 10 })],
    ['a slow machine', times(100, { ms: 600, heldMs: 500, frames: 30 })],
    ['high volume processed as it arrives', times(100, { frames: 3_000, heldMs: 10 })],
    [
      'a burst shorter than a second',
      [...times(20, {}), ...times(2, { heldMs: 190, frames: 9_000 }), ...times(20, {})],
    ],
  ])('is not %s', (_, samples) => {
    expect(judged(samples).filter((end) => end !== null)).toEqual([]);
  });

  it.each<[string, Partial<Sample>]>([
    ['many small messages', { heldMs: 120, frames: 3_000, bytes: 100_000 }],
    ['messages that are processed long after they arrived', { heldMs: 200, frames: 250, bytes: 500 }],
    ['large messages', { heldMs: 120, large: 2, frames: 2, bytes: 2 * MiB }],
  ])('is %s: named with figures within two seconds', (_, sample) => {
    const samples = judged([...times(20, {}), ...times(10, sample)]);
    expect(samples.slice(0, 20).every((end) => end === null)).toBe(true);
    expect(samples.at(-1)).toMatch(/^topic stream flooded: \d+ messages, [\d.]+ MB within 2.0 s, more than/);
  });

  it('is detected also where only some of the samples saw messages', () => {
    const samples = times(20, {}).map((sample, i) =>
      i % 4 === 0 ? { ...sample, frames: 32_000, heldMs: 200 } : { ...sample, heldMs: 80 },
    );
    expect(judged(samples).at(-1)).not.toBeNull();
  });
});
