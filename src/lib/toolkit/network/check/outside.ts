import { GwError } from '../../../error/index.ts';
import {
  type Dialer,
  type DialFailure,
  dialFailureText,
  type Endpoint,
  formatEndpoint,
  isLoopback,
  reachEndpoint,
} from '../../../net/index.ts';
import { READ_ONLY_PORT, type Site } from '../../../site/index.ts';
import type { Toolkit } from '../../toolkit.ts';
import type { NetworkLine, NetworkSocket } from '../check.result.ts';
import { failedNear, unconfiguredLines } from './configured-only.ts';
import type { Said } from './said.ts';
import { segmentLine } from './segment.ts';
import { SSH_PORT } from './sockets.ts';

/** Another machine from which the robot is knocked at. */
export interface SecondHost {
  /** As the person named it: `technician@198.51.100.20`. */
  readonly name: string;
  /**
   * Runs work that dials from there, and lets the machine go afterwards. Throws a GwError when it cannot be used, also
   * when the way to it was lost meanwhile: what did not answer over a dead line was not knocked at.
   */
  use<T>(
    signal: AbortSignal,
    /** `near`: what this machine itself connected to for that. */
    work: (dialer: Dialer, signal: AbortSignal, near: Endpoint) => Promise<T>,
  ): Promise<T>;
}

/** Where a second host stands: in the network of the customer, or beside the robot. */
export type FromSegment = 'site' | 'robot';

/** How long an answer to one knock is waited for. */
export const REACH_MS = 4_000;

/** Whatever the site file says of the chassis, nobody may pass it on here. @source specification, 'Interfaces' */
const CHASSIS_PORT = 8090;

interface KnockOptions {
  readonly toolkit: Toolkit;
  readonly fromSegment: FromSegment;
  /** What listens on the gateway; null: the kernel did not tell. */
  readonly sockets: Promise<NetworkSocket[] | null>;
  readonly signal: AbortSignal;
}

/** Knocks at the robot from a second host. What cannot be tried from there is not checked, and never closed. */
export async function knockFrom(
  host: SecondHost,
  index: number,
  { toolkit, fromSegment, sockets, signal: whole }: KnockOptions,
): Promise<NetworkLine[]> {
  const { site, clock } = toolkit;
  const from = host.name;
  /** Whoever answered did so, also when the way to the host is lost a moment later. */
  const answered: NetworkLine[] = [];
  const knock = async (dialer: Dialer, plan: OutsideDial, signal: AbortSignal): Promise<Knocked> => {
    try {
      const reach = await reachEndpoint(dialer, plan, { timeoutMs: REACH_MS, signal, clock });
      if (reach.reached) answered.push(outsideLine(from, index, plan, null));
      return reach.reached ? null : reach.failure;
    } catch (error) {
      if (error instanceof GwError && error.code === 'SSH_CHANNEL_REFUSED') return error;
      throw error;
    }
  };
  const knockAtAll = async (dialer: Dialer, signal: AbortSignal): Promise<NetworkLine[]> => {
    const dials = outsideDials(site, (await sockets) ?? [], fromSegment);
    if (dials.length === 0) {
      const detail = 'the site file names no address of this robot that others could reach; network.gateway is missing';
      return [noOutsideLine({ from, index, detail })];
    }
    const knocks = await Promise.all(dials.map(async (plan) => ({ plan, knocked: await knock(dialer, plan, signal) })));
    // A machine whose SSH lets nothing through at all is told once.
    const refusals = knocks.flatMap(({ knocked }) => (knocked instanceof GwError ? [knocked] : []));
    if (refusals.length === knocks.length && refusals[0] !== undefined) throw refusals[0];
    const lines = knocks.map(({ plan, knocked }) => outsideLine(from, index, plan, knocked));
    if (site.network.gateway !== undefined) return lines;
    const detail = 'the gateway was not knocked at: network.gateway does not stand in the site file';
    return [...lines, noOutsideLine({ from, index, detail })];
  };
  /** What this machine reached in the network of the customer on the way there. */
  let reached: readonly NetworkLine[] = [];
  const towards = (near: Endpoint, how: 'reached' | 'dropped') =>
    fromSegment === 'site' ? unconfiguredLines(site, index, near, how) : [];
  try {
    const lines = await host.use(whole, (dialer, signal, near) => {
      reached = towards(near, 'reached');
      return knockAtAll(dialer, signal);
    });
    return [...lines, ...reached];
  } catch (error) {
    whole.throwIfAborted();
    if (!(error instanceof GwError)) throw error;
    const failed = failedNear(error);
    const unused = noOutsideLine({ from, index, detail: `it could not be used: ${error.message}` });
    return [...answered, unused, ...(failed === null ? reached : towards(failed.near, failed.how))];
  }
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
    [CHASSIS_PORT, 'must-not'],
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

/** How one dial from a second host came out; null: it was answered, an error: SSH there did not let it through. */
type Knocked = DialFailure | GwError | null;

function outsideLine(from: string, index: number, plan: OutsideDial, knocked: Knocked): NetworkLine {
  const { id, title, host, port, answer } = plan;
  const line = (said: Said) =>
    segmentLine(
      `from-${index}.${id}`,
      `${from}: ${title} ${answer === 'must-not' ? 'does not answer' : 'is as it may be'}`,
      {
        seenFrom: 'second-host',
        tried: formatEndpoint(plan),
        ...said,
      },
    );
  if (knocked === null) {
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
  if (knocked instanceof GwError)
    return line({ verdict: 'not-checked', detail: `it could not be tried: ${knocked.message}` });
  if (knocked === 'unknown-name' || knocked === 'other' || knocked === 'cut') {
    return line({ verdict: 'not-checked', detail: `it could not be tried: ${dialFailureText[knocked]}` });
  }
  const how = {
    'no-answer': 'nothing answered: dropped on the way, or nobody is there',
    'no-route': 'there is no route to it',
    refused: 'refused: the address answers there, and this port does not',
  } as const;
  return line({ verdict: 'ok', detail: how[knocked] });
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
      seenFrom: 'second-host',
      verdict: 'not-checked',
      detail: why.detail,
      remedy:
        'Name a host of the customer network with --from user@host, and one of the robot segment in a second run.',
    },
  );
}
