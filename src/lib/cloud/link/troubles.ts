import { formatEndpoint } from '../../net/index.ts';
import { ASK_ACCEPTS, strayText } from './failures.ts';
import type { LinkTrouble, LinkView } from './model.ts';
import type { LinkState } from './state.ts';

const NO_ASK = { ask: null };

/**
 * What is wrong with a link beside that it is not connected. Headline, status command, checklist and technician page all
 * show this list, so that none of them shows a connection as sound that another one does not.
 */
export function linkTroubles(
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
