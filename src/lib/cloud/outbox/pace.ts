/** Largest share of the rate that may be sent at one instant. */
const BURST_SHARE = 0.1;

/**
 * Limits a rate: in no second more than `perSecond`. A tenth may be sent at one instant, the rest evenly, so burst and
 * refill together stay within the limit.
 */
export function createPace(perSecond: number, nowMs: () => number) {
  const burst = Math.max(1, Math.floor(perSecond * BURST_SHARE));
  const perMs = Math.max(1, perSecond - burst) / 1000;
  let tokens = burst;
  let atMs = nowMs();
  return {
    /** Takes one; otherwise the wait in milliseconds until there is one. */
    take(): number {
      const now = nowMs();
      tokens = Math.min(burst, tokens + (now - atMs) * perMs);
      atMs = now;
      if (tokens >= 1) {
        tokens -= 1;
        return 0;
      }
      return Math.ceil((1 - tokens) / perMs);
    },
  };
}
