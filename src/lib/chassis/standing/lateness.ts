/** Project decision: the mean interval of poses is taken over this time; fewer intervals show none. */
const OVER_MS = 10_000;
const MIN_INTERVALS = 5;
/** Without a message for longer the heartbeat of the topic stream ends the connection; with reserve. Project decision. */
const MAX_LATE_MS = 2_000;
/** Poses that were once published less often are not late for ever: this part of their time is made good. Project decision. */
const MADE_GOOD = 0.02;

/**
 * How late a pose may be. `/tracked_pose` carries no time of its own, and a busy gateway or network holds poses back and
 * delivers them at once: one that comes after a gap may have been measured one interval after the one before it.
 */
export function createLateness() {
  let arrivals: number[] = [];
  let lateMs = 0;

  return {
    /** Milliseconds between the earliest time at which this pose may have been measured, and its arrival. */
    add(atMs: number): number {
      const before = arrivals.at(-1);
      arrivals.push(atMs);
      while ((arrivals[0] ?? atMs) < atMs - OVER_MS) arrivals.shift();
      const intervals = arrivals.length - 1;
      if (before === undefined || intervals < MIN_INTERVALS) return 0;
      const intervalMs = (atMs - (arrivals[0] ?? atMs)) / intervals;
      lateMs = Math.min(MAX_LATE_MS, Math.max(0, lateMs + (atMs - before) - (1 + MADE_GOOD) * intervalMs));
      return lateMs;
    },
    /** The next pose comes over another connection. */
    interrupt(): void {
      arrivals = [];
      lateMs = 0;
    },
  };
}
