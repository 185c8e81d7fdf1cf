import type { Point } from './grid.ts';

const EVERY_M = 0.1;
/** Older points are dropped, as the vendor's text says of `/trajectory`; how many stay is a project decision. */
const MOST_POINTS = 500;

/** Where the robot has been. */
export function createTrail(start: Point) {
  let points: Point[] = [start];
  return {
    points: (): readonly Point[] => points,
    add({ xM, yM }: Point): void {
      const last = points.at(-1);
      if (last && Math.hypot(xM - last.xM, yM - last.yM) < EVERY_M) return;
      points.push({ xM, yM });
      if (points.length > MOST_POINTS) points.shift();
    },
    /** It was put somewhere else, or on another map. */
    begin({ xM, yM }: Point): void {
      points = [{ xM, yM }];
    },
  };
}
