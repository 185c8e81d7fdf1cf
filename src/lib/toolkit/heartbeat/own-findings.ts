import { finding } from '../finding.ts';
import { type ExpectedFleet, periodFinding, queryFailureText } from './findings.ts';
import type { GatewayCounts } from './gateway.ts';
import type { HeartbeatFinding } from './heartbeat.result.ts';
import type { Arrival } from './timing.ts';

/** Measurements of the heartbeats that this gateway sends. */
export interface OwnSending {
  readonly receives: 'everything' | 'broadcasts';
  /** Addresses of the outgoing interfaces of a broadcast. */
  readonly sources: readonly string[];
  /**
   * Looped-back copies of own broadcasts, by the address of the interface. The kernel makes a copy when it passes the
   * datagram to that interface, which proves no more than that.
   */
  readonly copies: ReadonlyMap<string, readonly Arrival[]>;
  /** Counters of the running gateway; null when not queried. */
  readonly gateway: GatewayCounts | null;
  readonly queryFailure: string | null;
}

const NOT_RUNNING = 'gw serve does not run here: UDP 45301 is not open';
const START = 'Start gw serve with this site file, and check its log.';

/** Findings about the own heartbeat. None claims that a datagram arrived. */
export function ownFindings(site: ExpectedFleet, sending: OwnSending): HeartbeatFinding[] {
  const { broadcast, unicast, expected } = site;
  if (!broadcast && unicast.length === 0) {
    const title = 'This gateway sends its heartbeat';
    const detail = 'fleet.broadcast is off and fleet.unicast is empty';
    // The specification requires the heartbeat also of a single robot.
    if (expected.length === 0) {
      return [finding('own', title, 'not-checked', `${detail}: set fleet.broadcast to true to check the sending`)];
    }
    return [finding('own', title, 'wrong', detail, 'List the gateways of the other robots in fleet.unicast.')];
  }
  return [
    ownSerialFinding(site, sending),
    copyFinding(site, sending),
    ...unicast.map((address) => acceptedFinding(address, sending)),
    ownPeriodFinding(site, sending),
  ];
}

/** A gateway with another site file sends with another serial. */
function ownSerialFinding(
  { own }: ExpectedFleet,
  { gateway, copies, receives, queryFailure }: OwnSending,
): HeartbeatFinding {
  const title = `The heartbeat of this gateway carries serial ${own}`;
  const id = 'own-serial';
  if (receives === 'everything') return finding(id, title, 'wrong', NOT_RUNNING, START);
  if (gateway === null) {
    if (copies.size > 0) return finding(id, title, 'ok', 'from looped-back copies of its broadcasts');
    return finding(id, title, 'not-checked', queryFailureText(queryFailure ?? 'no answer'));
  }
  const { sending } = gateway.last;
  if (sending === null) {
    return finding(id, title, 'wrong', 'the running gateway sends no heartbeat', START);
  }
  if (sending.serial !== own) {
    return finding(id, title, 'wrong', `the running gateway sends with serial ${sending.serial}`, START);
  }
  return finding(id, title, 'ok', `${sending.heartbeats} heartbeats since its start, by its own counter`);
}

function copyFinding(
  { broadcast, seconds }: ExpectedFleet,
  { sources, copies, receives }: OwnSending,
): HeartbeatFinding {
  const id = 'own-broadcast';
  const title = 'Own broadcasts leave the kernel (looped-back copies)';
  if (!broadcast) return finding(id, title, 'not-applicable', 'fleet.broadcast is off');
  if (receives === 'everything') return finding(id, title, 'wrong', NOT_RUNNING, START);
  if (sources.length === 0) {
    const detail = 'no interface except loopback is up with an IPv4 address';
    return finding(
      id,
      title,
      'wrong',
      detail,
      'Connect the gateway to the robot segment; `ip address` shows its interfaces.',
    );
  }
  const counted = sources.map((source) => [source, copies.get(source)?.length ?? 0] as const);
  const missing = counted.filter(([, count]) => count === 0).map(([source]) => source);
  if (missing.length > 0) {
    const detail = `no copy of a broadcast from ${missing.join(', ')} in ${seconds} s`;
    const remedy = 'Check the service `fleet` of gw serve (GET /api/health), and the outgoing packet filter.';
    return finding(id, title, 'wrong', detail, remedy);
  }
  const counts = counted.map(([source, count]) => `${count} from ${source}`).join(', ');
  return finding(id, title, 'ok', `${counts} in ${seconds} s; arrival can be checked only on the other robot`);
}

function acceptedFinding(address: string, { gateway, receives, queryFailure }: OwnSending): HeartbeatFinding {
  const id = `own-unicast-${address}`;
  const title = `Own heartbeats to ${address} are accepted by the operating system`;
  if (receives === 'everything') return finding(id, title, 'wrong', NOT_RUNNING, START);
  if (gateway === null) return finding(id, title, 'not-checked', queryFailureText(queryFailure ?? 'no answer'));
  const way = gateway.last.sending?.ways.find(({ to, from }) => to === address && from === null);
  if (way === undefined) {
    return finding(id, title, 'wrong', 'the running gateway does not send to it', 'Restart gw serve.');
  }
  if (way.failure !== null) {
    const remedy = 'Check the route (`ip route get ADDRESS`) and the outgoing packet filter.';
    return finding(id, title, 'wrong', `failed: ${way.failure}`, remedy);
  }
  const count = gateway.accepted.get(address) ?? 0;
  if (count === 0) {
    return finding(id, title, 'wrong', 'none during the check', 'Check the log of gw serve.');
  }
  return finding(
    id,
    title,
    'ok',
    `${count} by the counter of the gateway; arrival can be checked only on the other robot`,
  );
}

function ownPeriodFinding(site: ExpectedFleet, { copies, gateway, receives }: OwnSending): HeartbeatFinding {
  const id = 'own-period';
  const title = 'Period of the own heartbeat';
  if (receives === 'everything') return finding(id, title, 'not-checked', NOT_RUNNING);
  const [copied] = [...copies.values()].sort((a, b) => b.length - a.length);
  if (copied !== undefined) return periodFinding(id, title, copied, site.seconds, 'looped-back copies');
  return periodFinding(id, title, gateway?.sent ?? [], site.seconds, 'counter of the gateway');
}
