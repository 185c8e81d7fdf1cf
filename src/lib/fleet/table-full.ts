import type { Clock, Log } from '../lifecycle/index.ts';
import { MAX_SERIALS } from './replay-guard.ts';

/** Minimum time between log entries, since a device with the key can cause them at will. */
const LOG_INTERVAL_MS = 10 * 60_000;

/** Counts and logs heartbeats that are rejected because the table of serials is full. */
export interface TableFullCounter {
  refused(address: string): void;
  count(): number;
}

export function createTableFullCounter(clock: Pick<Clock, 'monotonicMs'>, log: Pick<Log, 'warn'>): TableFullCounter {
  let refused = 0;
  let loggedAtMs: number | null = null;
  return {
    count: () => refused,
    refused(address) {
      refused += 1;
      const nowMs = clock.monotonicMs();
      if (loggedAtMs !== null && nowMs - loggedAtMs < LOG_INTERVAL_MS) return;
      loggedAtMs = nowMs;
      log.warn(
        { serials: MAX_SERIALS, refused, address },
        'heartbeats of new serials are rejected: the table of serials is full; robots of fleet.robots keep their places',
      );
    },
  };
}
