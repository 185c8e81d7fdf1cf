import type { Clock } from '../../lifecycle/index.ts';

const CROWDING_REPORT_MS = 60_000;

/** Evictions and refusals since the last report. */
export interface Crowding {
  /** Connections that were closed in favour of newer ones. */
  readonly evicted: number;
  readonly refused: number;
  /** Open at the time of the report. */
  readonly open: number;
  /** The peer of the last evicted or refused connection. */
  readonly peer: string;
}

/** Counts evictions and refusals; `report` is called with the first one, and then at most once a minute. */
export function createCrowding(
  clock: Pick<Clock, 'monotonicMs'>,
  openConnections: () => number,
  report: ((crowding: Crowding) => void) | undefined,
) {
  const crowded = { evicted: 0, refused: 0, peer: '' };
  let reportedMs = Number.NEGATIVE_INFINITY;

  return {
    note(what: 'evicted' | 'refused', peer: string): void {
      crowded[what] += 1;
      crowded.peer = peer;
      const now = clock.monotonicMs();
      if (now - reportedMs < CROWDING_REPORT_MS) return;
      reportedMs = now;
      report?.({ ...crowded, open: openConnections() });
      crowded.evicted = 0;
      crowded.refused = 0;
    },
  };
}
