import { isClosed, sideOf } from '../geometry.ts';
import type { Place } from '../model.ts';
import type { Budget } from './input.ts';

type Rings = readonly (readonly Place[])[];

/** An edge of a zone. */
interface Edge {
  readonly from: Place;
  readonly to: Place;
  /** Its place among the edges of the zone, and those of its ring. */
  readonly nth: number;
  readonly ring: { readonly at: number; readonly first: number; last: number };
}

/** The edges of a zone, ring after ring, without repeated corners. */
function edgesOf(rings: Rings): Edge[] {
  const edges: Edge[] = [];
  for (const [at, corners] of rings.entries()) {
    const ring = { at, first: edges.length, last: 0 };
    let from = corners.at(-1);
    for (const to of corners) {
      if (from !== undefined && (from[0] !== to[0] || from[1] !== to[1])) {
        edges.push({ from, to, nth: edges.length, ring });
      }
      from = to;
    }
    ring.last = edges.length - 1;
  }
  return edges;
}

type Axis = 0 | 1;
const lowOf = ({ from, to }: Edge, axis: Axis) => Math.min(from[axis], to[axis]);
const highOf = ({ from, to }: Edge, axis: Axis) => Math.max(from[axis], to[axis]);

/** The axis along which fewer edges overlap: a comb has long edges along one axis only. */
function sweepAxis(edges: readonly Edge[]): Axis {
  const overlap = (axis: Axis) => {
    let [low, high, sum] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0];
    for (const edge of edges) {
      low = Math.min(low, lowOf(edge, axis));
      high = Math.max(high, highOf(edge, axis));
      sum += highOf(edge, axis) - lowOf(edge, axis);
    }
    return sum / (high - low);
  };
  return overlap(1) < overlap(0) ? 1 : 0;
}

/** Cost of the test of two edges in steps of the sweep. */
const STEPS_PER_EDGE_TEST = 5;

export interface Meeting {
  readonly how: 'crosses' | 'touches';
  readonly at: Place;
  /** The indices of the two rings, which may be one. */
  readonly rings: readonly [number, number];
}

/**
 * The first self-intersection of the outline of a zone; a crossing takes precedence over a touch. Rings may touch each
 * other, which is no intersection and goes to `onTouch` by the indices of the rings, but not cross. null when there is
 * none, 'not-finished' when the steps ran out before the result was certain. The edges are swept along one axis, so that
 * only those beside each other are compared.
 */
export function findMeeting(
  rings: Rings,
  budget: Budget,
  onTouch: (one: number, other: number) => void = () => {},
): Meeting | null | 'not-finished' {
  const outside = rings[0];
  if (outside === undefined || (rings.length === 1 && isConvex(outside))) return null;
  const edges = edgesOf(rings);
  const along = sweepAxis(edges);
  const across = along === 0 ? 1 : 0;
  const sorted = edges.toSorted((a, b) => lowOf(a, along) - lowOf(b, along));
  const first: { [how in Meeting['how']]?: { readonly a: Edge; readonly b: Edge; readonly meeting: Meeting } } = {};
  for (const [at, edge] of sorted.entries()) {
    const end = highOf(edge, along);
    for (let next = at + 1; next < sorted.length; next += 1) {
      const other = sorted[next];
      if (other === undefined || lowOf(other, along) > end) break;
      if (!budget.spend(1)) return first.crosses?.meeting ?? 'not-finished';
      if (lowOf(other, across) > highOf(edge, across) || highOf(other, across) < lowOf(edge, across)) continue;
      budget.spend(STEPS_PER_EDGE_TEST);
      const [a, b] = edge.nth < other.nth ? [edge, other] : [other, edge];
      const found = meetingOf(a, b);
      if (found === null) continue;
      if (found.how === 'touches' && a.ring !== b.ring) {
        onTouch(a.ring.at, b.ring.at);
        continue;
      }
      const before = first[found.how];
      if (before === undefined || (a.nth - before.a.nth || b.nth - before.b.nth) < 0) {
        first[found.how] = { a, b, meeting: { ...found, rings: [a.ring.at, b.ring.at] } };
      }
    }
  }
  return (first.crosses ?? first.touches)?.meeting ?? null;
}

