import type { Point } from './grid.ts';

const EVERY_M = 0.1;
/** Older points are dropped, as the vendor's text states for `/trajectory`; the number is a project decision. */
const MAX_POINTS = 500;

/** Recent positions of the robot. */
export function createTrail(start: Point) {
  let points: Point[] = [start];
  return {
    points: (): readonly Point[] => points,
    add({ xM, yM }: Point): void {
      const last = points.at(-1);
      if (last && Math.hypot(xM - last.xM, yM - last.yM) < EVERY_M) return;
      points.push({ xM, yM });
      if (points.length > MAX_POINTS) points.shift();
    },
    /** Clears the trail, after a new pose or another map. */
    begin({ xM, yM }: Point): void {
      points = [{ xM, yM }];
    },
  };
}
