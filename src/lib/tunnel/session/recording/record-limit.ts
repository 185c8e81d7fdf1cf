import type { Clock } from '../../../lifecycle/index.ts';

/** Recorded at once, and then one in each interval. Project decision. */
export const MAX_BURST = 30;
const INTERVAL_MS = 60_000;

/**
 * Limits the records of one kind: whoever can publish notifications must not be able to displace older records from the
 * disk, whose space is limited.
 */
export function createRecordLimit(clock: Pick<Clock, 'monotonicMs'>) {
  let left = MAX_BURST;
  let refilledMs = clock.monotonicMs();
  let skipped = 0;
  return {
    /** The number of records left out since the last one; null: this one is left out too. */
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
