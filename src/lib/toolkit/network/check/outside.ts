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
import type { NetworkLine, NetworkSocket } from '../network.result.ts';
import { failedNear, unconfiguredLines } from './configured-only.ts';
import type { Outcome } from './plans.ts';
import { segmentLine } from './segment.ts';
import { SSH_PORT } from './sockets.ts';

/** Another machine from which the robot is probed. */
export interface SecondHost {
  /** As given on the command line: `technician@198.51.100.20`. */
  readonly name: string;
  /**
   * Runs work that dials from there, and disconnects afterwards. Throws a GwError when the host cannot be used, also
   * when the connection to it was lost meanwhile, because a missing answer over a lost connection proves nothing.
   */
  use<T>(
    signal: AbortSignal,
    /** `near`: the endpoint that this machine itself connected to. */
    work: (dialer: Dialer, signal: AbortSignal, near: Endpoint) => Promise<T>,
  ): Promise<T>;
}

/** The segment of a second host: the customer's network, or the robot segment. */
export type FromSegment = 'site' | 'robot';

/** Timeout of one connection attempt. */
export const DIAL_TIMEOUT_MS = 4_000;

/** Whatever port the site file has for the chassis, it must not be forwarded here. @source specification, 'Interfaces' */
const CHASSIS_PORT = 8090;

interface OutsideProbeOptions {
  readonly toolkit: Toolkit;
  readonly fromSegment: FromSegment;
  /** Open sockets of the gateway; null: the kernel tables could not be read. */
  readonly sockets: Promise<NetworkSocket[] | null>;
  readonly signal: AbortSignal;
}

/** Probes the robot from a second host. What cannot be tried from there is 'not-checked', never 'ok'. */
export async function probeFrom(
  host: SecondHost,
  index: number,
  { toolkit, fromSegment, sockets, signal: whole }: OutsideProbeOptions,
): Promise<NetworkLine[]> {
  const { site, clock } = toolkit;
  const from = host.name;
  /** Answers stay valid even if the connection to the host is lost later. */
  const answered: NetworkLine[] = [];
  const probe = async (dialer: Dialer, plan: OutsideDial, signal: AbortSignal): Promise<DialOutcome> => {
    try {
      const reach = await reachEndpoint(dialer, plan, { timeoutMs: DIAL_TIMEOUT_MS, signal, clock });
      if (reach.reached) answered.push(outsideLine(from, index, plan, null));
      return reach.reached ? null : reach.failure;
    } catch (error) {
      if (error instanceof GwError && error.code === 'SSH_CHANNEL_REFUSED') return error;
      throw error;
    }
  };
  const probeAll = async (dialer: Dialer, signal: AbortSignal): Promise<NetworkLine[]> => {
    const dials = outsideDials(site, (await sockets) ?? [], fromSegment);
    if (dials.length === 0) {
      const detail = 'network.gateway is not in the site file, so no address of this robot is known';
      return [outsideNotCheckedLine(detail, from, index)];
    }
    const probes = await Promise.all(dials.map(async (plan) => ({ plan, outcome: await probe(dialer, plan, signal) })));
    // A host whose SSH server refuses all forwarding is reported once.
    const refusals = probes.flatMap(({ outcome }) => (outcome instanceof GwError ? [outcome] : []));
    if (refusals.length === probes.length && refusals[0] !== undefined) throw refusals[0];
    const lines = probes.map(({ plan, outcome }) => outsideLine(from, index, plan, outcome));
    if (site.network.gateway !== undefined) return lines;
    const detail = 'the gateway was not probed: network.gateway is not in the site file';
    return [...lines, outsideNotCheckedLine(detail, from, index)];
  };
  /** Lines about the endpoint that this machine itself connected to. */
  let reached: readonly NetworkLine[] = [];
  const towards = (near: Endpoint, how: 'reached' | 'dropped') =>
    fromSegment === 'site' ? unconfiguredLines(site, index, near, how) : [];
  try {
    const lines = await host.use(whole, (dialer, signal, near) => {
      reached = towards(near, 'reached');
      return probeAll(dialer, signal);
    });
    return [...lines, ...reached];
  } catch (error) {
    whole.throwIfAborted();
    if (!(error instanceof GwError)) throw error;
    const failed = failedNear(error);
    const unused = outsideNotCheckedLine(`host not usable: ${error.message}`, from, index);
    return [...answered, unused, ...(failed === null ? reached : towards(failed.near, failed.how))];
  }
}

/** An endpoint dialled from a second host, and whether an answer is allowed. */
export interface OutsideDial {
  readonly id: string;
  readonly title: string;
  readonly host: string;
  readonly port: number;
  /** 'may': both results are fine. 'unproven': an answer is allowed for gateway and tablet only. */
  readonly answer: 'must-not' | 'may' | 'unproven';
}

/** The endpoints of this robot to dial from a segment. Only addresses of the site file. */
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

/** The outcome of one dial; null: TCP connected; an error: the SSH server refused the forwarding. */
type DialOutcome = DialFailure | GwError | null;

function outsideLine(from: string, index: number, plan: OutsideDial, outcome: DialOutcome): NetworkLine {
  const claim = plan.answer === 'must-not' ? 'is not reachable' : 'is reachable as allowed';
  const judged = outcome === null ? connected[plan.answer](plan) : judgeFailure(outcome);
  const line = { seenFrom: 'second-host', tried: formatEndpoint(plan), ...judged } as const;
  return segmentLine(`from-${index}.${plan.id}`, `${from}: ${plan.title} ${claim}`, line);
}

const connected: Record<OutsideDial['answer'], (plan: OutsideDial) => Outcome> = {
  may: () => ({ verdict: 'ok', detail: 'TCP connected; allowed within the robot segment' }),
  unproven: () => ({
    verdict: 'not-checked',
    detail: 'TCP connected; allowed for gateway and tablet only, and this check does not know which host it is',
    remedy: 'After commissioning, remove every other machine from the robot segment.',
  }),
  'must-not': ({ id, host, port }) => ({
    verdict: 'wrong',
    detail:
      id === 'chassis'
        ? 'TCP connected: any host there can drive the robot, because the chassis has no authentication'
        : 'TCP connected',
    remedy: 'Do not hand the robot over before this is blocked.',
    ask: `Block connections from other networks to ${host}, TCP ${port}; no inbound connection into the robot segment is needed.`,
  }),
};

const blocked: Partial<Record<DialFailure, string>> = {
  'no-answer': 'no answer: packets dropped, or no host at this address',
  'no-route': 'no route to host',
  refused: 'connection refused: the host is reachable, the port is closed',
};

/** The state of the port is unknown when the remote host could not dial. */
function judgeFailure(outcome: DialFailure | GwError): Outcome {
  const detail = outcome instanceof GwError ? undefined : blocked[outcome];
  if (detail !== undefined) return { verdict: 'ok', detail };
  const why = outcome instanceof GwError ? outcome.message : dialFailureText[outcome];
  return { verdict: 'not-checked', detail: `could not be tried: ${why}` };
}

/** The line for a second host that was not given, or could not be used. */
export function outsideNotCheckedLine(detail: string, from = 'From a second host', index?: number): NetworkLine {
  return segmentLine(index === undefined ? 'from' : `from-${index}`, `${from}: no forbidden port is reachable`, {
    seenFrom: 'second-host',
    verdict: 'not-checked',
    detail,
    remedy:
      'Give a host of the customer network with --probe-from USER@HOST, and one of the robot segment in a second run with --probe-segment robot.',
  });
}
