/** Project decision: how often poses are measured is taken from this time; fewer arrivals, or a shorter time, do not show it. */
const OVER_MS = 10_000;
const MIN_INTERVALS = 5;
const MIN_OVER_MS = 2_000;
/** At 10 poses a second there are 100; of a flood no more are looked at. Project decision. */
const MAX_ARRIVALS = 256;
/** Without a message for longer the heartbeat of the topic stream ends the connection; with reserve. Project decision. */
const MAX_LATE_MS = 2_000;
/** A pose that is no later than this shows that nothing is held back. Project decision. */
const IN_TIME_MS = 100;

/**
 * How late a pose may be. `/tracked_pose` carries no time of its own, and a busy gateway or network holds poses back and
 * delivers them at once: one that comes after a gap may have been measured one interval after the one before it. Poses are
 * taken for measured at equal intervals, and none of them for later than it arrived. What was held back catches up; where
 * nothing has come in time for longer than poses can be held, none were measured for a while, or they come at another
 * interval. Of one connection.
 */
export function createLateness() {
  let arrivals: number[] = [];
  /** The first of those that were late without a break; null: the newest was in time. */
  let lateSinceMs: number | null = null;

  return {
    /** Milliseconds between the earliest time at which this pose may have been measured, and its arrival. */
    add(atMs: number): number {
      arrivals.push(atMs);
      while (arrivals.length > MAX_ARRIVALS || (arrivals[0] ?? atMs) < atMs - OVER_MS) arrivals.shift();
      const since = lateSinceMs;
      if (since !== null && atMs - since > MAX_LATE_MS && lateBy(arrivals) >= IN_TIME_MS) {
        arrivals = arrivals.filter((one) => one >= since);
        lateSinceMs = null;
      }
      const lateMs = lateBy(arrivals);
      lateSinceMs = lateMs < IN_TIME_MS ? null : (lateSinceMs ?? atMs);
      return lateMs;
    },
  };
}

/** The last of them. */
function lateBy(arrivals: readonly number[]): number {
  const newest = arrivals.length - 1;
  const atMs = arrivals[newest] ?? 0;
  const isShown = newest >= MIN_INTERVALS && atMs - (arrivals[0] ?? atMs) >= MIN_OVER_MS;
  const intervalMs = isShown ? slopeBelow(arrivals) : shortestGap(arrivals);
  let lateMs = 0;
  for (const [at, otherMs] of arrivals.entries()) {
    lateMs = Math.max(lateMs, atMs - otherMs - (newest - at) * intervalMs);
  }
  return Math.min(MAX_LATE_MS, lateMs);
}

/** Until more is known; none after a single gap, which may be a delay. */
function shortestGap(arrivals: readonly number[]): number {
  const gaps = arrivals.slice(1).map((atMs, at) => atMs - (arrivals[at] ?? atMs));
  return gaps.length < 2 ? 0 : Math.min(...gaps);
}

/** Of the line below all arrivals that is nearest to them: the edge of their lower hull in the middle. */
function slopeBelow(arrivals: readonly number[]): number {
  const slope = (from = 0, to = 0) => ((arrivals[to] ?? 0) - (arrivals[from] ?? 0)) / (to - from);
  const hull = [0];
  for (let at = 1; at < arrivals.length; at += 1) {
    while (hull.length > 1 && slope(hull.at(-2), hull.at(-1)) >= slope(hull.at(-1), at)) hull.pop();
    hull.push(at);
  }
  const to = hull.findIndex((at) => at >= (arrivals.length - 1) / 2);
  return slope(hull[to - 1], hull[to]);
}
