import type { Clock } from '../../lifecycle/index.ts';

/** Refusals that are recorded at once, and then one in each interval. Project decision. */
export const MAX_BURST = 30;
const INTERVAL_MS = 60_000;

/**
 * Limits the records of refusals: whoever can publish notifications must not be able to displace the records of sessions
 * from the disk. The next record names how many refusals are not recorded.
 */
export function createRefusalLimit(clock: Pick<Clock, 'monotonicMs'>) {
  let left = MAX_BURST;
  let refilledMs = clock.monotonicMs();
  let skipped = 0;
  return {
    /** The number of refusals before this one that are not recorded; null: this one is not recorded either. */
    admit(): number | null {
      const refill = Math.floor((clock.monotonicMs() - refilledMs) / INTERVAL_MS);
      left = Math.min(MAX_BURST, left + refill);
      refilledMs += refill * INTERVAL_MS;
      if (left === 0) {
        skipped += 1;
        return null;
      }
      left -= 1;
      const before = skipped;
      skipped = 0;
      return before;
    },
  };
}
