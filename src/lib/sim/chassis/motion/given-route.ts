import type { Point } from '../floor/grid.ts';
import type { Planner } from '../floor/plan.ts';

/** A path along a given route. */
export interface RouteWay {
  readonly points: readonly Point[];
  /** Index in `points` of each point of the route. */
  readonly marks: readonly number[];
  /** The path ends in front of an obstacle that it may not bypass. */
  readonly isCutShort: boolean;
  /** Metres of the route beyond the end of the path. */
  readonly restM: number;
}

/** At a larger distance from the start of the route the move fails with 401. Project decision. */
const MAX_START_DISTANCE_M = 2;
/** Distance at which the robot stops in front of an obstacle on its route. */
const STOP_GAP_M = 0.05;
/** Closer points of a route are merged: the drive needs a direction from each to the next. */
const MIN_POINT_DISTANCE_M = 0.05;
/** Each costs the planner milliseconds; a route with more is treated as blocked. */
const MAX_DETOURS = 50;

/**
 * The path to the start of a route and along it, straight from point to point. It bypasses an obstacle only within
 * `toleranceM` of the route, never with 0 (vendor facts 1.3, HINWEIS).
 */
export function wayAlong(
  planner: Planner,
  from: Point,
  route: readonly Point[],
  toleranceM: number,
): RouteWay | { readonly failReason: number } {
  const start = route[0];
  if (!start) return { failReason: 400 };
  if (distance(from, start) > MAX_START_DISTANCE_M) return { failReason: 401 };
  const approach = planner.plan(from, start);
  if ('failReason' in approach) return approach;
  const points = [...approach.points];
  const marks = [points.length - 1];
  let detours = 0;
  for (const [index, to] of route.entries()) {
    const before = route[index - 1];
    if (!before) continue;
    const last = points.at(-1) ?? before;
    const part = planner.clearPart(last, to);
    if (part === 1 && points.length > 1 && distance(last, to) < MIN_POINT_DISTANCE_M) points[points.length - 1] = to;
    else if (part === 1) points.push(to);
    else {
      detours += 1;
      const mayGoRound = toleranceM > 0 && detours <= MAX_DETOURS;
      const round = mayGoRound ? detour(planner, last, to, toleranceM) : undefined;
      if (!round) {
        const reachM = distance(last, to) * part - STOP_GAP_M;
        const drivenM = reachM > MIN_POINT_DISTANCE_M ? reachM : 0;
        if (drivenM > 0) points.push(between(last, to, drivenM / distance(last, to)));
        const restM = distance(last, to) - drivenM + lengthOf(route.slice(index));
        return { points, marks, isCutShort: true, restM };
      }
      points.push(...round.slice(1));
    }
    marks.push(points.length - 1);
  }
  return { points, marks, isCutShort: false, restM: 0 };
}

function detour(planner: Planner, from: Point, to: Point, toleranceM: number): readonly Point[] | undefined {
  const plan = planner.plan(from, to);
  if ('failReason' in plan) return undefined;
  // Between two corners the distance to a straight line is never larger than at one of them.
  return plan.points.every((point) => distanceToLine(point, from, to) <= toleranceM) ? plan.points : undefined;
}

function distance(a: Point, b: Point): number {
  return Math.hypot(a.xM - b.xM, a.yM - b.yM);
}

function lengthOf(points: readonly Point[]): number {
  return points.reduce((length, point, index) => length + distance(points[index - 1] ?? point, point), 0);
}

function between(a: Point, b: Point, part: number): Point {
  return { xM: a.xM + part * (b.xM - a.xM), yM: a.yM + part * (b.yM - a.yM) };
}

function distanceToLine(point: Point, from: Point, to: Point): number {
  const length = distance(from, to);
  if (length === 0) return distance(point, from);
  const along =
    ((point.xM - from.xM) * (to.xM - from.xM) + (point.yM - from.yM) * (to.yM - from.yM)) / (length * length);
  return distance(point, between(from, to, Math.max(0, Math.min(1, along))));
}
