import { type Degrees, normalizeDegrees, type Radians } from './index.ts';

/**
 * The two conversions of a branded angle. Only the codec of the chassis module imports this file (checked by the
 * structure rules), so that no other code converts an angle field of the chassis.
 */

/** Normalised to (-π, π] first, so that a heading of many turns is never sent. */
export function toRadians(angle: Degrees): Radians {
  return ((normalizeDegrees(angle) * Math.PI) / 180) as Radians;
}

/** Not normalised: what the chassis reports is shown as it reported it. */
export function toDegrees(angle: Radians): Degrees {
  return ((angle * 180) / Math.PI) as Degrees;
}
