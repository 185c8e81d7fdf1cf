import { type DialFailure, dialFailureText, formatEndpoint, isLoopback } from '../../../net/index.ts';
import { isInRange } from '../../../net/probe/index.ts';
import type { Site } from '../../../site/index.ts';
import type { NetworkLine } from '../network.result.ts';
import { agreedDevices, type Outcome } from './plans.ts';

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
export function segmentLine(
  id: string,
  title: string,
  outcome: Outcome & {
    readonly need?: NetworkLine['need'];
    readonly seenFrom?: NetworkLine['seenFrom'];
    readonly tried?: string;
    readonly spec?: string;
  },
): NetworkLine {
  return {
    id: `segment.${id}`,
    title,
    section: 'segment',
    seenFrom: outcome.seenFrom ?? 'gateway',
    need: outcome.need ?? 'needed',
    tried: outcome.tried ?? null,
    spec: outcome.spec ?? 'Network segments',
    verdict: outcome.verdict,
    detail: outcome.detail,
    remedy: outcome.remedy ?? null,
    ask: outcome.ask ?? null,
  };
}

/** Whether the configured addresses are in the right segment, and this machine has the address of the gateway. */
export function addressLines(site: Site, own: readonly string[]): NetworkLine[] {
  const { chassis, network } = site;
  const { robotSegment, gateway } = network;
  // A service on this machine is not a device of the house network.
  const devices = agreedDevices(site).filter(({ host }) => !isLoopback(host));
  const lines: NetworkLine[] = [];
  const title = 'Chassis and gateway are in the robot segment, agreed devices are not';
  if (robotSegment === undefined) {
    lines.push(
      segmentLine('addresses', title, {
        verdict: 'not-checked',
        detail: 'network.robotSegment is not in the site file',
      }),
    );
  } else {
    const outside = [
      { what: 'the chassis', host: chassis.host },
      ...(gateway === undefined ? [] : [{ what: 'the gateway', host: gateway }]),
    ].filter(({ host }) => isInRange(host, robotSegment) === false);
    const inside = devices.filter(({ host }) => isInRange(host, robotSegment) === true);
    const wrong = [
      ...outside.map(({ what, host }) => `${what} (${host}) is not in ${robotSegment}`),
      ...inside.map(({ name, host }) => `${name} (${host}) is in ${robotSegment}`),
    ];
    const hosts = [chassis.host, ...(gateway === undefined ? [] : [gateway]), ...devices.map(({ host }) => host)];
    const named = hosts.filter((host) => isInRange(host, robotSegment) === null);
    const missing = [
      ...(named.length === 0 ? [] : [`host names instead of addresses in the site file: ${named.join(', ')}`]),
      ...(gateway === undefined ? ['network.gateway is not in the site file'] : []),
    ];
    lines.push(
      segmentLine('addresses', title, {
        verdict: wrong.length > 0 ? 'wrong' : missing.length > 0 ? 'not-checked' : 'ok',
        detail:
          wrong.length > 0
            ? wrong.join('; ')
            : missing.length > 0
              ? missing.join('; ')
              : `all addresses match ${robotSegment}`,
        ...(wrong.length > 0 && {
          remedy: 'Compare the site file with the DHCP reservations.',
          ask: `Use a separate WLAN or VLAN (${robotSegment}) for chassis, gateway and tablet only.`,
        }),
      }),
    );
  }
  if (gateway !== undefined && isInRange(gateway, '0.0.0.0/0') !== null) {
    const has = own.includes(gateway);
    lines.push(
      segmentLine('gateway-address', `This gateway has the address ${gateway}`, {
        verdict: has ? 'ok' : 'wrong',
        detail: has ? 'assigned to this machine' : `this machine has ${own.join(', ') || 'no address'}`,
        spec: 'Addressing rules',
        ...(!has && {
          remedy: 'Run this on the gateway. If it already runs there, the DHCP reservation is missing or wrong.',
          ask: `Reserve ${gateway} for the gateway in DHCP.`,
        }),
      }),
    );
  }
  return lines;
}

/** Reachability of the chassis from this gateway. */
export function chassisLine({ host, port, failure, tookMs }: Dialled): NetworkLine {
  return segmentLine('chassis', 'The gateway reaches the chassis', {
    tried: formatEndpoint({ host, port }),
    ...(failure === null
      ? { verdict: 'ok', detail: `connected in ${tookMs} ms` }
      : {
          verdict: 'wrong',
          detail: `not connected: ${dialFailureText[failure]} (${tookMs} ms)`,
          remedy: 'Run `gw chassis address`; check power, segment and DHCP reservation of the chassis.',
          ask: 'Allow connections from the gateway to the chassis within the robot segment (no WLAN client isolation).',
        }),
  });
}

/** Reachability of a configured device of the house network from this gateway. */
export function deviceLine(
  device: { readonly id: string; readonly name: string },
  { host, port, failure, tookMs }: Dialled,
): NetworkLine {
  return segmentLine(device.id, `The gateway reaches ${device.name}`, {
    tried: formatEndpoint({ host, port }),
    ...(failure === null
      ? { verdict: 'ok', detail: `connected in ${tookMs} ms` }
      : {
          verdict: 'wrong',
          detail: `not connected: ${dialFailureText[failure]} (${tookMs} ms)`,
          remedy: 'Compare address and port in the site file with the device.',
          ask: `Allow connections from the gateway to ${host}, TCP ${port}, the address agreed for ${device.name}.`,
        }),
  });
}
