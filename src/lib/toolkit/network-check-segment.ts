import { type DialFailure, dialFailureText, isLoopback } from '../net/index.ts';
import { isInRange } from '../net/probe/index.ts';
import type { Site } from '../site/index.ts';
import type { NetworkLine } from './network-check.result.ts';
import { formatEndpoint } from './network-check-lines.ts';
import { READ_ONLY_PORT, SSH_PORT } from './network-check-sockets.ts';

/** Where a second host stands: in the network of the customer, or beside the robot. */
export type FromSegment = 'site' | 'robot';

/** A dial and how it came out; null: it was answered. */
export interface Dialled {
  readonly host: string;
  readonly port: number;
  readonly failure: DialFailure | null;
  readonly tookMs: number;
}

type Said = Pick<NetworkLine, 'verdict' | 'detail'> & { readonly remedy?: string; readonly ask?: string };

function segmentLine(
  id: string,
  title: string,
  said: Said & { readonly need?: NetworkLine['need']; readonly tried?: string; readonly spec?: string },
): NetworkLine {
  return {
    id: `segment.${id}`,
    title,
    section: 'segment',
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
export function addressLines({ chassis, network }: Site, own: readonly string[]): NetworkLine[] {
  const { robotSegment, gateway, devices } = network;
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
    const named = [chassis.host, ...(gateway === undefined ? [] : [gateway])].some(
      (host) => isInRange(host, robotSegment) === null,
    );
    lines.push(
      segmentLine('addresses', title, {
        verdict: wrong.length > 0 ? 'wrong' : named ? 'not-checked' : 'ok',
        detail:
          wrong.length > 0
            ? wrong.join('; ')
            : named
              ? 'the site file gives names in place of addresses'
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
    tried: formatEndpoint(host, port),
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
    tried: formatEndpoint(host, port),
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

/** What is dialled from a second host, and whether an answer from there is right. */
export interface OutsideDial {
  readonly id: string;
  readonly title: string;
  readonly host: string;
  readonly port: number;
  /** 'may': an answer is fine, none is too. 'unproven': an answer is fine from gateway and tablet alone. */
  readonly answer: 'must-not' | 'may' | 'unproven';
}

/** From the segment of a second host: what of this robot to knock at. Only addresses that the site file names. */
export function outsideDials(
  { chassis, operator, network }: Pick<Site, 'chassis' | 'operator' | 'network'>,
  open: readonly { readonly protocol: string; readonly port: number; readonly reach: string }[],
  segment: FromSegment,
): OutsideDial[] {
  const { gateway, alsoListening } = network;
  const dials: OutsideDial[] = [];
  const inRobot = segment === 'robot';
  if (!isLoopback(chassis.host)) {
    const answer = inRobot ? 'unproven' : 'must-not';
    dials.push({ id: 'chassis', title: 'the chassis', host: chassis.host, port: chassis.port, answer });
  }
  if (gateway === undefined) return dials;
  const ports = new Map<number, OutsideDial['answer']>([
    [SSH_PORT, inRobot ? 'may' : 'must-not'],
    [operator.port, inRobot ? 'may' : 'must-not'],
    [READ_ONLY_PORT, 'must-not'],
    [8090, 'must-not'],
  ]);
  for (const { protocol, port, reach } of open) {
    if (protocol !== 'tcp' || reach !== 'other-machines' || ports.has(port)) continue;
    const isAgreed = alsoListening.some((one) => one.protocol === 'tcp' && one.port === port);
    ports.set(port, isAgreed && inRobot ? 'may' : 'must-not');
  }
  for (const [port, answer] of ports) {
    if (gateway === chassis.host && port === chassis.port && dials.length > 0) continue;
    dials.push({ id: `gateway-${port}`, title: `TCP ${port} of the gateway`, host: gateway, port, answer });
  }
  return dials;
}

/** How one dial from a second host came out, as a line. */
export function outsideLine(from: string, index: number, plan: OutsideDial, failure: DialFailure | null): NetworkLine {
  const { id, title, host, port, answer } = plan;
  const line = (said: Said) =>
    segmentLine(
      `from-${index}.${id}`,
      `${from}: ${title} ${answer === 'must-not' ? 'does not answer' : 'is as it may be'}`,
      {
        tried: formatEndpoint(host, port),
        ...said,
      },
    );
  if (failure === null) {
    switch (answer) {
      case 'may':
        return line({ verdict: 'ok', detail: 'it answers, as it may within the robot segment' });
      case 'unproven':
        return line({
          verdict: 'not-checked',
          detail:
            'it answers; that is right for the gateway and the tablet alone, and which host this is cannot be told from here',
          remedy: 'When commissioning is over, no other machine may be left in the robot segment.',
        });
      case 'must-not':
        return line({
          verdict: 'wrong',
          detail:
            id === 'chassis'
              ? 'it answers: whoever is there can drive the robot, which asks nobody who they are'
              : 'it answers',
          remedy: 'Do not hand the robot over before this is closed.',
          ask: `Let no connection pass from other networks to ${host}, TCP ${port}; nothing is to be opened towards the robot segment.`,
        });
    }
  }
  // Nothing was learnt of the port when the far side itself could not look.
  if (failure === 'unknown-name' || failure === 'other' || failure === 'cut') {
    return line({ verdict: 'not-checked', detail: `it could not be tried: ${dialFailureText[failure]}` });
  }
  const how = {
    'no-answer': 'nothing answered: dropped on the way, or nobody is there',
    'no-route': 'there is no route to it',
    refused: 'refused: the address answers there, and this port does not',
  } as const;
  return line({ verdict: 'ok', detail: how[failure] });
}

/** Said in place of a second host's lines when none was named, or when it could not be used. */
export function noOutsideLine(why: {
  readonly from?: string;
  readonly index?: number;
  readonly detail: string;
}): NetworkLine {
  return segmentLine(
    why.index === undefined ? 'from' : `from-${why.index}`,
    `${why.from ?? 'From a second host'}: nothing answers that must not`,
    {
      verdict: 'not-checked',
      detail: why.detail,
      remedy:
        'Name a host of the customer network with --from user@host, and one of the robot segment in a second run.',
    },
  );
}
