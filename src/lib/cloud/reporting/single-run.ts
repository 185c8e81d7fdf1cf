import type { Clock } from '../../lifecycle/index.ts';

/** A run that takes longer is shown. Project decision: a failing disk is reported after 5 s, by the outbox as well. */
const STALLED_MS = 10_000;

/**
 * Runs one piece of work at a time, and knows when one does not end: a disk that does not answer rejects nothing, so
 * without this the last result would be shown for ever.
 */
export function createSingleRun(clock: Pick<Clock, 'monotonicMs'>) {
  let sinceMs: number | null = null;

  return {
    /** Does nothing while an earlier call runs. */
    async run(work: () => Promise<void>): Promise<void> {
      if (sinceMs !== null) return;
      sinceMs = clock.monotonicMs();
      try {
        await work();
      } finally {
        sinceMs = null;
      }
    },

    /** Why nothing goes on; null: the work ends in time. */
    stall(): string | null {
      if (sinceMs === null) return null;
      const forMs = clock.monotonicMs() - sinceMs;
      if (forMs < STALLED_MS) return null;
      return `The disk or the outbox has not answered for ${Math.floor(forMs / 1_000)} s.`;
    },
  };
}
