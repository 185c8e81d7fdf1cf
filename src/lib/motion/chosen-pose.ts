import { degrees } from '../angle/index.ts';
import { chosen } from '../evidence/index.ts';
import type { Order } from './model.ts';

/**
 * The order that sets the pose that a person chose: metres on the current map, the heading in degrees.
 * `source`: who chose it, and where. Throws RangeError when the heading is not finite.
 */
export function chosenPose(
  pose: { readonly xM: number; readonly yM: number; readonly yawDeg: number },
  source: string,
): Order {
  const { xM, yM, yawDeg } = pose;
  return { kind: 'pose', pose: chosen({ xM, yM, yawDeg: degrees(yawDeg) }, source) };
}
