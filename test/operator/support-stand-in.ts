import type { OperatorOptions } from '../../src/lib/operator/index.ts';
import type { SessionEntry, SupportView } from '../../src/lib/tunnel/index.ts';

/** Remote support that only records its calls. */
export interface StandInSupport extends NonNullable<OperatorOptions['support']> {
  state: SupportView;
  entries: readonly SessionEntry[];
  readonly calls: string[];
  /** Thrown by the next call. */
  failNext?: Error;
}

export const waitingSupport: SupportView = {
  ...{ status: 'waiting', detail: 'No session; waiting for a notification.', remedy: null, running: null },
  ...{
    records: { status: 'ok', detail: 'The records are written.', notSentYet: 0 },
    lastRefused: null,
    lastEnded: null,
  },
};

export const runningSupport: SupportView = {
  ...waitingSupport,
  status: 'running',
  detail: 'A session runs.',
  running: {
    ...{ session: 's-7', services: ['web', 'diagnosis'], since: '2026-11-22T19:00:00.000Z', state: 'connected' },
    ...{ forMs: 12 * 60_000, leftMs: 48 * 60_000, reportAgeMs: 400, open: 3, connections: 11 },
  },
};

const ended: SessionEntry = {
  ...{ kind: 'session', session: 's-6', at: '2026-11-21T10:00:00.000Z', region: 'eu-central-1', services: ['web'] },
  maxS: 3_600,
  end: {
    ...{ at: '2026-11-21T10:30:00.000Z', reason: 'own-clock', detail: 'The own clock expired.', durationS: 1_800 },
    connections: 4,
  },
};

export function standInSupport(state: SupportView = waitingSupport): StandInSupport {
  const calls: string[] = [];
  return {
    state,
    entries: [ended],
    calls,
    view() {
      return this.state;
    },
    async sessions(limit) {
      calls.push(`sessions ${limit}`);
      throwOnce(this);
      return this.entries.slice(0, limit);
    },
    async endOnSite(by) {
      calls.push(`end ${by}`);
      throwOnce(this);
      const wasRunning = this.state.status === 'running';
      if (wasRunning) this.state = waitingSupport;
      return wasRunning;
    },
  };
}

function throwOnce(support: StandInSupport): void {
  const { failNext } = support;
  if (failNext === undefined) return;
  delete support.failNext;
  throw failNext;
}
