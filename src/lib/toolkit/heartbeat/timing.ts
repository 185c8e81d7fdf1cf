import { PERIOD_MS } from '../../fleet/index.ts';

/** One heartbeat, dated by the monotonic clock of the checking machine. */
export interface Arrival {
  readonly atMs: number;
  /** Increments with every heartbeat of one boot of the sender. */
  readonly sequence: number;
  /** Uptime reported by the sender; null when not reported. */
  readonly uptimeS: number | null;
  /** Identifies one boot of the sender. */
  readonly boot: string;
}

export interface Timing {
  /** Number of intervals between heartbeats of the last boot. */
  readonly intervals: number;
  /** Mean time from heartbeat to heartbeat, by the sequence; null without an interval. */
  readonly periodMs: number | null;
  /** Median of these times; a single late heartbeat does not change it. */
  readonly medianMs: number | null;
  /** Maximum difference between the reported uptime and the elapsed time; null when not reported. */
  readonly uptimeOffS: number | null;
}

/** Project decision: mean and median may deviate by 10 % from the 2 s of the specification. */
export const PERIOD_TOLERANCE = 0.1;
/** Project decision: with fewer intervals a single late datagram would decide. */
const MIN_INTERVALS = 3;
/** Project decision: two seconds of rounding and one of network delay. */
export const MAX_UPTIME_OFF_S = 3;
/** A wrong period can be judged from one interval less. */
const MIN_INTERVALS_WRONG = 2;

/** Timing of a sender from the arrivals of its last boot; `arrivals` in order of arrival. */
export function timingOf(arrivals: readonly Arrival[]): Timing {
  const boot = arrivals.at(-1)?.boot;
  const own = arrivals.filter((arrival) => arrival.boot === boot);
  const [first, last] = [own[0], own.at(-1)];
  if (first === undefined || last === undefined)
    return { intervals: 0, periodMs: null, medianMs: null, uptimeOffS: null };
  const steps = last.sequence - first.sequence;
  const offs = own.flatMap(({ atMs, uptimeS }) =>
    uptimeS === null || first.uptimeS === null ? [] : [Math.abs(uptimeS - first.uptimeS - (atMs - first.atMs) / 1000)],
  );
  return {
    intervals: own.length - 1,
    periodMs: steps > 0 ? (last.atMs - first.atMs) / steps : null,
    medianMs: medianOf(own),
    uptimeOffS: own.length > 1 && offs.length > 0 ? Math.max(...offs) : null,
  };
}

function medianOf(arrivals: readonly Arrival[]): number | null {
  const times = arrivals.slice(1).flatMap((arrival, index) => {
    const before = arrivals[index];
    if (before === undefined || arrival.sequence <= before.sequence) return [];
    return [(arrival.atMs - before.atMs) / (arrival.sequence - before.sequence)];
  });
  times.sort((a, b) => a - b);
  const [low, high] = [times[Math.floor((times.length - 1) / 2)], times[Math.floor(times.length / 2)]];
  return low === undefined || high === undefined ? null : (low + high) / 2;
}

/**
 * Judges the period against the specification. Mean and median must agree, because a single late heartbeat changes the
 * mean, and the median does not show drift. 'not-checked' when they disagree, or with too few intervals.
 */
export function judgePeriod({ intervals, periodMs, medianMs }: Timing): 'ok' | 'wrong' | 'not-checked' {
  if (periodMs === null || medianMs === null) return 'not-checked';
  const [mean, median] = [periodMs, medianMs].map((ms) => Math.abs(ms - PERIOD_MS) <= PERIOD_TOLERANCE * PERIOD_MS);
  if (mean && median) return intervals >= MIN_INTERVALS ? 'ok' : 'not-checked';
  return !mean && !median && intervals >= MIN_INTERVALS_WRONG ? 'wrong' : 'not-checked';
}
