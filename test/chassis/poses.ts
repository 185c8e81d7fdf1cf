import type { PoseSample, Standing } from '../../src/lib/chassis/index.ts';

/** For snapshots that tests write by hand. */
export const stands: Standing = {
  verdict: 'stands',
  reason: 'it moved less than 0.02 m/s',
  speedMS: 0,
  overMs: 4_000,
  poses: 40,
};
export const moves: Standing = {
  verdict: 'moves',
  reason: 'it moves at 0.10 m/s',
  speedMS: 0.1,
  overMs: 1_000,
  poses: 10,
};
export const standingNotKnown: Standing = {
  verdict: 'not-known',
  reason: 'no pose was received',
  speedMS: null,
  overMs: 0,
  poses: 0,
};

/** Numbers in [0, 1), the same for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    // Numerical Recipes' linear congruential generator; its high bits are good enough for noise.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

/** Normally distributed with a standard deviation of 1. */
export function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

export interface Robot {
  /** Place and heading by time in seconds; the heading in the unit that is reported. */
  readonly xM?: (s: number) => number;
  readonly yM?: (s: number) => number;
  readonly ori?: (s: number) => number;
  readonly hz: number;
  readonly seconds: number;
  readonly noiseM?: number;
  readonly noiseOri?: number;
  readonly seed?: number;
}

/** What such a robot reports: the first pose at a time of its own within the first interval. */
export function posesOf(robot: Robot): PoseSample[] {
  const { xM = () => 0, yM = () => 0, ori = () => 45, hz, seconds, noiseM = 0, noiseOri = 0, seed = 1 } = robot;
  const random = seeded(seed);
  const poses: PoseSample[] = [];
  for (let s = random() / hz; s <= seconds; s += 1 / hz) {
    poses.push({
      atMs: s * 1_000,
      xM: xM(s) + noiseM * normal(random),
      yM: yM(s) + noiseM * normal(random),
      ori: ori(s) + noiseOri * normal(random),
    });
  }
  return poses;
}
