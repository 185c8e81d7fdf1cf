import { connectionFailureOf, createChassisClient, failureDetail } from '../../chassis/index.ts';
import { asGwError, type GwError, type Tried } from '../../error/index.ts';
import { firstOf } from '../../lifecycle/index.ts';
import {
  afterOverLink,
  type Dialer,
  isLoopback,
  type Neighbour,
  type Resolution,
  reachEndpoint,
  readNeighbourTable,
  resolveHost,
  slowLinkRemedy,
  triedOver,
  viaOf,
} from '../../net/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { chassisAccess } from './access.ts';
import type { ChassisAddress } from './chassis.result.ts';

export interface ChassisAddressOptions {
  /** Compare the neighbour table of this machine with the hardware address of the site file. */
  readonly mac?: boolean;
}

/** The whole answer comes within two seconds, whatever the network does (specification, 'Addressing rules', 6). */
const WHOLE_MS = 1_600;
const ANSWER_MS = 1_500;

/**
 * Whether the chassis answers at the address of the site file, and if not, the kind of failure. A missing answer is a
 * result and not an error.
 */
export async function findChassis(
  toolkit: Toolkit,
  options: ChassisAddressOptions,
  context: CheckContext,
): Promise<ChassisAddress> {
  const { endpoint, dialer, clock, expectedSerial, secret } = await chassisAccess(toolkit);
  const began = clock.monotonicMs();
  const direct = viaOf(dialer) === undefined;
  await using client = createChassisClient({ endpoint, dialer, clock, expectedSerial, secret, timeoutMs: ANSWER_MS });
  const ending = new AbortController();
  using _whole = afterOverLink(dialer, clock, WHOLE_MS, () => ending.abort());
  const signal = firstOf(context.signal, ending.signal);
  const [name, tcp, answer] = await Promise.all([
    direct ? resolveHost(endpoint.host, { timeoutMs: WHOLE_MS, clock }) : null,
    reachEndpoint(dialer, endpoint, { timeoutMs: WHOLE_MS, signal, clock }).catch(() => null),
    client.identity(signal).then(
      (identity) => ({ identity, error: null }),
      (error: unknown) => ({ identity: null, error: asGwError(error) }),
    ),
  ]);
  context.signal.throwIfAborted();
  const forMs = Math.round(clock.monotonicMs() - began);
  const found = answer.identity?.serial ?? stringOf(answer.error?.details?.foundSerial);
  const tcpVerdict = tcp === null ? 'not-checked' : tcp.reached ? 'ok' : 'wrong';
  return {
    ...judge(
      answer.error,
      {
        address: endpoint.host,
        port: endpoint.port,
        ...triedOver(dialer),
        action: 'GET /device/info',
        forMs,
      },
      tcpVerdict === 'ok',
    ),
    way: dialer.way,
    link: linkOf(dialer),
    name: nameOf(name),
    tcp: { verdict: tcpVerdict, tookMs: tcp?.tookMs ?? null },
    serial: {
      verdict: found === null ? 'not-checked' : found === expectedSerial ? 'ok' : 'wrong',
      expected: expectedSerial,
      found,
    },
    software: answer.identity?.software ?? null,
    mac: await macOf(toolkit, options.mac === true, name, direct),
    tookMs: Math.round(clock.monotonicMs() - began),
  };
}

/** Rounded, for results; null: direct, or not measured. */
export function linkOf({ roundTrips }: Dialer): ChassisAddress['link'] {
  const found = roundTrips?.() ?? null;
  if (found === null) return null;
  const { medianMs, longestMs, isSlow } = found;
  return { medianMs: Math.round(medianMs), longestMs: Math.round(longestMs), isSlow };
}

const checkPower = 'Check power and network cable of the chassis, and the DHCP reservation of its address.';
const portIsOpen =
  'The port is open, but its HTTP interface is silent: wait a minute, then switch the chassis off and on.';

/** Next step after a failed connection; the remedy of CHASSIS_NOT_CONNECTED is to run this very check. */
function remedyOf(failure: NonNullable<ChassisAddress['failure']>, tried: Tried, hasOpenPort: boolean): string {
  switch (failure) {
    case 'refused':
      return 'The host at this address, or a firewall, refuses the port: compare its MAC address with `gw chassis address --check-mac`.';
    case 'no-route':
      return 'Connect this computer, or the host of --via, to the robot segment; the gateway is in it (--via USER@GATEWAY).';
    case 'unknown-name':
      return 'Correct chassis.host in the site file, or use the IP address of the DHCP reservation.';
    case 'no-name-server':
      return 'Check that the name server of this computer is reachable (`resolvectl status`), or use the IP address of the DHCP reservation as chassis.host.';
    case 'closed':
      return 'Run the check again: its service may be restarting. If it is closed again, what listens on this port is no chassis, or it has too many connections.';
    case 'cut':
      return 'Run the check again. If the connection is cut again, check the network cable and firewalls in between.';
    default:
      return slowLinkRemedy(tried) ?? (hasOpenPort ? portIsOpen : checkPower);
  }
}

