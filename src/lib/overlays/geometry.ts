import type { Place, Shape } from './model.ts';

/**
 * Plane geometry of features, in metres of the map. Nothing here throws: a shape without places yields null or an empty
 * result, and figures too large for a number become Infinity.
 */
export interface Bounds {
  readonly minXM: number;
  readonly minYM: number;
  readonly maxXM: number;
  readonly maxYM: number;
}

const none: readonly Place[] = [];

/** Every place of a feature in its written order, with the closing corner of a ring; empty when it has none. */
export function placesOf(shape: Shape): readonly Place[] {
  if (shape.kind === 'point') return shape.places ?? [shape.at];
  if (shape.kind === 'lane') return joined(shape.lines);
  return shape.kind === 'zone' ? joined(shape.rings) : none;
}

function joined(lists: readonly (readonly Place[])[]): readonly Place[] {
  return lists.length === 1 ? (lists[0] ?? none) : lists.flat();
}

/** The place of a point; null for a MultiPoint of several, and for any other feature. */
export function onlyPlaceOf(shape: Shape): Place | null {
  return shape.kind === 'point' && (shape.places ?? none).length <= 1 ? shape.at : null;
}

export type Rings = readonly (readonly Place[])[];
export type Zone = Extract<Shape, { kind: 'zone' }>;

/** The polygons of a zone, each with its outline first: one, or those of a MultiPolygon. */
export function partsOf({ rings, parts }: Zone): readonly Rings[] {
  return parts ?? [rings];
}

/** The box around a feature; null when it has no place. */
export function boundsOf(shape: Shape): Bounds | null {
  if (shape.kind === 'point' && shape.places === undefined) {
    const [xM, yM] = shape.at;
    return { minXM: xM, minYM: yM, maxXM: xM, maxYM: yM };
  }
  return boundsAround(placesOf(shape));
}

/** The box around places; null when there are none. */
export function boundsAround(places: readonly Place[]): Bounds | null {
  if (places.length === 0) return null;
  let minXM = Number.POSITIVE_INFINITY;
  let minYM = Number.POSITIVE_INFINITY;
  let maxXM = Number.NEGATIVE_INFINITY;
  let maxYM = Number.NEGATIVE_INFINITY;
  for (const place of places) {
    const xM = place[0];
    const yM = place[1];
    if (xM < minXM) minXM = xM;
    if (xM > maxXM) maxXM = xM;
    if (yM < minYM) minYM = yM;
    if (yM > maxYM) maxYM = yM;
  }
  return { minXM, minYM, maxXM, maxYM };
}

/**
 * Whether a place lies inside a polygon of closed or unclosed rings: even-odd over all of them, so that further rings
 * are holes. A place on an edge or a corner counts as inside: for a no-go zone that is the safe side.
 */
export function isInsidePolygon(place: Place, rings: Rings): boolean {
  let inside = false;
  for (const ring of rings) {
    const turns = turnsAround(place, ring);
    if (turns === 'edge') return true;
    if (turns % 2 !== 0) inside = !inside;
  }
  return inside;
}

/** How often a ring goes round a place, counter-clockwise positive; 'edge' for a place on an edge or a corner. */
export function turnsAround(place: Place, ring: readonly Place[]): number | 'edge' {
  let turns = 0;
  let from = ring.at(-1);
  for (const to of ring) {
    if (from === undefined) break;
    if (from[1] > place[1] !== to[1] > place[1]) {
      // Of the two ends of an edge only the lower one counts, so that no corner counts twice.
      const side = sideOf(from, to, place);
      if (side === 0) return 'edge';
      // A ray towards +x meets an edge that goes up on its left, or one that goes down on its right.
      const isUp = to[1] > from[1];
      if (side > 0 === isUp) turns += isUp ? 1 : -1;
    } else if (isOnEdge(place, from, to)) return 'edge';
    from = to;
  }
  return turns;
}

/** The box around two boxes. */
export function joinBounds(a: Bounds, b: Bounds): Bounds {
  return {
    minXM: Math.min(a.minXM, b.minXM),
    minYM: Math.min(a.minYM, b.minYM),
    maxXM: Math.max(a.maxXM, b.maxXM),
    maxYM: Math.max(a.maxYM, b.maxYM),
  };
}