/**
 * Whether a ring is convex, as most zones are, and so has no self-intersection. A fast test that returns false where it
 * is uncertain.
 */
export function isConvex(ring: readonly Place[]): boolean {
  const first = ring[0];
  const second = ring[1];
  const last = isClosed(ring) ? ring.length - 1 : ring.length;
  if (first === undefined || second === undefined || last < 3) return false;
  let before = first;
  let corner = second;
  let turn = 0;
  let heading = 0;
  let reversals = 0;
  for (let at = 2; at < last + 2; at += 1) {
    const after = at < last ? ring[at] : at === last ? first : second;
    if (after === undefined) return false;
    const side = sideOf(before, corner, after);
    // Collinear edges may also run back.
    if (!(side > 0 || side < 0) || side * turn < 0) return false;
    turn = side > 0 ? 1 : -1;
    const along = Math.sign(corner[0] - before[0]);
    if (along !== 0 && along !== heading) {
      if (heading !== 0) reversals += 1;
      heading = along;
    }
    before = corner;
    corner = after;
  }
  // One turn is forth and back along x; the first heading may be split in two and count one more.
  return reversals <= 2;
}

/** Where two edges meet, `a` being the earlier one in the list. */
function meetingOf(a: Edge, b: Edge): Omit<Meeting, 'rings'> | null {
  const [a1, a2, b1, b2] = [a.from, a.to, b.from, b.to];
  const isSameRing = a.ring === b.ring;
  if (isSameRing && b.nth === a.nth + 1) return runsBack(a1, a2, b2) ? { how: 'touches', at: a2 } : null;
  if (isSameRing && a.nth === a.ring.first && b.nth === a.ring.last) {
    return runsBack(b1, b2, a2) ? { how: 'touches', at: b2 } : null;
  }
  const sideB1 = sideOf(a1, a2, b1);
  const sideB2 = sideOf(a1, a2, b2);
  if ((sideB1 > 0 && sideB2 > 0) || (sideB1 < 0 && sideB2 < 0)) return null;
  const sideA1 = sideOf(b1, b2, a1);
  const sideA2 = sideOf(b1, b2, a2);
  if ((sideA1 > 0 && sideA2 > 0) || (sideA1 < 0 && sideA2 < 0)) return null;
  if (sideB1 !== 0 && sideB2 !== 0 && sideA1 !== 0 && sideA2 !== 0) {
    const part = sideA1 / (sideA1 - sideA2);
    const at: Place = [a1[0] + part * (a2[0] - a1[0]), a1[1] + part * (a2[1] - a1[1])];
    // Numbers out of range prove nothing.
    return Number.isFinite(at[0]) && Number.isFinite(at[1]) ? { how: 'crosses', at } : null;
  }
  if (sideB1 === 0 && isBetween(b1, a1, a2)) return { how: 'touches', at: b1 };
  if (sideB2 === 0 && isBetween(b2, a1, a2)) return { how: 'touches', at: b2 };
  if (sideA1 === 0 && isBetween(a1, b1, b2)) return { how: 'touches', at: a1 };
  return sideA2 === 0 && isBetween(a2, b1, b2) ? { how: 'touches', at: a2 } : null;
}

/** Whether the second of two edges with a common corner runs back along the first. */
function runsBack(start: Place, corner: Place, end: Place): boolean {
  if (sideOf(start, corner, end) !== 0) return false;
  return (corner[0] - start[0]) * (end[0] - corner[0]) + (corner[1] - start[1]) * (end[1] - corner[1]) < 0;
}

/** For a place on the line through two others. */
function isBetween([x, y]: Place, [fromX, fromY]: Place, [toX, toY]: Place): boolean {
  return (
    x >= Math.min(fromX, toX) && x <= Math.max(fromX, toX) && y >= Math.min(fromY, toY) && y <= Math.max(fromY, toY)
  );
}
