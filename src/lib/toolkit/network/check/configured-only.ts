import type { GwError } from '../../../error/index.ts';
import { DialError, type Endpoint, formatEndpoint, isLoopback } from '../../../net/index.ts';
import { agreedDevices, type Site, sameHost } from '../../../site/index.ts';
import type { NetworkLine } from '../network.result.ts';
import type { Outcome } from './plans.ts';
import { segmentLine } from './segment.ts';

/** For an SSH connection that failed at the first dial: whether packets came back from that host. */
export function failedNear({ code, tried, cause }: GwError): { near: Endpoint; how: 'reached' | 'dropped' } | null {
  if (code !== 'SSH_NOT_CONNECTED' || !(cause instanceof DialError)) return null;
  if (tried?.port === undefined || tried.via !== undefined) return null;
  const near = { host: tried.address, port: tried.port };
  if (cause.failure === 'refused') return { near, how: 'reached' };
  return cause.failure === 'no-answer' || cause.failure === 'no-route' ? { near, how: 'dropped' } : null;
}

/**
 * The rule that this gateway reaches only configured addresses of the site is disproven by one reachable other address, and
 * confirmed for the one tried address only.
 */
export function unconfiguredLines(
  site: Site,
  index: number,
  near: Endpoint,
  how: 'reached' | 'dropped',
): NetworkLine[] {
  if (isLoopback(near.host) || near.host.toLowerCase() === 'localhost') return [];
  const place = formatEndpoint(near);
  const claim = `${near.host} is configured, or not reachable from this gateway`;
  const line = (outcome: Outcome) => [
    segmentLine(`from-${index}.configured-only`, claim, { seenFrom: 'second-host', tried: place, ...outcome }),
  ];
  if (agreedDevices(site).some(({ host }) => sameHost(host, near.host))) {
    return line({ verdict: 'ok', detail: 'configured in network.devices of the site file' });
  }
  if (how === 'dropped') {
    return line({ verdict: 'ok', detail: 'no answer; this confirms the rule for this address and port only' });
  }
  return line({
    verdict: 'wrong',
    detail: `TCP connected to ${place}, which is not in the site file`,
    remedy: 'Have this path blocked after the check, or add the host to network.devices as agreed with the IT.',
    ask: `Block connections from the gateway to ${near.host}: in the house network it needs the agreed addresses only.`,
  });
}

/** The rule as a whole, which cannot be checked from any machine of the robot. @source specification, 'Network segments' */
export function configuredOnlyLine(site: Site): NetworkLine {
  const places = agreedDevices(site).filter(({ isHere }) => !isHere);
  const list = places.length === 0 ? 'to none' : `only to ${places.map((place) => formatEndpoint(place)).join(', ')}`;
  return segmentLine('configured-only', 'The gateway reaches only configured addresses of the site', {
    seenFrom: 'nowhere',
    verdict: 'not-checked',
    detail:
      'cannot be proven from inside, because every address would have to be tried. The firewall rules show it; --probe-from shows it for one host',
    remedy: "Have the customer's IT confirm it; the first section of the letter of `gw network request` asks for that.",
    ask: `Confirm that the gateway can connect into the house network ${list}.`,
  });
}
