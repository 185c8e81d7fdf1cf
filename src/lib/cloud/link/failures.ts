import type { PathOutcome } from '../../net/path/index.ts';
import { SETTLED_MS, type ShortClosings } from './closings.ts';
import type { FailedAttempt } from './model.ts';
import { KEEPALIVE_S } from './mqtt/client-options.ts';
import type { SessionEnd, SubscribeResult } from './mqtt/model.ts';

/** Connections that the peer closed so soon, one after the other, before a cause is named. */
const MIN_CLOSINGS = 3;
/** Connections that ended so soon, one after the other, after which the other path goes first. */
export const MAX_SHORT_SESSIONS = 2;
/** Connections that end after about the same time, at least so long, are ended by a time limit. */
const MIN_LIMIT_MS = 1_000;

export const ASK_ACCEPTS = 'Ask the cloud operator whether the broker accepts the messages of this device.';
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

/** Why an established connection ended; null when gw ended it. `closings` includes this end. */
export function lossOutcome(end: SessionEnd, clientId: string, closings: ShortClosings): PathOutcome | null {
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
        detail: `connection ended by gw: no PUBACK received for ${Math.round(end.waitedMs / 1000)} s${strayText(end)}; the messages are kept and sent again`,
        remedy: ASK_ACCEPTS,
      };
    case 'protocol':
      return {
        verdict: 'wrong',
        detail: `connection ended by gw: ${end.what}`,
        remedy: 'Ask the cloud operator what sends this; the messages of a persistent session are sent again.',
      };
    case 'closed': {
      const alert = 'alert' in end.failure ? `: TLS alert ${end.failure.alert}` : '';
      if (closings.times >= MIN_CLOSINGS) return closingsOutcome(closings, alert, clientId);
      return {
        verdict: 'wrong',
        detail: `connection lost: closed by the broker or the network${alert}`,
        remedy: 'gw connects again; if it persists, run `gw network check`.',
      };
    }
  }
}

/** The cause that fits how the connections ended: in the middle of a message, after the same time, or neither. */
function closingsOutcome({ times, minMs, maxMs, withMessages }: ShortClosings, alert: string, clientId: string) {
  const detail = `connection closed within ${SETTLED_MS / 1000} s of CONNACK, ${times} times in a row${alert}`;
  const elsewhere = 'Check that no other program or gateway uses the certificate or the serial number of this device.';
  if (withMessages === times) {
    return {
      verdict: 'wrong' as const,
      detail: `${detail}, each time with unacknowledged messages: the broker may reject one of them, by its size or its topic`,
      remedy: `Ask the cloud operator for the size limit of the broker and the topics that this device may publish to; see \`gw cloud outbox\`.`,
    };
  }
  if (minMs >= MIN_LIMIT_MS && maxMs - minMs <= Math.max(1_000, maxMs / 10)) {
    return {
      verdict: 'wrong' as const,
      detail: `${detail}, each time after about ${Math.round(maxMs / 1000)} s: a time limit of a proxy, a firewall or the broker`,
      remedy: `Ask who runs the network and the broker for such a limit. ${elsewhere}`,
    };
  }
  return {
    verdict: 'wrong' as const,
    detail: `${detail}: another connection uses the client identifier ${clientId}, or a policy of the broker was violated`,
    remedy: `${elsewhere} ${ASK_OPERATOR}`,
  };
}

/** PUBACKs that do not fit a message. */
export function strayText({ strayAcks }: { readonly strayAcks: number }): string {
  return strayAcks === 0 ? '' : ', only PUBACKs with packet identifiers of no message';
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
