import { formatEndpoint } from '../../net/index.ts';
import { regionOfHost, sameHost } from '../../site/index.ts';
import { brokerCaTrouble } from './broker-ca.ts';
import { ASK_ACCEPTS, decisiveFailure, strayText } from './failures.ts';
import type { CloudLinkOptions, FailedAttempt, LinkIdentity, LinkTrouble, LinkView } from './model.ts';
import { brokerHost } from './plans.ts';
import type { LinkState } from './state.ts';

const NO_ASK = { ask: null };

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
  const ca = session?.brokerCa ?? null;
  const ending = ca && brokerCaTrouble(ca, cloud.mqtt.caFile !== undefined, clock.wall());
  if (ending !== null) troubles.push(ending);
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
            certificate: certificateOf(session.plan.identity),
          },
    failures: { ...failures },
    connects,
    losses,
    retryInMs: waitMs(retryAtMs),
    directRetryInMs: session?.plan.path === 'fallback' ? waitMs(directDueMs) : null,
    ...differences,
    identity: state.identity.kind,
    installed: identity === null ? null : certificateOf(identity),
    renewalFailure,
    troubles,
  };
}

/**
 * What is wrong with a link beside that it is not connected. Headline, status command, checklist and technician page all
 * show this list, so that none of them shows a connection as sound that another one does not.
 */
function linkTroubles(
  {
    session,
    renewalFailure,
    identity,
    noPuback,
  }: Pick<LinkState, 'session' | 'renewalFailure' | 'identity' | 'noPuback'>,
  { hostDifference, regionDifference }: Pick<LinkView, 'hostDifference' | 'regionDifference'>,
  nowMs: number,
): readonly LinkTrouble[] {
  const troubles: LinkTrouble[] = [];
  if (session !== null && noPuback !== null && nowMs < noPuback.overAtMs) {
    troubles.push({
      kind: 'no-puback',
      detail: `the broker does not acknowledge messages: the last connection ended without PUBACK${strayText(noPuback)}; the messages are kept and sent again`,
      remedy: ASK_ACCEPTS,
      ...NO_ASK,
    });
  }
  if (session !== null && renewalFailure !== null) {
    const { detail, remedy = null, ask = null } = renewalFailure.outcome;
    troubles.push({
      kind: 'renewal-failed',
      detail: `the certificate before the renewal is in use: the new one failed at ${formatEndpoint(renewalFailure)}: ${detail}`,
      remedy,
      ask,
    });
  }
  // Without a connection it is the reason for that.
  if (session !== null && identity.kind === 'broken') {
    const { message, remedy } = identity.error;
    troubles.push({
      kind: 'identity-broken',
      detail: `the installed identity is broken: ${message}`,
      remedy,
      ...NO_ASK,
    });
  }
  if (session !== null && session.withQos0.length > 0) {
    troubles.push({
      kind: 'qos-0',
      detail: `the broker granted QoS 0 only for ${session.withQos0.join(', ')}, so messages sent there while the gateway is not connected are lost`,
      remedy: 'Ask the cloud operator to allow QoS 1.',
      ...NO_ASK,
    });
  }
  if (hostDifference !== null) {
    troubles.push({
      kind: 'host-difference',
      detail: `the site file has the broker ${hostDifference.site}, the enrolment gave ${hostDifference.enrolment}`,
      remedy: 'Correct cloud.mqtt.host, or enrol the device again: gw enrol --renew',
      ...NO_ASK,
    });
  }
  if (regionDifference !== null) {
    const { host, region, expected } = regionDifference;
    troubles.push({
      kind: 'region-difference',
      detail: `${host} is in the region ${region}, the site file expects ${expected}`,
      remedy: 'Compare cloud.mqtt.host and cloud.region with the cloud operator.',
      ...NO_ASK,
    });
  }
  return troubles;
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

const certificateOf = ({ fingerprintSha256, notAfter }: LinkIdentity) => ({ fingerprintSha256, notAfter });

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
