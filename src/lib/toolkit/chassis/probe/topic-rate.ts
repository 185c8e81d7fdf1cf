/** The arrivals of one topic since it was enabled, on the monotonic clock. */
export interface TopicArrivals {
  readonly count: number;
  /** Of the second message: the first one may be the repetition of an old message that enabling brings. */
  readonly secondMs: number | null;
  readonly lastMs: number;
}

export interface TopicRate {
  /** Messages a second, rounded to hundredths; null where the arrivals do not show one. */
  readonly perSecond: number | null;
  /** Why there is no rate; null where there is one. */
  readonly reason: string | null;
}

/**
 * A robot at rest publishes some topics every five seconds and answers enabling with one message at once
 * (vendor parity notes of integrators, HINWEIS): two messages close together are no rate. Project decision.
 */
const MIN_INTERVALS = 3;
/**
 * Messages that come at a steady pace cover more than this part of the time; those that were held up on the way and
 * came together, and those of a topic that has ceased, do not. Project decision: five of six periods are the least
 * that a steady topic with three intervals can cover, less the jitter of a radio link.
 */
const MIN_COVERAGE = 0.4;

export function addArrival(arrivals: TopicArrivals | undefined, atMs: number): TopicArrivals {
  if (arrivals === undefined) return { count: 1, secondMs: null, lastMs: atMs };
  return { count: arrivals.count + 1, secondMs: arrivals.secondMs ?? atMs, lastMs: atMs };
}

/**
 * The rate of a topic from when its messages came. It is never higher than what the whole time since enabling
 * allows, so that messages which were held up and came together do not look like a fast topic.
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
      reason: `${seen} of ${MIN_INTERVALS} intervals needed; the first message is not counted, because enabling a topic may bring an old one`,
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
