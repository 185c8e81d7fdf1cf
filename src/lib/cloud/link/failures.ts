import type { PathOutcome } from '../../net/path/index.ts';
import type { FailedAttempt } from './model.ts';
import { KEEPALIVE_S, type SessionEnd, type SubscribeResult } from './mqtt-session.ts';

/** A connection that ends sooner did not settle; the backoff continues. */
export const SETTLED_MS = 60_000;
/** Connections that the peer ended so soon, one after the other, before the words for a displaced session are used. */
export const MAX_SHORT_SESSIONS = 3;

const ASK_OPERATOR = 'Ask the cloud operator to check the policy of this device.';

/** Why the subscriptions are not complete. */
export function subscribeOutcome(result: Exclude<SubscribeResult, { kind: 'subscribed' }>): PathOutcome {
  switch (result.kind) {
    case 'rejected':
      return {
        verdict: 'wrong',
        detail: `SUBACK: the broker rejected the subscription to ${result.filter} (code 0x${result.code.toString(16)})`,
        remedy: `Compare cloud.topics of the site file. ${ASK_OPERATOR}`,
      };
    case 'no-suback':
      return {
        verdict: 'wrong',
        detail: `CONNACK accepted, no SUBACK received within ${result.tookMs} ms`,
        remedy: 'Ask the cloud operator whether the broker is overloaded.',
      };
    case 'closed':
      return {
        verdict: 'wrong',
        // @source vendor (HINWEIS): with MQTT 3.1.1 a policy violation closes the connection without a reason.
        detail: 'connection closed after SUBSCRIBE, as by a broker whose policy does not allow a topic',
        remedy: `Compare cloud.topics of the site file. ${ASK_OPERATOR}`,
      };
  }
}

/** Why an established connection ended; null when gw ended it. `shortSessions`: how many in a row ended soon. */
export function lossOutcome(end: SessionEnd, clientId: string, shortSessions: number): PathOutcome | null {
  switch (end.kind) {
    case 'own':
      return null;
    case 'keepalive':
      return {
        verdict: 'wrong',
        detail: `connection lost: no answer to PINGREQ, nothing received for ${KEEPALIVE_S * 1.5} s`,
        remedy: 'The network or the broker went away without closing the connection; gw connects again.',
      };
    case 'no-puback':
      return {
        verdict: 'wrong',
        detail: `connection ended by gw: no PUBACK received for ${Math.round(end.waitedMs / 1000)} s; the messages are kept and sent again`,
        remedy: 'Ask the cloud operator whether the broker accepts the messages of this device.',
      };
    case 'protocol':
      return {
        verdict: 'wrong',
        detail: `connection ended by gw: ${end.what}`,
        remedy: 'Ask the cloud operator what sends this; the messages of a persistent session are sent again.',
      };
    case 'closed': {
      const alert = 'alert' in end.failure ? `: TLS alert ${end.failure.alert}` : '';
      if (shortSessions >= MAX_SHORT_SESSIONS) {
        return {
          verdict: 'wrong',
          detail: `connection closed within ${SETTLED_MS / 1000} s of CONNACK, ${shortSessions} times in a row${alert}: another connection uses the client identifier ${clientId}, or a policy of the broker was violated`,
          remedy: `Check that no other program or gateway uses the certificate or the serial number of this device. ${ASK_OPERATOR}`,
        };
      }
      return {
        verdict: 'wrong',
        detail: `connection lost: closed by the broker or the network${alert}`,
        remedy: 'gw connects again; if it persists, run `gw network check`.',
      };
    }
  }
}

const stepOrder: readonly FailedAttempt['step'][] = ['name', 'tcp', 'tls', 'alpn', 'mqtt', 'subscribe'];

/** The failure that got farthest, which says most; of two equal ones that of the fallback port, which must work. */
export function decisiveFailure(failures: readonly (FailedAttempt | null)[]): FailedAttempt | null {
  const order = ({ step, path }: FailedAttempt) => stepOrder.indexOf(step) * 2 + (path === 'fallback' ? 1 : 0);
  return failures.reduce<FailedAttempt | null>(
    (best, one) => (one !== null && (best === null || order(one) > order(best)) ? one : best),
    null,
  );
}
