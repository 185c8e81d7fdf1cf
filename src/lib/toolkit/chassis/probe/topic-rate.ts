/** The arrivals of one topic since it was enabled, on the monotonic clock. */
export interface TopicArrivals {
  readonly count: number;
  /** Arrival of the second message: the first one may be an old message repeated on enabling. */
  readonly secondMs: number | null;
  readonly lastMs: number;
}

export interface TopicRate {
  /** Messages per second, rounded to hundredths; null where it cannot be determined. */
  readonly perSecond: number | null;
  /** Why there is no rate; null where there is one. */
  readonly reason: string | null;
}

/**
 * A robot at rest publishes some topics every five seconds and answers enabling with one message at once
 * (vendor parity notes of integrators, HINWEIS): two messages close together do not give a rate. Project decision.
 */
const MIN_INTERVALS = 3;
/**
 * Steady messages cover more than this part of the time; messages that were delayed and arrived together, and those of a
 * topic that has stopped, do not. Project decision, with a margin for the jitter of a radio link.
 */
const MIN_COVERAGE = 0.4;

export function addArrival(arrivals: TopicArrivals | undefined, atMs: number): TopicArrivals {
  if (arrivals === undefined) return { count: 1, secondMs: null, lastMs: atMs };
  return { count: arrivals.count + 1, secondMs: arrivals.secondMs ?? atMs, lastMs: atMs };
}

/**
 * The rate of a topic from its arrivals. Limited by the whole time since enabling, so that delayed messages that
 * arrive together do not look like a fast topic.
 */
export function rateOf(arrivals: TopicArrivals | undefined, enabledMs: number, nowMs: number): TopicRate {
  if (arrivals === undefined) return { perSecond: null, reason: 'no message received' };
  const { count, secondMs, lastMs } = arrivals;
  const counted = count - 1;
  const intervals = counted - 1;
  if (secondMs === null || intervals < MIN_INTERVALS) {
    const seen = Math.max(0, intervals);
    return {
      perSecond: null,
      reason: `${seen} of ${MIN_INTERVALS} intervals needed; the first message is not counted, because enabling a topic may repeat an old one`,
    };
  }
  const spanMs = lastMs - secondMs;
  const openMs = nowMs - enabledMs;
  if (!(spanMs > 0) || spanMs < openMs * MIN_COVERAGE) {
    const seconds = (ms: number) => (ms / 1_000).toFixed(1);
    return {
      perSecond: null,
      reason: `not steady: ${counted} messages within ${seconds(spanMs)} s of ${seconds(openMs)} s`,
    };
  }
  // Two periods of a steady topic can lie outside of its intervals: before the first that counts, after the last.
  const perMs = Math.min(intervals / spanMs, (counted + 2) / openMs);
  return { perSecond: Math.round(perMs * 1e5) / 100, reason: null };
}
