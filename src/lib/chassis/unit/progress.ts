/** A heading that changes in one direction: range, start time, and number of samples. */
export interface Progress {
  readonly from: number;
  readonly to: number;
  readonly sinceMs: number;
  readonly samples: number;
}

/**
 * A robot turned by hand may swing back; this much belongs to the same turn. Project decision, in radians: about 30
 * degrees.
 */
const MAX_SWING_BACK = 0.5;

/**
 * Tracks the latest stretch in which a continuous heading changed in one direction, on average at least as fast as
 * `minPace` (unit of the heading per second). Standing still and swinging back end a stretch.
 */
export function createProgress(direction: 1 | -1, minPace: number) {
  let from = 0;
  let furthest = 0;
  let sinceMs = 0;
  let samples = 0;

  function restart(heading: number, atMs: number): void {
    from = heading;
    furthest = heading;
    sinceMs = atMs;
    samples = 0;
  }

  return {
    restart: (heading: number, atMs: number) => restart(direction * heading, atMs),
    /** True while there is a stretch. */
    add(heading: number, atMs: number): boolean {
      const along = direction * heading;
      if (along - from <= (minPace * (atMs - sinceMs)) / 1_000 || furthest - along > MAX_SWING_BACK) {
        restart(along, atMs);
        return false;
      }
      if (along > furthest) furthest = along;
      samples += 1;
      return true;
    },
    length: () => furthest - from,
    read: (): Progress => ({ from: direction * from, to: direction * furthest, sinceMs, samples }),
  };
}
