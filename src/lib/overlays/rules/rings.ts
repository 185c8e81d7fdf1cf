import {
  areaM2,
  type Bounds,
  boundsAround,
  distanceToEdgesM,
  isClosed,
  isInsidePolygon,
  isOnEdge,
  partsOf,
  type Rings,
  turnsAround,
  type Zone,
} from '../geometry.ts';
import type { Place, Shape } from '../model.ts';
import { findMeeting, isConvex, type Meeting } from './edges.ts';
import { type Budget, createBudget } from './input.ts';

/** A ring after the first that is no hole, by the indices of the two rings. */
export interface RingFault {
  readonly ring: number;
  /** The outline (0), or an earlier hole. */
  readonly other: number;
  readonly how: Relation;
}

/** How a ring lies to another one. */
export type Relation = 'inside' | 'around' | 'beside' | 'same' | 'overlaps';

/** How the rings of a polygon meet, and which of them are no holes. */
export interface Outline {
  readonly meeting: Meeting | null | 'not-finished';
  readonly faults: readonly RingFault[] | 'not-finished';
}

const sound: Outline = { meeting: null, faults: [] };

/** Cached per polygon: a rule reads what another one found. */
const outlines = new WeakMap<Rings, Outline>();

/**
 * Reads how the rings of a polygon meet. GeoJSON has the outline first, then holes inside it that do not overlap; rings
 * may touch. With rings that cross nothing is said about holes, since the inside is ambiguous already.
 */
export function readOutline(rings: Rings, budget: Budget): Outline {
  const [first] = rings;
  if (first === undefined || (rings.length === 1 && isConvex(first))) return sound;
  const known = outlines.get(rings);
  if (known !== undefined) return known;
  const touching = new Set<string>();
  const meeting = findMeeting(rings, budget, (one, other) => touching.add(pairOf(one, other)));
  const isSeparate = meeting === null || (meeting !== 'not-finished' && meeting.how === 'touches');
  const faults = meeting === 'not-finished' ? meeting : isSeparate ? findFaults(rings, touching, budget) : [];
  const outline = { meeting, faults };
  outlines.set(rings, outline);
  return outline;
}

/** Steps for a polygon whose rings no rule has read. */
const STEPS = 1_000_000;

/** Whether the inside of a polygon is certain: no ring meets itself or crosses another, and every further one is a hole. */
export function isClear(rings: Rings): boolean {
  const { meeting, faults } = readOutline(rings, createBudget(STEPS));
  return meeting === null && faults.length === 0;
}

/**
 * Whether a place lies inside a zone. Where the inside of a polygon is not certain, every place that any of its rings
 * goes round counts as inside: for a no-go zone that is the safe side. Project decision.
 */
export function isInsideZone(place: Place, rings: Rings): boolean {
  if (isInsidePolygon(place, rings)) return true;
  return rings.some((ring) => turnsAround(place, ring) !== 0) && !isClear(rings);
}

/** Distance of a place from a feature, in metres: 0 inside a zone; null when the feature has no place. */
export function distanceToM(place: Place, shape: Shape): number | null {
  const isInside = shape.kind === 'zone' && partsOf(shape).some((rings) => isInsideZone(place, rings));
  return isInside ? 0 : distanceToEdgesM(place, shape);
}

/**
 * Area of a zone in square metres, without its holes; polygons that overlap count twice. null where a further ring is
 * no hole, or that is not certain.
 */
export function areaOfZoneM2(zone: Zone): number | null {
  let sum = 0;
  for (const rings of partsOf(zone)) {
    if (rings.length > 1 && !isClear(rings)) return null;
    const [outline = [], ...holes] = rings;
    sum += areaM2(outline) - holes.reduce((area, hole) => area + areaM2(hole), 0);
  }
  return sum;
}

const pairOf = (one: number, other: number) => `${Math.min(one, other)} ${Math.max(one, other)}`;

