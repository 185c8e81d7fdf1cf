import { type DialFailure, dialFailureText, formatEndpoint, isLoopback } from '../../../net/index.ts';
import { isInRange } from '../../../net/probe/index.ts';
import type { Site } from '../../../site/index.ts';
import type { NetworkLine } from '../check.result.ts';
import { agreedDevices } from './plans.ts';
import type { Said } from './said.ts';

/** A dial and how it came out; null: it was answered. */
export interface Dialled {
  readonly host: string;
  readonly port: number;
  readonly failure: DialFailure | null;
  readonly tookMs: number;
  /** Of this machine, that the connection left from; null where it is not known. */
  readonly localAddress: string | null;
}

/** A line about who reaches whom. */
export function segmentLine(
  id: string,
  title: string,
  said: Said & {
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
    seenFrom: said.seenFrom ?? 'gateway',
    need: said.need ?? 'needed',
    tried: said.tried ?? null,
    spec: said.spec ?? 'Network segments',
    verdict: said.verdict,
    detail: said.detail,
    remedy: said.remedy ?? null,
    ask: said.ask ?? null,
  };
}

/** Whether the addresses of the site file stand where the segments say, and this machine has the one it should. */
export function addressLines(site: Site, own: readonly string[]): NetworkLine[] {
  const { chassis, network } = site;
  const { robotSegment, gateway } = network;
  // A service on this machine itself is no device of the house.
  const devices = agreedDevices(site).filter(({ host }) => !isLoopback(host));
  const lines: NetworkLine[] = [];
  const title = 'Chassis and gateway are in the robot segment, agreed devices are not';
  if (robotSegment === undefined) {
    lines.push(
      segmentLine('addresses', title, {
        verdict: 'not-checked',
        detail: 'network.robotSegment does not stand in the site file',
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
      ...(named.length === 0 ? [] : [`the site file gives names in place of addresses: ${named.join(', ')}`]),
      ...(gateway === undefined ? ['network.gateway does not stand in the site file'] : []),
    ];
    lines.push(
      segmentLine('addresses', title, {
        verdict: wrong.length > 0 ? 'wrong' : missing.length > 0 ? 'not-checked' : 'ok',
        detail:
          wrong.length > 0
            ? wrong.join('; ')
            : missing.length > 0
              ? missing.join('; ')
              : `all as agreed for ${robotSegment}`,
        ...(wrong.length > 0 && {
          remedy: 'Compare the site file with the DHCP reservations.',
          ask: `Keep chassis, gateway and tablet in a WLAN or VLAN of their own (${robotSegment}), and everything else out of it.`,
        }),
      }),
    );
  }
  if (gateway !== undefined && isInRange(gateway, '0.0.0.0/0') !== null) {
    const has = own.includes(gateway);
    lines.push(
      segmentLine('gateway-address', `This gateway has the address ${gateway}`, {
        verdict: has ? 'ok' : 'wrong',
        detail: has ? 'this machine has it' : `this machine has ${own.join(', ') || 'no address'}`,
        spec: 'Addressing rules',
        ...(!has && {
          remedy: 'Run this on the gateway; where it does, its DHCP reservation does not hold.',
          ask: `Reserve ${gateway} for the gateway in DHCP.`,
        }),
      }),
    );
  }
  return lines;
}

/** The chassis as this gateway reaches it. */
export function chassisLine({ host, port, failure, tookMs }: Dialled): NetworkLine {
  return segmentLine('chassis', 'The gateway reaches the chassis', {
    tried: formatEndpoint({ host, port }),
    ...(failure === null
      ? { verdict: 'ok', detail: `connected in ${tookMs} ms` }
      : {
          verdict: 'wrong',
          detail: `not connected: ${dialFailureText[failure]} (${tookMs} ms)`,
          remedy: 'Run gw chassis address; check power, segment and the DHCP reservation of the chassis.',
          ask: 'Let the gateway reach the chassis within the robot segment (no isolation of WLAN clients).',
        }),
  });
}

/** A device in the house network that the site file names, as this gateway reaches it. */
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
          ask: `Let the gateway open connections to ${host}, TCP ${port}, the address agreed for ${device.name}.`,
        }),
  });
}
