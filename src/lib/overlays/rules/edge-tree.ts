import type { Place } from '../model.ts';
import type { Budget } from './input.ts';

/** The edges of a zone, ring after ring, without repeated corners. */
export interface Edges {
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
export type EdgeSearch = (
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
export function createEdgeTree(edges: Edges): EdgeSearch {
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
