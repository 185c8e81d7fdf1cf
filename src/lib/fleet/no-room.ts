import type { Clock, Log } from '../lifecycle/index.ts';
import { MAX_SERIALS } from './replay-guard.ts';

/** Between two log entries while it goes on: whoever has the key can cause it as often as he likes. */
const TOLD_EVERY_MS = 10 * 60_000;

/** Counts heartbeats that the full table of serials refused, and says so in the log. */
export interface NoRoom {
  refused(address: string): void;
  count(): number;
}

export function createNoRoom(clock: Pick<Clock, 'monotonicMs'>, log: Pick<Log, 'warn'>): NoRoom {
  let refused = 0;
  let toldMs: number | null = null;
  return {
    count: () => refused,
    refused(address) {
      refused += 1;
      const nowMs = clock.monotonicMs();
      if (toldMs !== null && nowMs - toldMs < TOLD_EVERY_MS) return;
      toldMs = nowMs;
      log.warn(
        { serials: MAX_SERIALS, refused, address },
        'heartbeats of new serials are refused: the table of serials is full; robots of fleet.robots keep their places',
      );
    },
  };
}
