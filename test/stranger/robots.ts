import { seeded } from '../chassis/poses.ts';
import type { RobotOptions } from './world.ts';

/** Robots that do what they say, as different as they come; the same ones each time. */
export const robots: readonly RobotOptions[] = Array.from({ length: 100 }, (_, seed) => {
  const chance = seeded(seed * 31 + 7);
  const between = (least: number, most: number) => least + (most - least) * chance();
  return {
    ...{ seed, hz: between(1, 10), noiseM: between(0.005, 0.03), noiseDeg: between(0.05, 0.5) },
    ...{ latencyMs: between(0, 1_000), speedMS: between(0.2, 0.8), turnDegS: between(30, 60) },
    start: { xM: between(-20, 20), yM: between(-20, 20), deg: between(-180, 180) },
  };
});
