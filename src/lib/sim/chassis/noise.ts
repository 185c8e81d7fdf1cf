import { wrapRad } from './motion/heading.ts';
import type { PoseRad } from './motion/kinematics.ts';

/** Standard deviations of the fault `noisy-pose`. Project decision. */
const NOISE_M = 0.01;
const NOISE_RAD = Math.PI / 360;
const SEED = 0x5eed;

/** Adds normal noise to poses; every simulator has the same sequence, so that a run can be repeated. */
export function createPoseNoise(): (pose: PoseRad) => PoseRad {
  let state = SEED;

  /** In (0, 1), by mulberry32. */
  function uniform(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (((mixed ^ (mixed >>> 14)) >>> 0) + 0.5) / 2 ** 32;
  }

  const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());

  return ({ xM, yM, yawRad }) => ({
    xM: xM + NOISE_M * normal(),
    yM: yM + NOISE_M * normal(),
    yawRad: wrapRad(yawRad + NOISE_RAD * normal()),
  });
}
