import type { GwError } from '../../../error/index.ts';
import { DialError, type Endpoint, formatEndpoint, isLoopback } from '../../../net/index.ts';
import { type Site, sameHost } from '../../../site/index.ts';
import type { NetworkLine } from '../check.result.ts';
import { agreedDevices } from './plans.ts';
import type { Said } from './said.ts';
import { segmentLine } from './segment.ts';

/** Of a connection that this machine itself could not open: whether packets came back from there. */
export function failedNear({ code, tried, cause }: GwError): { near: Endpoint; how: 'reached' | 'dropped' } | null {
  if (code !== 'SSH_NOT_CONNECTED' || !(cause instanceof DialError)) return null;
  if (tried?.port === undefined || tried.via !== undefined) return null;
  const near = { host: tried.address, port: tried.port };
  if (cause.failure === 'refused') return { near, how: 'reached' };
  return cause.failure === 'no-answer' || cause.failure === 'no-route' ? { near, how: 'dropped' } : null;
}

/**
 * That this gateway reaches configured addresses of the site only can be disproven by one that it reaches, and shown
 * for the one address that it tried. It proves nothing of all others.
 */
export function unconfiguredLines(
  site: Site,
  index: number,
  near: Endpoint,
  how: 'reached' | 'dropped',
): NetworkLine[] {
  if (isLoopback(near.host) || near.host.toLowerCase() === 'localhost') return [];
  const isConfigured = agreedDevices(site).some(({ host }) => sameHost(host, near.host));
  const place = formatEndpoint(near);
  const line = (said: Said) =>
    segmentLine(`from-${index}.configured-only`, `This gateway does not reach ${near.host}, unless it is configured`, {
      seenFrom: 'second-host',
      tried: place,
      ...said,
    });
  if (isConfigured) {
    return [line({ verdict: 'ok', detail: 'network.devices of the site file names it, so it may' })];
  }
  if (how === 'dropped') {
    return [
      line({ verdict: 'ok', detail: 'nothing came back from there; that proves it for this address and port alone' }),
    ];
  }
  return [
    line({
      verdict: 'wrong',
      detail: `the check itself connected to ${place}, and the site file does not name it`,
      remedy:
        'Have this way closed when the check is over; where it is to stay, enter the host in network.devices as agreed with the IT.',
      ask: `Let the gateway open no connection to ${near.host}: in the house network it needs the agreed addresses alone.`,
    }),
  ];
}

/** The rule as a whole: no machine of the robot can see it. @source specification, 'Network segments' */
export function configuredOnlyLine(site: Site): NetworkLine {
  const places = agreedDevices(site).filter(({ host }) => !isLoopback(host));
  const list = places.length === 0 ? 'to none' : `only to ${places.map((place) => formatEndpoint(place)).join(', ')}`;
  return segmentLine('configured-only', 'The gateway reaches only configured addresses of the site', {
    seenFrom: 'nowhere',
    verdict: 'not-checked',
    detail:
      'cannot be proven from inside: this gateway would have to try every address. The rules of the network show it, and --from shows it for the one host that is named',
    remedy: "Have the customer's IT confirm it; gw network request asks for that in its first section.",
    ask: `Confirm that the gateway can connect into the house network ${list}.`,
  });
}
