import type { Point } from '../floor/grid.ts';

/** A polyline. A robot on it is on one of its segments, which is named by the index of the segment's first point. */
export type Path = readonly Point[];

/** Distance to the point on the path that the robot steers to. */
const LOOK_AHEAD_M = 0.3;

/** The segment to follow from here: waypoints that are closer than half the look-ahead distance are skipped. */
export function passPoints(path: Path, segment: number, at: Point, end: Point): number {
  let next = segment;
  while (next < path.length - 2 && distanceM(at, path[next + 1] ?? end) < LOOK_AHEAD_M * 0.5) next += 1;
  return next;
}

/** The point on the path that the robot steers to. */
export function pointAhead(path: Path, segment: number, at: Point): Point {
  const from = path[segment];
  const to = path[segment + 1];
  if (!from || !to) return path.at(-1) ?? { xM: at.xM, yM: at.yM };
  const dx = to.xM - from.xM;
  const dy = to.yM - from.yM;
  const length = Math.hypot(dx, dy);
  if (length < 1e-9) return to;
  const along = Math.max(0, ((at.xM - from.xM) * dx + (at.yM - from.yM) * dy) / length) + LOOK_AHEAD_M;
  if (along >= length) return to;
  return { xM: from.xM + (dx * along) / length, yM: from.yM + (dy * along) / length };
}

/** Whether the point that the robot steers to is far enough away to give a direction. */
export function isAhead(at: Point, target: Point): boolean {
  return distanceM(at, target) > LOOK_AHEAD_M * 0.5;
}

/** Whether the robot is at the end of its path and beyond it. */
export function hasPassed(path: Path, at: Point, end: Point): boolean {
  const before = path.at(-2);
  if (!before || distanceM(at, end) > 0.1) return false;
  return (end.xM - before.xM) * (end.xM - at.xM) + (end.yM - before.yM) * (end.yM - at.yM) <= 0;
}

/** Metres from here to the end of the path. */
export function remainingOn(path: Path, segment: number, at: Point): number {
  let length = 0;
  let from = at;
  for (const point of path.slice(segment + 1)) {
    length += distanceM(from, point);
    from = point;
  }
  return path.length === 1 ? distanceM(at, path[0] ?? from) : length;
}

/** Metres of the whole path. */
export function wayLength(path: Path): number {
  let length = 0;
  for (let i = 1; i < path.length; i += 1) {
    const from = path[i - 1];
    const to = path[i];
    if (from && to) length += distanceM(from, to);
  }
  return length;
}

export function distanceM(from: Point, to: Point): number {
  return Math.hypot(to.xM - from.xM, to.yM - from.yM);
}
