import { isClosed, isInsideZone, meeting, meets, sideOf } from '../geometry.ts';
import type { Place } from '../model.ts';
import { createEdgeTree, type Edges } from './edge-tree.ts';
import type { Budget } from './input.ts';

type Rings = readonly (readonly Place[])[];

/** Up to here every edge is simply held against every other: quicker than building a tree, and still few steps a corner. */
const FEW_EDGES = 64;
/** A look at an edge takes about as long as so many steps through the tree. */
const STEPS_OF_A_CLOSE_LOOK = 5;
/** Up to here it is quicker to go through all edges for each place. */
const FEW_PLACES = 16;

function edgesOf(rings: Rings): Edges {
  const from: Place[] = [];
  const to: Place[] = [];
  const ringStart: number[] = [];
  const ringEnd: number[] = [];
  for (const ring of rings) {
    const start = from.length;
    let last = ring.at(-1);
    for (const corner of ring) {
      if (last !== undefined && (last[0] !== corner[0] || last[1] !== corner[1])) {
        from.push(last);
        to.push(corner);
        ringStart.push(start);
      }
      last = corner;
    }
    while (ringEnd.length < from.length) ringEnd.push(from.length);
  }
  return { from, to, ringStart, ringEnd };
}

export interface Meeting {
  readonly how: 'crosses' | 'touches';
  readonly at: Place;
}

/**
 * Where the outline of a zone meets itself; a crossing rather than a touch. Rings may touch each other, since that
 * leaves no doubt about what lies inside; crossing each other they may not. null when it does not, 'not-finished' when
 * the steps ran out before either was certain.
 */
export function findMeeting(rings: Rings, budget: Budget): Meeting | null | 'not-finished' {
  const outside = rings[0];
  if (outside === undefined || (rings.length === 1 && isConvex(outside))) return null;
  const edges = edgesOf(rings);
  const { from, to } = edges;
  const count = from.length;
  let touch: Meeting | null = null;
  let crossing: Meeting | null = null;
  const look = (a: number, b: number): boolean => {
    const meeting = meetingOf(edges, a, b);
    if (meeting?.how === 'crosses') crossing = meeting;
    else touch ??= meeting;
    return crossing !== null;
  };
  if (count <= FEW_EDGES) {
    for (let a = 0; a < count; a += 1) {
      for (let b = a + 1; b < count; b += 1) if (boxesMeet(edges, a, b) && look(a, b)) return crossing;
    }
    return touch;
  }
  const search = createEdgeTree(edges);
  for (let a = 0; a < count; a += 1) {
    const one = from[a];
    const other = to[a];
    if (one === undefined || other === undefined) continue;
    const [x, y] = one;
    const [toX, toY] = other;
    const visit = (b: number) => {
      if (!boxesMeet(edges, a, b)) return false;
      budget.take(STEPS_OF_A_CLOSE_LOOK);
      return look(a, b);
    };
    if (search(Math.min(x, toX), Math.min(y, toY), Math.max(x, toX), Math.max(y, toY), visit, budget, a + 1)) break;
    if (budget.isSpent) return 'not-finished';
  }
  return crossing ?? touch;
}

/**
 * Whether a ring turns one way only and once round, as most zones do: then it meets itself nowhere. Quick to tell, and
 * where it cannot be told the answer is no.
 */
function isConvex(ring: readonly Place[]): boolean {
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
    // Straight on may also be straight back.
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
  // Once round is forth and back along x; the first heading may come in two parts, and so count one more.
  return reversals <= 2;
}

/** Whether edges can meet at all: most are far from each other, and this is quick. */
function boxesMeet({ from, to }: Edges, a: number, b: number): boolean {
  const a1 = from[a];
  const a2 = to[a];
  const b1 = from[b];
  const b2 = to[b];
  if (a1 === undefined || a2 === undefined || b1 === undefined || b2 === undefined) return false;
  return rangesMeet(a1[0], a2[0], b1[0], b2[0]) && rangesMeet(a1[1], a2[1], b1[1], b2[1]);
}

function rangesMeet(a1: number, a2: number, b1: number, b2: number): boolean {
  return a1 < a2 ? rangeMeets(a1, a2, b1, b2) : rangeMeets(a2, a1, b1, b2);
}

function rangeMeets(low: number, high: number, b1: number, b2: number): boolean {
  return (b1 >= low || b2 >= low) && (b1 <= high || b2 <= high);
}

/** Where two edges meet, `a` being the earlier one in the list. */
function meetingOf({ from, to, ringStart, ringEnd }: Edges, a: number, b: number): Meeting | null {
  const a1 = from[a];
  const a2 = to[a];
  const b1 = from[b];
  const b2 = to[b];
  if (a1 === undefined || a2 === undefined || b1 === undefined || b2 === undefined) return null;
  const isSameRing = ringStart[a] === ringStart[b];
  if (isSameRing && b === a + 1) return runsBack(a1, a2, b2) ? { how: 'touches', at: a2 } : null;
  if (isSameRing && a === ringStart[a] && b + 1 === ringEnd[a]) {
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
    // Numbers too large to be told from each other prove nothing.
    return Number.isFinite(at[0]) && Number.isFinite(at[1]) ? { how: 'crosses', at } : null;
  }
  if (!isSameRing) return null;
  if (sideB1 === 0 && isBetween(b1, a1, a2)) return { how: 'touches', at: b1 };
  if (sideB2 === 0 && isBetween(b2, a1, a2)) return { how: 'touches', at: b2 };
  if (sideA1 === 0 && isBetween(a1, b1, b2)) return { how: 'touches', at: a1 };
  return sideA2 === 0 && isBetween(a2, b1, b2) ? { how: 'touches', at: a2 } : null;
}

/** Two edges with a corner in common of which the second lies on the first. */
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

/**
 * Tells of many places whether they lie inside a zone; on an edge is inside. Puts the edges of the zone into a tree when
 * that is less work. The answer is null once the steps ran out.
 */
export function insideTest(rings: Rings, places: number, budget: Budget): (place: Place) => boolean | null {
  const corners = rings.reduce((sum, ring) => sum + ring.length, 0);
  if (corners <= FEW_EDGES || places < FEW_PLACES) {
    return (place) => (budget.take(corners) ? isInsideZone(place, rings) : null);
  }
  const edges = edgesOf(rings);
  const { from, to } = edges;
  // All corners on one spot make no edge.
  if (from.length === 0) {
    const spots = rings.map((ring) => ring.slice(0, 1));
    return (place) => isInsideZone(place, spots);
  }
  const search = createEdgeTree(edges);
  return (place) => {
    let isInside = false;
    const visit = (edge: number) => {
      budget.take(STEPS_OF_A_CLOSE_LOOK);
      const one = from[edge];
      const other = to[edge];
      const met = one === undefined || other === undefined ? meets.nothing : meeting(place, one, other);
      if (met === meets.ray) isInside = !isInside;
      return met === meets.edge;
    };
    const onEdge = search(place[0], place[1], Number.POSITIVE_INFINITY, place[1], visit, budget);
    return budget.isSpent ? null : onEdge || isInside;
  };
}
