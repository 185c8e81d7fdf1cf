/**
 * The simulator's own conversion of headings, shared with no client code: two sides with one conversion agree even
 * when it is wrong. Inside the simulator every heading is in radians, counter-clockwise, 0 along +x.
 */

const FULL_TURN = 2 * Math.PI;

/** The same direction in (-π, π]. */
export function wrapRad(rad: number): number {
  const rest = rad % FULL_TURN;
  if (rest > Math.PI) return rest - FULL_TURN;
  if (rest <= -Math.PI) return rest + FULL_TURN;
  return rest;
}

/** As in `/tracked_pose`: degrees in (-180, 180], to a thousandth, so that 1.5708 is reported as 90. */
export function reportedDegrees(rad: number): number {
  const deg = Math.round(wrapRad(rad) * (180 / Math.PI) * 1000) / 1000;
  return deg === -180 ? 180 : deg + 0;
}

/** The same from 0 to 360, as other software might report it. */
export function reportedDegreesOfTurn(rad: number): number {
  const deg = reportedDegrees(rad);
  return deg < 0 ? Math.round((deg + 360) * 1000) / 1000 : deg;
}

/** The same direction in [0, 2π). */
export function radOfTurn(rad: number): number {
  const wrapped = wrapRad(rad);
  return wrapped < 0 ? wrapped + FULL_TURN : wrapped;
}

/** For the tables of the floor, which are in degrees for readability. */
export function headingRad(deg: number): number {
  return wrapRad(deg * (Math.PI / 180));
}

/** Whether the absolute value is above 2π, so not a normalised angle in radians. */
export function isBeyondRadians(ori: number): boolean {
  return Math.abs(ori) > FULL_TURN;
}