function judge(
  error: GwError | null,
  tried: Tried,
  hasOpenPort: boolean,
): Pick<ChassisAddress, 'state' | 'failure' | 'detail' | 'tried' | 'remedy'> {
  if (error === null) {
    return { state: 'connected', failure: null, detail: 'the chassis of the site file answers', tried, remedy: null };
  }
  const from = { tried: error.tried ?? tried, remedy: error.remedy };
  switch (error.code) {
    case 'CHASSIS_BOOTING':
      return { state: 'starting', failure: null, detail: error.message, ...from };
    case 'CHASSIS_WRONG_DEVICE':
      return { state: 'wrong-device', failure: 'wrong-device', detail: error.message, ...from };
    case 'INTERRUPTED':
      // The deadline of this check: an interruption by the caller is rethrown earlier.
      return {
        state: 'not-connected',
        failure: 'no-answer',
        detail: 'no answer in time',
        ...from,
        remedy: remedyOf('no-answer', from.tried, hasOpenPort),
      };
    case 'CHASSIS_NOT_CONNECTED':
    case 'CHASSIS_BAD_ANSWER':
    case 'CHASSIS_REFUSED': {
      const kind = connectionFailureOf(error);
      // A single request has no heartbeat.
      const failure = kind === 'silent' ? 'no-answer' : kind;
      const result = { state: 'not-connected', failure, detail: failureDetail(error), ...from } as const;
      return error.code === 'CHASSIS_NOT_CONNECTED'
        ? { ...result, remedy: remedyOf(failure, from.tried, hasOpenPort) }
        : result;
    }
    default:
      throw error;
  }
}

function nameOf(name: Resolution | null): ChassisAddress['name'] {
  if (name === null) return { kind: 'not-checked', addresses: [], tookMs: null };
  switch (name.kind) {
    case 'literal':
      return { kind: 'address', addresses: [...name.addresses], tookMs: null };
    case 'resolved':
      return { kind: 'resolved', addresses: [...name.addresses], tookMs: name.tookMs };
    case 'unknown':
    case 'no-answer':
      return { kind: name.kind, addresses: [], tookMs: name.tookMs };
  }
}

async function macOf(
  toolkit: Toolkit,
  asked: boolean,
  name: Resolution | null,
  direct: boolean,
): Promise<ChassisAddress['mac']> {
  const expected = toolkit.site.chassis.mac?.toLowerCase() ?? null;
  const notChecked = (detail: string) => ({ verdict: 'not-checked' as const, expected, found: null, detail });
  if (!asked) return { verdict: 'not-applicable', expected, found: null, detail: 'not requested (--check-mac)' };
  if (!direct) return notChecked('connected through another host, whose neighbour table is not available');
  const addresses = name?.kind === 'literal' || name?.kind === 'resolved' ? name.addresses : [];
  let table: Neighbour[];
  try {
    table = await readNeighbourTable();
  } catch (error) {
    return notChecked(asGwError(error).message);
  }
  return compareMac(expected, addresses, table);
}

/** The hardware address that answers for one of these addresses, against the expected one. */
export function compareMac(
  expected: string | null,
  addresses: readonly string[],
  table: readonly Neighbour[],
): ChassisAddress['mac'] {
  const notChecked = (detail: string, found: string | null = null) => ({
    verdict: 'not-checked' as const,
    expected,
    found,
    detail,
  });
  if (addresses.length === 0) return notChecked('the address is unknown');
  if (addresses.every(isLoopback)) return notChecked('a loopback address has no hardware address');
  const known = table.filter((neighbour) => addresses.includes(neighbour.address) && neighbour.mac !== null);
  const found = known[0]?.mac ?? null;
  if (found === null) {
    return notChecked('no entry in the neighbour table: a router is in between, or no answer to ARP');
  }
  if (expected === null) return notChecked('no chassis.mac in the site file', found);
  return known.every((neighbour) => neighbour.mac === expected)
    ? { verdict: 'ok', expected, found, detail: 'the hardware address matches the DHCP reservation' }
    : {
        verdict: 'wrong',
        expected,
        found,
        detail: 'the hardware address differs from the DHCP reservation',
      };
}

function stringOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