/** Distance of a place from the outlines of a feature, in metres; null when the feature has no place. */
export function distanceToEdgesM(place: Place, shape: Shape): number | null {
  if (shape.kind === 'point') return nearestOf(placesOf(shape), (at) => distanceBetweenM(place, at));
  if (shape.kind !== 'lane' && shape.kind !== 'zone') return null;
  const isRing = shape.kind === 'zone';
  return nearestOf(isRing ? shape.rings : shape.lines, (line) =>
    line.length === 0 ? null : distanceToLineM(place, line, isRing),
  );
}

function nearestOf<T>(parts: readonly T[], distanceOf: (part: T) => number | null): number | null {
  let nearest: number | null = null;
  for (const part of parts) {
    const distanceM = distanceOf(part);
    if (distanceM !== null && (nearest === null || distanceM < nearest)) nearest = distanceM;
  }
  return nearest;
}

/** In metres. */
export function distanceBetweenM(a: Place, b: Place): number {
  return Math.hypot(a[0] - b[0], a[1] - b[1]);
}

/** Length of all lines of a lane in metres. */
export function lengthOfLaneM({ lines }: Extract<Shape, { kind: 'lane' }>): number {
  return lines.reduce((sum, line) => sum + lengthM(line), 0);
}

/** Length of a line in metres; 0 for fewer than two places. */
export function lengthM(line: readonly Place[]): number {
  let sum = 0;
  let from: Place | undefined;
  for (const to of line) {
    if (from !== undefined) sum += distanceBetweenM(from, to);
    from = to;
  }
  return sum;
}

/**
 * Area of a ring in square metres, never negative, closed or unclosed. Where the ring crosses itself, parts that run
 * the other way round count against the rest.
 */
export function areaM2(ring: readonly Place[]): number {
  const first = ring[0];
  if (first === undefined) return 0;
  // Measured from the first corner: a small zone far from the origin keeps its digits.
  const [x0, y0] = first;
  let doubled = 0;
  let fromX = 0;
  let fromY = 0;
  for (const to of ring) {
    const toX = to[0] - x0;
    const toY = to[1] - y0;
    doubled += fromX * toY - toX * fromY;
    fromX = toX;
    fromY = toY;
  }
  return Number.isNaN(doubled) ? Number.POSITIVE_INFINITY : Math.abs(doubled) / 2;
}

/** Whether the last corner of a ring repeats the first. */
export function isClosed(ring: readonly Place[]): boolean {
  const first = ring[0];
  const last = ring.at(-1);
  return ring.length > 1 && first !== undefined && last !== undefined && first[0] === last[0] && first[1] === last[1];
}

/**
 * The side of the line from `a` to `b` on which a place lies: positive on the left, negative on the right, 0 on the
 * line within the precision of the coordinates.
 */
export function sideOf(a: Place, b: Place, place: Place): number {
  const left = (b[0] - a[0]) * (place[1] - a[1]);
  const right = (b[1] - a[1]) * (place[0] - a[0]);
  const side = left - right;
  // Below this threshold the sign is rounding noise.
  return Math.abs(side) <= 1e-12 * (Math.abs(left) + Math.abs(right)) ? 0 : side;
}

/** Whether a place lies on the edge between two others, within the precision of the coordinates. */
export function isOnEdge(place: Place, from: Place, to: Place): boolean {
  const [x, y] = place;
  if (x < Math.min(from[0], to[0]) || x > Math.max(from[0], to[0])) return false;
  if (y < Math.min(from[1], to[1]) || y > Math.max(from[1], to[1])) return false;
  return sideOf(from, to, place) === 0;
}

function distanceToLineM(place: Place, line: readonly Place[], isRing: boolean): number {
  let nearest = Number.POSITIVE_INFINITY;
  let from = isRing ? line.at(-1) : line[0];
  for (const to of line) {
    if (from !== undefined) {
      const distanceM = distanceToEdgeM(place, from, to);
      if (distanceM < nearest) nearest = distanceM;
    }
    from = to;
  }
  return nearest;
}

function distanceToEdgeM(place: Place, from: Place, to: Place): number {
  const alongX = to[0] - from[0];
  const alongY = to[1] - from[1];
  const squared = alongX * alongX + alongY * alongY;
  const along = squared > 0 ? ((place[0] - from[0]) * alongX + (place[1] - from[1]) * alongY) / squared : 0;
  // A product too large for a number: fall back to the nearer end.
  if (!Number.isFinite(along)) return Math.min(distanceBetweenM(place, from), distanceBetweenM(place, to));
  if (along <= 0) return distanceBetweenM(place, from);
  if (along >= 1) return distanceBetweenM(place, to);
  return Math.hypot(place[0] - from[0] - along * alongX, place[1] - from[1] - along * alongY);
}
