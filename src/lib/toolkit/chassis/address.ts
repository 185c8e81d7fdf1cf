import { connectionFailureOf, createChassisClient, failureDetail } from '../../chassis/index.ts';
import { asGwError, type GwError, type Tried } from '../../error/index.ts';
import { firstOf } from '../../lifecycle/index.ts';
import {
  isLoopback,
  type Neighbour,
  type Resolution,
  reachEndpoint,
  readNeighbourTable,
  resolveHost,
  viaOf,
} from '../../net/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { chassisAccess } from './access.ts';
import type { ChassisAddress } from './address.result.ts';

export interface ChassisAddressOptions {
  /** Compare the neighbour table of this machine with the hardware address of the site file. */
  readonly mac?: boolean;
}

/** The whole answer comes within two seconds, whatever the network does (specification, 'Addressing rules', 6). */
const WHOLE_MS = 1_600;
const ANSWER_MS = 1_500;

/**
 * Whether the chassis answers where the site file says, and if not, what kind of failure it is. That it does not
 * answer is the result and no error.
 */
export async function findChassis(
  toolkit: Toolkit,
  options: ChassisAddressOptions,
  context: CheckContext,
): Promise<ChassisAddress> {
  const { endpoint, dialer, clock, expectedSerial, secret } = await chassisAccess(toolkit);
  const began = clock.monotonicMs();
  const via = viaOf(dialer);
  const direct = via === undefined;
  await using client = createChassisClient({ endpoint, dialer, clock, expectedSerial, secret, timeoutMs: ANSWER_MS });
  const ending = new AbortController();
  using _whole = clock.after(WHOLE_MS, () => ending.abort());
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
    ...judge(answer.error, {
      address: endpoint.host,
      port: endpoint.port,
      ...(via !== undefined && { via }),
      action: 'GET /device/info',
      forMs,
    }),
    way: dialer.way,
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

function judge(
  error: GwError | null,
  tried: Tried,
): Pick<ChassisAddress, 'state' | 'failure' | 'detail' | 'tried' | 'remedy'> {
  if (error === null) {
    return { state: 'connected', failure: null, detail: 'the chassis of the site file answers', tried, remedy: null };
  }
  const { remedy } = error;
  const from = { tried: error.tried ?? tried, remedy };
  switch (error.code) {
    case 'CHASSIS_BOOTING':
      return { state: 'starting', failure: null, detail: error.message, ...from };
    case 'CHASSIS_WRONG_DEVICE':
      return { state: 'wrong-device', failure: 'wrong-device', detail: error.message, ...from };
    case 'INTERRUPTED':
      // Our own deadline: the caller's interruption was thrown on before.
      return { state: 'not-connected', failure: 'no-answer', detail: 'nothing answered in time', ...from };
    case 'CHASSIS_NOT_CONNECTED':
    case 'CHASSIS_BAD_ANSWER':
    case 'CHASSIS_REFUSED': {
      const failure = connectionFailureOf(error);
      // A single request knows no heartbeat.
      return {
        state: 'not-connected',
        failure: failure === 'silent' ? 'no-answer' : failure,
        detail: failureDetail(error),
        ...from,
      };
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
  if (!asked) return notChecked('not asked for; --mac compares it');
  if (!direct) return notChecked('the chassis was dialled through another machine, whose neighbour table is not ours');
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
  if (addresses.length === 0) return notChecked('the address is not known');
  if (addresses.every(isLoopback)) return notChecked('an address inside this machine has no hardware address');
  const known = table.filter((neighbour) => addresses.includes(neighbour.address) && neighbour.mac !== null);
  const found = known[0]?.mac ?? null;
  if (found === null) {
    return notChecked(
      'the neighbour table has no answer for this address: a router stands between, or nobody answered',
    );
  }
  if (expected === null) return notChecked('the site file names no chassis.mac to compare with', found);
  return known.every((neighbour) => neighbour.mac === expected)
    ? { verdict: 'ok', expected, found, detail: 'the hardware address is that of the reservation' }
    : {
        verdict: 'wrong',
        expected,
        found,
        detail: 'another hardware address answers than the reservation is keyed to',
      };
}

function stringOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