/** The rings after the first that are no holes, for rings that do not cross. */
function findFaults(rings: Rings, touching: ReadonlySet<string>, budget: Budget): Outline['faults'] {
  const faults: RingFault[] = [];
  const holes: { readonly ring: number; readonly box: Bounds }[] = [];
  const relationOf = (ring: number, other: number) =>
    relate(rings[ring] ?? [], rings[other] ?? [], touching.has(pairOf(ring, other)), budget);
  for (let ring = 1; ring < rings.length; ring += 1) {
    const how = relationOf(ring, 0);
    if (how === null) return 'not-finished';
    const box = boundsAround(rings[ring] ?? []);
    if (how !== 'inside') faults.push({ ring, other: 0, how });
    else if (box !== null) holes.push({ ring, box });
  }
  holes.sort((a, b) => a.box.minXM - b.box.minXM);
  for (const [at, { ring: one, box }] of holes.entries()) {
    for (const { ring: other, box: next } of holes.slice(at + 1)) {
      if (next.minXM > box.maxXM) break;
      if (!budget.spend(1)) return 'not-finished';
      if (next.minYM > box.maxYM || next.maxYM < box.minYM) continue;
      const [ring, earlier] = [Math.max(one, other), Math.min(one, other)];
      const how = relationOf(ring, earlier);
      if (how === null) return 'not-finished';
      if (how !== 'beside') faults.push({ ring, other: earlier, how });
    }
  }
  return faults.sort((a, b) => a.ring - b.ring || a.other - b.other);
}

/** null when the steps ran out. */
function relate(ring: readonly Place[], other: readonly Place[], isTouching: boolean, budget: Budget): Relation | null {
  const own = sidesOf(ring, other, isTouching, budget);
  const theirs = sidesOf(other, ring, isTouching, budget);
  if (own === null || theirs === null) return null;
  if (!own.isIn && !own.isOut) return 'same';
  if (own.isIn) return own.isOut || theirs.isIn ? 'overlaps' : 'inside';
  if (theirs.isIn) return theirs.isOut ? 'overlaps' : 'around';
  return theirs.isOut ? 'beside' : 'same';
}

interface Sides {
  isIn: boolean;
  isOut: boolean;
}

/**
 * On which sides of another ring a ring runs. Without a common place one corner decides. Otherwise every edge is cut
 * where a corner of the other ring lies on it: what remains between two cuts runs on one side, or along the other ring.
 */
function sidesOf(ring: readonly Place[], other: readonly Place[], isTouching: boolean, budget: Budget): Sides | null {
  const sides: Sides = { isIn: false, isOut: false };
  const add = (place: Place) => {
    const turns = turnsAround(place, other);
    if (turns !== 'edge') sides[turns === 0 ? 'isOut' : 'isIn'] = true;
    return turns;
  };
  if (!isTouching) {
    for (const corner of ring) {
      if (!budget.spend(other.length)) return null;
      if (add(corner) !== 'edge') break;
    }
    return sides;
  }
  let from = isClosed(ring) ? undefined : ring.at(-1);
  for (const to of ring) {
    if (from !== undefined) {
      const cuts = cutsOf(from, to, other);
      if (!budget.spend(other.length * (cuts.length + 2))) return null;
      for (const [at, cut] of cuts.entries()) {
        const before = cuts[at - 1];
        if (before !== undefined) add([(before[0] + cut[0]) / 2, (before[1] + cut[1]) / 2]);
      }
    }
    from = to;
  }
  return sides;
}

/** Both ends of an edge, and the corners of another ring between them, in order. */
function cutsOf(from: Place, to: Place, other: readonly Place[]): Place[] {
  const distance = ([x, y]: Place) => Math.abs(x - from[0]) + Math.abs(y - from[1]);
  return [from, to, ...other.filter((corner) => isOnEdge(corner, from, to))].sort((a, b) => distance(a) - distance(b));
}
