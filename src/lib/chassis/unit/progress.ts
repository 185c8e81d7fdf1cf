/** A heading that goes on in one direction: how far, since when, over how many samples. */
export interface Progress {
  readonly from: number;
  readonly to: number;
  readonly sinceMs: number;
  readonly samples: number;
}

/**
 * A person who turns a robot by hand hesitates and lets it swing back; this much belongs to the same turn. Project
 * decision, in radians: about 30 degrees.
 */
const MAX_SWING_BACK = 0.5;

/**
 * Keeps the latest stretch in which a continuous heading went in one direction, on average at least as fast as
 * `minPace` (in the unit of the heading, a second). Standing and swinging back end a stretch.
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
