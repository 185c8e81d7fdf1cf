import { PERIOD_MS } from '../../fleet/index.ts';

/** One heartbeat, dated by the monotonic clock of the machine that looks. */
export interface Arrival {
  readonly atMs: number;
  /** Grows by one with every heartbeat of one life of the sender. */
  readonly sequence: number;
  /** Of the sender, as it says; null where it is not told. */
  readonly uptimeS: number | null;
  /** Tells one life of the sender from the next. */
  readonly life: string;
}

export interface Timing {
  /** Times between two heartbeats of the last life. */
  readonly intervals: number;
  /** Mean time from heartbeat to heartbeat, by the sequence; null without an interval. */
  readonly periodMs: number | null;
  /** Median of these times; one that came late does not move it. */
  readonly medianMs: number | null;
  /** How far the uptime of the sender moved away from the time that passed, at most; null where it is not told. */
  readonly uptimeOffS: number | null;
}

/** Project decision: mean and median may be off by a tenth of the 2 s that the specification gives. */
export const PERIOD_TOLERANCE = 0.1;
/** Project decision: with fewer intervals one late datagram would decide. */
const MIN_INTERVALS = 3;
/** Project decision: two whole seconds of rounding, and one of delay on the way. */
export const MAX_UPTIME_OFF_S = 3;
/** A period that is out of bounds is told from one interval less. */
const MIN_INTERVALS_WRONG = 2;

/** How regularly a sender sends, from what arrived of its last life; `arrivals` in the order of arrival. */
export function timingOf(arrivals: readonly Arrival[]): Timing {
  const life = arrivals.at(-1)?.life;
  const own = arrivals.filter((arrival) => arrival.life === life);
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
 * Whether the period is that of the specification. Mean and median must agree: the mean alone moves with one heartbeat
 * that is late, and the median alone does not see a sender that drifts. 'not-checked' where they differ, or with too few
 * intervals to tell.
 */
export function judgePeriod({ intervals, periodMs, medianMs }: Timing): 'ok' | 'wrong' | 'not-checked' {
  if (periodMs === null || medianMs === null) return 'not-checked';
  const [mean, median] = [periodMs, medianMs].map((ms) => Math.abs(ms - PERIOD_MS) <= PERIOD_TOLERANCE * PERIOD_MS);
  if (mean && median) return intervals >= MIN_INTERVALS ? 'ok' : 'not-checked';
  return !mean && !median && intervals >= MIN_INTERVALS_WRONG ? 'wrong' : 'not-checked';
}
