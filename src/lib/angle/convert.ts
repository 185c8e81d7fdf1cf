import { type Degrees, normalizeDegrees, type Radians } from './index.ts';

/**
 * The two conversions. Only the codec of the chassis room imports this file (checked by the structure rules):
 * a conversion anywhere else would be a second place where a unit can go wrong.
 */

/** Normalised to (-π, π] first, so that the chassis never sees a heading of many turns. */
export function toRadians(angle: Degrees): Radians {
  return ((normalizeDegrees(angle) * Math.PI) / 180) as Radians;
}

/** Not normalised: what the chassis reports is shown as it reported it. */
export function toDegrees(angle: Radians): Degrees {
  return ((angle * 180) / Math.PI) as Degrees;
}
