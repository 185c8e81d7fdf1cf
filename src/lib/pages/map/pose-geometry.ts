/** The map is in centimetres, so that strokes and paths need no decimals; y down, as the screen has it. */
export const CM = 100;

/** Metres of the map as lengths of its picture. */
export const x = (xM: number) => Math.round(xM * CM);
export const y = (yM: number) => Math.round(-yM * CM);
export const placeAt = (at: { readonly xM: number; readonly yM: number }) => `translate(${x(at.xM)} ${y(at.yM)})`;

/** A finger that rests on the glass moves less; in pixels of the screen. */
const MIN_DRAG_PX = 16;

/** The place of a point of the map layer, in metres of the map. */
export function placeOf(left: number, top: number): { readonly xM: number; readonly yM: number } {
  return { xM: left / CM, yM: (0 - top) / CM };
}

/**
 * The heading of a drag on the screen, x to the right and y down: degrees, counter-clockwise, 0 along +x, in (-180, 180].
 * null for a drag too short to have a direction.
 */
export function headingOfDrag(dx: number, dy: number): number | null {
  if (Math.hypot(dx, dy) < MIN_DRAG_PX) return null;
  // A negative zero would turn 180 into -180.
  return (Math.atan2(0 - dy, dx) * 180) / Math.PI;
}
