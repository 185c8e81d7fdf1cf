import { formatEndpoint } from '../../net/index.ts';
import { regionOfHost, sameHost } from '../../site/index.ts';
import { decisiveFailure } from './failures.ts';
import type { CloudLinkOptions, FailedAttempt, LinkTrouble, LinkView } from './model.ts';
import { brokerHost } from './plans.ts';
import type { LinkState } from './state.ts';
import { linkTroubles } from './troubles.ts';

/** The state of the link as a person and the API see it. */
export function linkView(
  state: LinkState,
  { cloud, filters, clock, troubles: more }: Pick<CloudLinkOptions, 'cloud' | 'filters' | 'clock' | 'troubles'>,
): LinkView {
  const { session, failures, connects, losses, retryAtMs, directDueMs, renewalFailure } = state;
  const waitMs = (atMs: number | null) => (atMs === null ? null : Math.max(0, Math.round(atMs - clock.monotonicMs())));
  const identity = state.identity.kind === 'enrolled' ? state.identity.identity : null;
  // The connection in use may be that of an earlier identity.
  const host = session?.plan.plan.host ?? (identity === null ? (cloud.mqtt.host ?? null) : brokerHost(cloud, identity));
  const differences = {
    hostDifference:
      identity !== null && cloud.mqtt.host !== undefined && !sameHost(cloud.mqtt.host, identity.endpoint)
        ? { site: cloud.mqtt.host, enrolment: identity.endpoint }
        : null,
    regionDifference: host === null ? null : regionDifference(host, cloud.region),
  };
  const troubles = [...(more?.() ?? []), ...linkTroubles(state, differences, clock.monotonicMs())];
  return {
    ...withTroubles(headline(state), troubles),
    connection:
      session === null
        ? null
        : {
            path: session.plan.path,
            host: session.plan.plan.host,
            port: session.plan.plan.port,
            alpn: session.alpn,
            tls: session.tls,
            sessionPresent: session.mqtt.sessionPresent,
            filters,
            withQos0: session.withQos0,
            since: session.since,
            forMs: Math.round(clock.monotonicMs() - session.sinceMs),
            lastPacketAgoMs: Math.round(clock.monotonicMs() - session.mqtt.lastPacketMs()),
            certificate: {
              fingerprintSha256: session.plan.identity.fingerprintSha256,
              notAfter: session.plan.identity.notAfter,
            },
          },
    failures: { ...failures },
    connects,
    losses,
    retryInMs: waitMs(retryAtMs),
    directRetryInMs: session?.plan.path === 'fallback' ? waitMs(directDueMs) : null,
    ...differences,
    identity: state.identity.kind,
    renewalFailure,
    troubles,
  };
}

type Headline = Pick<LinkView, 'status' | 'detail' | 'remedy' | 'ask'>;

/** A failure to connect says what it is about; the troubles stand beside it. */
function withTroubles(head: Headline, troubles: readonly LinkTrouble[]): Headline {
  const { status, detail, remedy, ask } = head;
  return {
    status,
    detail: status === 'connected' ? [detail, ...troubles.map((trouble) => trouble.detail)].join('; ') : detail,
    remedy: joined([remedy, ...troubles.map((trouble) => trouble.remedy)]),
    ask: joined([ask, ...troubles.map((trouble) => trouble.ask)]),
  };
}

function joined(texts: readonly (string | null)[]): string | null {
  const known = [...new Set(texts.filter((text) => text !== null))];
  return known.length === 0 ? null : known.join(' ');
}

function headline(state: LinkState): Headline {
  const { session, identity } = state;
  if (session !== null) {
    const { path, plan } = session.plan;
    const how = path === 'fallback' ? `, the fallback port with ALPN ${session.alpn}` : '';
    const detail = `connected to ${formatEndpoint(plan)}${how}`;
    return { status: 'connected', detail, remedy: null, ask: null };
  }
  const none = { remedy: null, ask: null };
  if (identity.kind === 'none') {
    return { status: 'not-checked', detail: 'not enrolled', remedy: 'Enrol this device: gw enrol', ask: null };
  }
  if (identity.kind === 'broken') {
    return { status: 'not-checked', detail: identity.error.message, remedy: identity.error.remedy, ask: null };
  }
  if (!state.isRunning) return { status: 'not-checked', detail: 'the cloud link is not running', ...none };
  const decisive = decisiveFailure([state.failures.direct, state.failures.fallback]);
  if (decisive === null) {
    return state.connects > 0
      ? { status: 'connecting', detail: 'not connected; a new connection is being made', ...none }
      : { status: 'not-checked', detail: 'the first attempt has no result yet', ...none };
  }
  const other = [state.failures.direct, state.failures.fallback].find((one) => one !== null && one !== decisive);
  return {
    status: 'connecting',
    detail: `not connected; ${failuresText(decisive, other ?? null)}`,
    remedy: decisive.outcome.remedy ?? null,
    ask: decisive.outcome.ask ?? null,
  };
}

/** Both paths with their reasons; a reason that both have once. */
function failuresText(decisive: FailedAttempt, other: FailedAttempt | null): string {
  const { detail } = decisive.outcome;
  if (other === null) return `${placeOf(decisive)}: ${detail}`;
  return other.outcome.detail === detail
    ? `${placeOf(decisive)} and ${placeOf(other)}: ${detail}`
    : `${placeOf(decisive)}: ${detail}; ${placeOf(other)}: ${other.outcome.detail}`;
}

const placeOf = (failure: FailedAttempt) => formatEndpoint(failure);

/** A name that its owner chose proves nothing where it matches, and is worth a question where it does not. */
function regionDifference(host: string, expected: string): LinkView['regionDifference'] {
  const named = regionOfHost(host);
  return named.kind === 'named' && named.region !== expected ? { host, region: named.region, expected } : null;
}
