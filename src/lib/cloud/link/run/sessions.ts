import { type Clock, type Log, onAbort } from '../../../lifecycle/index.ts';
import type { LinkSession } from '../attempt.ts';
import { countEnd, SETTLED_MS } from '../closings.ts';
import { lossOutcome } from '../failures.ts';
import type { CloudLink, Connection, LinkView } from '../model.ts';
import type { LinkState } from '../state.ts';
import type { DirectRetry } from './direct-retry.ts';
import type { Renewal } from './renewal.ts';

/** How much longer than the wait for a PUBACK a session lasts before the broker counts as acknowledging again. */
const NO_PUBACK_SHARE = 1.5;

export interface SessionsOptions {
  readonly state: LinkState;
  readonly clock: Clock;
  readonly log: Log;
  readonly pubackMs: number;
  /** The backoff between two rounds of attempts. */
  readonly retry: { reset(): void };
  readonly direct: Pick<DirectRetry, 'connected' | 'ended'>;
  readonly view: () => LinkView;
}

/** The sessions of the link, one after the other: which one is the present one, and how each ended. */
export interface Sessions extends Pick<CloudLink, 'subscribe'> {
  /** Makes a session the present one. The broker has displaced the one before, if there was any. */
  begin(session: LinkSession, renewal: Pick<Renewal, 'connected'>): void;
}

export function createSessions(options: SessionsOptions): Sessions {
  const { state, clock, log, retry, direct } = options;
  const listeners = new Set<(connection: Connection | null) => void>();

  const notify = (connection: Connection | null) => {
    for (const listener of [...listeners]) listener(connection);
  };

  function ended(session: LinkSession): void {
    const { plan, mqtt, sinceMs } = session;
    const end = mqtt.end();
    if (state.session !== session || end === null) return;
    state.session = null;
    state.connection = null;
    const livedMs = clock.monotonicMs() - sinceMs;
    if (livedMs >= SETTLED_MS) retry.reset();
    direct.ended(plan.path, livedMs);
    if (state.isReplacing || end.kind === 'own') {
      notify(null);
      return;
    }
    state.losses += 1;
    countEnd(state, end, { livedMs, nowMs: clock.monotonicMs() });
    const outcome = lossOutcome(end, plan.identity.serial, state.closings);
    if (outcome !== null) {
      state.failures[plan.path] = {
        path: plan.path,
        host: plan.plan.host,
        port: plan.plan.port,
        step: 'mqtt',
        outcome,
        at: clock.wall().toISOString(),
        tookMs: Math.round(livedMs),
      };
      log.warn(
        { path: plan.path, detail: outcome.detail, afterMs: Math.round(livedMs) },
        'cloud link: connection lost',
      );
    }
    notify(null);
  }

  return {
    begin(session, renewal) {
      const { plan, mqtt } = session;
      const before = state.session;
      state.session = session;
      state.connection = { path: plan.path, ended: mqtt.ended, publish: mqtt.publish };
      state.failures[plan.path] = null;
      state.connects += 1;
      state.retryAtMs = null;
      renewal.connected(plan.identity);
      direct.connected(plan.path);
      if (state.noPuback !== null) {
        state.noPuback = { ...state.noPuback, overAtMs: clock.monotonicMs() + NO_PUBACK_SHARE * options.pubackMs };
      }
      before?.mqtt.destroy();
      log.info(
        {
          path: plan.path,
          host: plan.plan.host,
          port: plan.plan.port,
          alpn: session.alpn,
          sessionPresent: mqtt.sessionPresent,
        },
        'cloud link: connected',
      );
      const { hostDifference, regionDifference } = options.view();
      if (hostDifference !== null) log.warn(hostDifference, 'cloud link: site file and enrolment name different hosts');
      if (regionDifference !== null) log.warn(regionDifference, 'cloud link: the host name is in another region');
      onAbort(mqtt.ended, () => ended(session));
      if (state.session === session) notify(state.connection);
    },

    subscribe(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => listeners.delete(listener) };
    },
  };
}
