import { type DialFailure, dialFailureText, formatEndpoint } from '../../../net/index.ts';
import { isInRange } from '../../../net/probe/index.ts';
import { type AgreedDevice, agreedDevices, type Site } from '../../../site/index.ts';
import type { NetworkLine } from '../network.result.ts';
import { networkLine, type Outcome } from './plans.ts';

/** A dial with its failure; null: TCP connected. */
export interface Dialled {
  readonly host: string;
  readonly port: number;
  readonly failure: DialFailure | null;
  readonly tookMs: number;
  /** Local address of the connection; null when unknown. */
  readonly localAddress: string | null;
}

/** A line about reachability between hosts. */
export function segmentLine(id: string, title: string, outcome: Parameters<typeof networkLine>[3]): NetworkLine {
  return networkLine('segment', `segment.${id}`, title, { spec: 'Network segments', ...outcome });
}

/** Whether the configured addresses are in the right segment, and this machine has the address of the gateway. */
export function addressLines(site: Site, own: readonly string[]): NetworkLine[] {
  const { gateway } = site.network;
  // A service on this machine is not a device of the house network.
  const devices = agreedDevices(site).filter(({ isHere }) => !isHere);
  const title = 'Chassis and gateway are in the robot segment, agreed devices are not';
  const lines = [segmentLine('addresses', title, judgeAddresses(site, devices))];
  if (gateway !== undefined && isInRange(gateway, '0.0.0.0/0') !== null) {
    const outcome: Outcome = own.includes(gateway)
      ? { verdict: 'ok', detail: 'assigned to this machine' }
      : {
          verdict: 'wrong',
          detail: `this machine has ${own.join(', ') || 'no address'}`,
          remedy: 'Run this on the gateway. If it already runs there, the DHCP reservation is missing or wrong.',
          ask: `Reserve ${gateway} for the gateway in DHCP.`,
        };
    const line = { spec: 'Addressing rules', ...outcome };
    lines.push(segmentLine('gateway-address', `This gateway has the address ${gateway}`, line));
  }
  return lines;
}

function judgeAddresses({ chassis, network }: Site, devices: readonly AgreedDevice[]): Outcome {
  const { robotSegment, gateway } = network;
  if (robotSegment === undefined) {
    return { verdict: 'not-checked', detail: 'network.robotSegment is not in the site file' };
  }
  const robots = [
    { name: 'the chassis', host: chassis.host },
    ...(gateway === undefined ? [] : [{ name: 'the gateway', host: gateway }]),
  ];
  const outside = robots.filter(({ host }) => isInRange(host, robotSegment) === false);
  const inside = devices.filter(({ host }) => isInRange(host, robotSegment) === true);
  const wrong = [
    ...outside.map(({ name, host }) => `${name} (${host}) is not in ${robotSegment}`),
    ...inside.map(({ name, host }) => `${name} (${host}) is in ${robotSegment}`),
  ];
  if (wrong.length > 0) {
    return {
      verdict: 'wrong',
      detail: wrong.join('; '),
      remedy: 'Compare the site file with the DHCP reservations.',
      ask: `Use a separate WLAN or VLAN (${robotSegment}) for chassis, gateway and tablet only.`,
    };
  }
  const named = [...robots, ...devices]
    .map(({ host }) => host)
    .filter((host) => isInRange(host, robotSegment) === null);
  const missing = [
    ...(named.length === 0 ? [] : [`host names instead of addresses in the site file: ${named.join(', ')}`]),
    ...(gateway === undefined ? ['network.gateway is not in the site file'] : []),
  ];
  return missing.length > 0
    ? { verdict: 'not-checked', detail: missing.join('; ') }
    : { verdict: 'ok', detail: `all addresses match ${robotSegment}` };
}

/** Reachability of the chassis from this gateway. */
export function chassisLine(dialled: Dialled): NetworkLine {
  return reachLine('chassis', 'the chassis', dialled, {
    remedy: 'Run `gw chassis address`; check power, segment and DHCP reservation of the chassis.',
    ask: 'Allow connections from the gateway to the chassis within the robot segment (no WLAN client isolation).',
  });
}

/**
 * Whether a configured device of the house network, or a service on this gateway, accepts a TCP connection: no more than that,
 * since nothing is sent.
 */
export function deviceLine(
  { id, name, isHere }: Pick<AgreedDevice, 'id' | 'name' | 'isHere'>,
  dialled: Dialled,
): NetworkLine {
  if (isHere) {
    const help = { remedy: `Start the service for it on this gateway: nothing listens on TCP ${dialled.port}.` };
    return reachLine(id, `${name}, on this gateway`, dialled, help);
  }
  return reachLine(id, name, dialled, {
    remedy: 'Compare address and port in the site file with the device.',
    ask: `Allow connections from the gateway to ${dialled.host}, TCP ${dialled.port}, the address agreed for ${name}.`,
  });
}

/** Nothing was sent to the device, so neither it nor a firewall in front of it is to blame. */
function nameHelp(host: string): Required<Pick<Outcome, 'remedy' | 'ask'>> {
  return {
    remedy:
      'Write the fixed address into the site file, or check the name server of the gateway (`resolvectl status`).',
    ask: `Let the name server of the gateway answer for ${host}.`,
  };
}

function reachLine(
  id: string,
  name: string,
  { host, port, failure, tookMs }: Dialled,
  help: Pick<Outcome, 'remedy' | 'ask'>,
): NetworkLine {
  const outcome: Outcome =
    failure === null
      ? { verdict: 'ok', detail: `connected in ${tookMs} ms` }
      : {
          verdict: 'wrong',
          detail: `not connected: ${dialFailureText[failure]} (${tookMs} ms)`,
          ...(failure === 'unknown-name' || failure === 'no-name-server' ? nameHelp(host) : help),
        };
  return segmentLine(id, `The gateway reaches ${name}`, { tried: formatEndpoint({ host, port }), ...outcome });
}
