import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createUnitJudge } from '../../src/lib/chassis/index.ts';

const TURN = 2 * Math.PI;

function verdictOf(samples: readonly number[]) {
  const judge = createUnitJudge();
  for (const ori of samples) judge.add(ori);
  return judge.verdict();
}

/** Into (-half, half]. */
const wrap = (value: number, half: number) => half - ((((half - value) % (2 * half)) + 2 * half) % (2 * half));

/** A robot that turns: where it begins, how far between two samples, how many samples, which way. */
const turning = (longestStep: number, most: number) =>
  fc.record({
    start: fc.double({ min: -10, max: 10, noNaN: true }),
    steps: fc.array(fc.double({ min: longestStep / 100, max: longestStep, noNaN: true }), {
      minLength: 1,
      maxLength: most,
    }),
    sign: fc.constantFrom(-1, 1),
  });

describe('degrees', () => {
  it('are proven by one value beyond 2π, whatever else was seen', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: -3.1, max: 3.1, noNaN: true }), { maxLength: 5 }),
        fc.oneof(
          fc.double({ min: TURN + 1e-3, max: 360, noNaN: true }),
          fc.double({ min: -360, max: -TURN - 1e-3, noNaN: true }),
        ),
        (before, beyond) => {
          expect(verdictOf([...before, beyond]).verdict).toBe('degrees');
        },
      ),
    );
  });

  it('of a turning robot are never called radians, whether printed to 180 or to 360', () => {
    fc.assert(
      fc.property(
        // Up to 120 degrees a second at five samples a second.
        turning(24, 400),
        fc.constantFrom(
          (a: number) => wrap(a, 180),
          (a: number) => ((a % 360) + 360) % 360,
        ),
        ({ start, steps, sign }, printed) => {
          let yaw = start * 18;
          const samples = steps.map((step) => {
            yaw += sign * step;
            return printed(yaw);
          });
          expect(verdictOf(samples).verdict).not.toBe('radians');
        },
      ),
    );
  });

  it('of a robot that sways a few degrees around zero are never called radians', () => {
    fc.assert(
      fc.property(
        fc.record({
          amplitude: fc.double({ min: 0.01, max: 3.1, noNaN: true }),
          swayHz: fc.double({ min: 0.05, max: 4, noNaN: true }),
          sampleHz: fc.double({ min: 1, max: 50, noNaN: true }),
          phase: fc.double({ min: 0, max: TURN, noNaN: true }),
          jitter: fc.double({ min: 0, max: 1, noNaN: true }),
          seed: fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 7, maxLength: 31 }),
        }),
        ({ amplitude, swayHz, sampleHz, phase, jitter, seed }) => {
          const samples = Array.from({ length: 600 }, (_, i) => {
            const sway = amplitude * Math.sin(phase + (TURN * swayHz * i) / sampleHz);
            const noise = jitter * (seed[i % seed.length] ?? 0);
            return Math.max(-3.1, Math.min(3.1, sway + noise));
          });
          expect(verdictOf(samples).verdict).toBe('not-decided');
        },
      ),
      { numRuns: 300 },
    );
  });

  it('of pure noise within ±3.1° are never called radians', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: -3.1, max: 3.1, noNaN: true }), { minLength: 50, maxLength: 500 }),
        (samples) => {
          expect(verdictOf(samples).verdict).toBe('not-decided');
        },
      ),
      { numRuns: 300 },
    );
  });

  it('are not decided while the robot stands still', () => {
    for (const ori of [0, 0.5, 3.1, -3.14, 6.2]) {
      expect(verdictOf(Array.from({ length: 100 }, () => ori)).verdict).toBe('not-decided');
    }
  });
});

describe('radians', () => {
  it('are always recognised after a full turn, whichever way and wherever it begins', () => {
    fc.assert(
      fc.property(turning(0.9, 300), ({ start, steps, sign }) => {
        let heading = start;
        const samples = [wrap(heading, Math.PI)];
        const turn = (step: number) => {
          heading += sign * step;
          samples.push(wrap(heading, Math.PI));
        };
        for (const step of steps) turn(step);
        // Until it has turned once in all.
        while (Math.abs(heading - start) < TURN + 0.01) turn(0.5);
        expect(verdictOf(samples).verdict).toBe('radians');
      }),
    );
  });

  it('are recognised although the robot hesitates and turns back on the way', () => {
    const samples: number[] = [];
    for (let heading = 0; heading < TURN + 0.2; heading += 0.05) {
      samples.push(wrap(heading, Math.PI), wrap(heading - 0.02, Math.PI));
    }
    expect(verdictOf(samples).verdict).toBe('radians');
  });

  it('are not decided before the turn is complete', () => {
    const samples = Array.from({ length: 60 }, (_, i) => wrap(i * 0.1, Math.PI));
    expect(verdictOf(samples)).toMatchObject({ verdict: 'not-decided', samples: 60 });
  });

  it('win over degrees, and the reason says that both were seen', () => {
    const turn = Array.from({ length: 70 }, (_, i) => wrap(i * 0.1, Math.PI));
    for (const samples of [
      [90, ...turn],
      [...turn, 90],
    ]) {
      const verdict = verdictOf(samples);
      expect(verdict.verdict).toBe('radians');
      expect(verdict.reason).toContain('although 90.000 was seen');
    }
  });

  it('are not put together from two halves with an interruption between', () => {
    const judge = createUnitJudge();
    for (let i = 0; i < 40; i += 1) judge.add(wrap(i * 0.1, Math.PI));
    judge.interrupt();
    for (let i = 40; i < 70; i += 1) judge.add(wrap(i * 0.1, Math.PI));
    expect(judge.verdict().verdict).toBe('not-decided');
  });
});

describe('samples', () => {
  it('that are no finite numbers do not count', () => {
    const judge = createUnitJudge();
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, '90' as unknown as number])
      expect(judge.add(bad)).toBe(false);
    expect(judge.verdict()).toMatchObject({ verdict: 'not-decided', samples: 0, largest: null });
    expect(judge.add(-1)).toBe(true);
    expect(judge.verdict()).toMatchObject({ samples: 1, largest: 1 });
  });
});
