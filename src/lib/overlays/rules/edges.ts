import { isClosed, isInsideZone, meeting, meets, sideOf } from '../geometry.ts';
import type { Place } from '../model.ts';
import type { Budget } from './input.ts';

/** The edges of a zone, ring after ring, without repeated corners. */
interface Edges {
  readonly from: readonly Place[];
  readonly to: readonly Place[];
  /** Where the ring of an edge begins and ends in the list; edges of one ring follow each other. */
  readonly ringStart: readonly number[];
  readonly ringEnd: readonly number[];
}

/** Edges or boxes per box of the next level. */
const FAN = 8;

/**
 * Visits the edges near a box, from the edge `first` on, until `visit` returns true or the steps run out. Returns
 * whether `visit` did.
 */
type EdgeSearch = (
  minX: number,
  minY: number,
  maxX: number,
  maxY: number,
  visit: (edge: number) => boolean,
  budget: Budget,
  first?: number,
) => boolean;

/**
 * A tree of bounding boxes over the edges. Consecutive edges of an outline are neighbours in space, so the given order
 * is used without sorting, and building takes linear time for any outline.
 */
function createEdgeTree(edges: Edges): EdgeSearch {
  const count = edges.from.length;
  const levels = [boxesAroundEdges(edges)];
  for (let top = levels[0]; top !== undefined && top.length > 4; top = levels.at(-1))
    levels.push(boxesAroundBoxes(top));

  return (minX, minY, maxX, maxY, visit, budget, first = 0) => {
    return into(levels.length - 1, 0);

    function into(level: number, node: number): boolean {
      const boxes = levels[level];
      if (boxes === undefined || !budget.spend(1)) return false;
      const at = node * 4;
      if (
        (boxes[at] ?? 0) > maxX ||
        (boxes[at + 1] ?? 0) > maxY ||
        (boxes[at + 2] ?? 0) < minX ||
        (boxes[at + 3] ?? 0) < minY
      ) {
        return false;
      }
      const size = FAN ** (level + 1);
      if ((node + 1) * size <= first) return false;
      const begin = node * FAN;
      if (level > 0) {
        const end = Math.min(begin + FAN, (levels[level - 1]?.length ?? 0) / 4);
        for (let child = begin; child < end; child += 1) if (into(level - 1, child)) return true;
        return false;
      }
      const end = Math.min(begin + FAN, count);
      for (let edge = Math.max(begin, first); edge < end; edge += 1) {
        if (!budget.spend(1)) return false;
        if (visit(edge)) return true;
      }
      return false;
    }
  };
}

function boxesAroundEdges({ from, to }: Edges): Float64Array {
  const boxes = emptyBoxes(Math.ceil(from.length / FAN));
  for (let edge = 0; edge < from.length; edge += 1) {
    const at = Math.floor(edge / FAN) * 4;
    const one = from[edge];
    const other = to[edge];
    if (one === undefined || other === undefined) continue;
    widen(boxes, at, one[0], one[1], one[0], one[1]);
    widen(boxes, at, other[0], other[1], other[0], other[1]);
  }
  return boxes;
}

function boxesAroundBoxes(below: Float64Array): Float64Array {
  const boxes = emptyBoxes(Math.ceil(below.length / 4 / FAN));
  for (let box = 0; box < below.length; box += 4) {
    const at = Math.floor(box / 4 / FAN) * 4;
    widen(boxes, at, below[box] ?? 0, below[box + 1] ?? 0, below[box + 2] ?? 0, below[box + 3] ?? 0);
  }
  return boxes;
}

function emptyBoxes(count: number): Float64Array {
  const boxes = new Float64Array(count * 4);
  for (let box = 0; box < boxes.length; box += 4) {
    boxes.fill(Number.POSITIVE_INFINITY, box, box + 2);
    boxes.fill(Number.NEGATIVE_INFINITY, box + 2, box + 4);
  }
  return boxes;
}

function widen(boxes: Float64Array, at: number, minX: number, minY: number, maxX: number, maxY: number): void {
  if (minX < (boxes[at] ?? 0)) boxes[at] = minX;
  if (minY < (boxes[at + 1] ?? 0)) boxes[at + 1] = minY;
  if (maxX > (boxes[at + 2] ?? 0)) boxes[at + 2] = maxX;
  if (maxY > (boxes[at + 3] ?? 0)) boxes[at + 3] = maxY;
}

type Rings = readonly (readonly Place[])[];

/** Up to this number of edges a pairwise comparison is faster than a tree. */
const MAX_PAIRWISE_EDGES = 64;
/** Cost of an edge test in steps through the tree. */
const STEPS_PER_EDGE_TEST = 5;
/** Below this number of places a scan of all edges is faster than a tree. */
const MIN_INDEXED_PLACES = 16;

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
 * The first self-intersection of the outline of a zone; a crossing takes precedence over a touch. Rings may touch each
 * other, since the inside stays unambiguous, but not cross. null when there is none, 'not-finished' when the steps ran
 * out before the result was certain.
 */
export function findMeeting(rings: Rings, budget: Budget): Meeting | null | 'not-finished' {
  const outside = rings[0];
  if (outside === undefined || (rings.length === 1 && isConvex(outside))) return null;
  const edges = edgesOf(rings);
  const { from, to } = edges;
  const count = from.length;
  let touch: Meeting | null = null;
  let crossing: Meeting | null = null;
  const compare = (a: number, b: number): boolean => {
    const meeting = meetingOf(edges, a, b);
    if (meeting?.how === 'crosses') crossing = meeting;
    else touch ??= meeting;
    return crossing !== null;
  };
  if (count <= MAX_PAIRWISE_EDGES) {
    for (let a = 0; a < count; a += 1) {
      for (let b = a + 1; b < count; b += 1) if (boxesMeet(edges, a, b) && compare(a, b)) return crossing;
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
      budget.spend(STEPS_PER_EDGE_TEST);
      return compare(a, b);
    };
    if (search(Math.min(x, toX), Math.min(y, toY), Math.max(x, toX), Math.max(y, toY), visit, budget, a + 1)) break;
    if (budget.isSpent) return 'not-finished';
  }
  return crossing ?? touch;
}

/**
 * Whether a ring is convex, as most zones are, and so has no self-intersection. A fast test that returns false where it
 * is uncertain.
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

/** A fast test whether two edges can meet at all. */
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
    // Numbers out of range prove nothing.
    return Number.isFinite(at[0]) && Number.isFinite(at[1]) ? { how: 'crosses', at } : null;
  }
  if (!isSameRing) return null;
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

/**
 * Returns a test whether a place lies inside a zone; on an edge counts as inside. Uses a tree of the edges where that is
 * less work. The result is null once the steps ran out.
 */
export function insideTest(rings: Rings, places: number, budget: Budget): (place: Place) => boolean | null {
  const corners = rings.reduce((sum, ring) => sum + ring.length, 0);
  if (corners <= MAX_PAIRWISE_EDGES || places < MIN_INDEXED_PLACES) {
    return (place) => (budget.spend(corners) ? isInsideZone(place, rings) : null);
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
      budget.spend(STEPS_PER_EDGE_TEST);
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
