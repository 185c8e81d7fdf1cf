import { cellCentre, cellIndex, FREE, type Grid, inflate, type Point } from './grid.ts';

/** Distance that the planner keeps to obstacles: the radius of the robot and a margin. */
const CLEARANCE_M = 0.35;
/** The robot's own radius. */
const RADIUS_M = 0.25;
/** Search radius for a passable cell when the robot starts close to a wall. */
const ESCAPE_M = 0.6;

/** The vendor's `fail_reason` (HINWEIS). */
type PlanFailure = 3 | 4 | 5 | 6 | 9;

export interface Planner {
  /** Waypoints from start to goal, both included, or the vendor's `fail_reason`. */
  plan(from: Point, to: Point): { readonly points: readonly Point[] } | { readonly failReason: PlanFailure };
  /** Whether the robot, without margin, is free of collision here. */
  isFree(at: Point): boolean;
}

/** Shortest paths on an occupancy grid over eight neighbours, then shortened by line of sight. */
export function createPlanner(grid: Grid): Planner {
  const blocked = inflate(grid, CLEARANCE_M);

  return {
    plan(from, to) {
      const fromIndex = cellIndex(grid, from);
      const toIndex = cellIndex(grid, to);
      if (fromIndex < 0) return { failReason: 3 };
      if (toIndex < 0) return { failReason: 4 };
      if (grid.cells[fromIndex] !== FREE) return { failReason: 5 };
      if (blocked[toIndex] !== 0) return { failReason: 6 };
      const start = blocked[fromIndex] === 0 ? fromIndex : nearestPassable(grid, blocked, fromIndex);
      if (start === undefined) return { failReason: 5 };
      const cells = search(grid, blocked, start, toIndex);
      if (!cells) return { failReason: 9 };
      const inner = cells.map((index) => cellCentre(grid, index));
      const points = start === fromIndex ? [from, ...inner.slice(1, -1), to] : [from, ...inner.slice(0, -1), to];
      return { points: straighten(grid, blocked, points) };
    },
    isFree(at) {
      for (let angle = 0; angle < 2 * Math.PI; angle += Math.PI / 12) {
        const rim = { xM: at.xM + RADIUS_M * Math.cos(angle), yM: at.yM + RADIUS_M * Math.sin(angle) };
        if (grid.cells[cellIndex(grid, rim)] !== FREE) return false;
      }
      return true;
    },
  };
}

function nearestPassable(grid: Grid, blocked: Uint8Array, index: number): number | undefined {
  const reach = Math.ceil(ESCAPE_M / grid.resolutionM);
  const column = index % grid.width;
  const row = (index - column) / grid.width;
  let best: number | undefined;
  let bestDistance = reach;
  for (let y = Math.max(0, row - reach); y <= Math.min(grid.height - 1, row + reach); y += 1) {
    for (let x = Math.max(0, column - reach); x <= Math.min(grid.width - 1, column + reach); x += 1) {
      const distance = Math.hypot(x - column, y - row);
      if (blocked[y * grid.width + x] === 0 && distance < bestDistance) {
        best = y * grid.width + x;
        bestDistance = distance;
      }
    }
  }
  return best;
}

/** Cost of a step to a neighbour, and to a diagonal one: whole numbers, so that cells wait in a list for each cost. */
const STRAIGHT = 5;
const DIAGONAL = 7;

/** Dijkstra's algorithm. */
function search(grid: Grid, blocked: Uint8Array, start: number, goal: number): number[] | undefined {
  const { width, height } = grid;
  const cost = new Uint32Array(blocked.length).fill(0xffff_ffff);
  const cameFrom = new Int32Array(blocked.length).fill(-1);
  const waiting: number[][] = [[start]];
  cost[start] = 0;
  for (let reached = 0; reached < waiting.length; reached += 1) {
    for (const current of waiting[reached] ?? []) {
      if (current === goal) return trace(cameFrom, goal);
      // A shorter way was found meanwhile.
      if (cost[current] !== reached) continue;
      const x = current % width;
      const y = (current - x) / width;
      for (let dy = -1; dy <= 1; dy += 1) {
        for (let dx = -1; dx <= 1; dx += 1) {
          const [nx, ny] = [x + dx, y + dy];
          if ((dx === 0 && dy === 0) || nx < 0 || ny < 0 || nx >= width || ny >= height) continue;
          const next = ny * width + nx;
          // A diagonal step past the corner of an obstacle would touch it.
          if (blocked[next] !== 0 || blocked[y * width + nx] !== 0 || blocked[ny * width + x] !== 0) continue;
          const total = reached + (dx !== 0 && dy !== 0 ? DIAGONAL : STRAIGHT);
          if (total >= (cost[next] ?? 0)) continue;
          cost[next] = total;
          cameFrom[next] = current;
          waiting[total] ??= [];
          waiting[total].push(next);
        }
      }
    }
  }
  return undefined;
}

function trace(cameFrom: Int32Array, goal: number): number[] {
  const cells = [goal];
  for (let at = cameFrom[goal] ?? -1; at >= 0; at = cameFrom[at] ?? -1) cells.push(at);
  return cells.reverse();
}

function straighten(grid: Grid, blocked: Uint8Array, points: readonly Point[]): Point[] {
  const first = points[0];
  const last = points.at(-1);
  if (!first || !last) return [];
  const straight = [first];
  let anchor = first;
  for (let i = 1; i < points.length; i += 1) {
    const point = points[i];
    const before = points[i - 1];
    if (point && before && before !== anchor && !isClear(grid, blocked, anchor, point)) {
      straight.push(before);
      anchor = before;
    }
  }
  straight.push(last);
  return straight;
}

function isClear(grid: Grid, blocked: Uint8Array, from: Point, to: Point): boolean {
  const length = Math.hypot(to.xM - from.xM, to.yM - from.yM);
  const steps = Math.max(1, Math.ceil(length / (grid.resolutionM / 2)));
  for (let step = 0; step <= steps; step += 1) {
    const part = step / steps;
    const index = cellIndex(grid, {
      xM: from.xM + part * (to.xM - from.xM),
      yM: from.yM + part * (to.yM - from.yM),
    });
    if (index < 0 || blocked[index] !== 0) return false;
  }
  return true;
}
