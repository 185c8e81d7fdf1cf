import { finding } from '../finding.ts';
import type { HeartbeatFinding } from './check.result.ts';
import { type ExpectedFleet, notAskedText, periodFinding } from './findings.ts';
import type { GatewayCounts } from './gateway.ts';
import type { Arrival } from './timing.ts';

/** What was measured here of the heartbeats that this gateway sends. */
export interface OwnSending {
  readonly hears: 'everything' | 'broadcasts';
  /** Addresses of the interfaces that a broadcast leaves by. */
  readonly sources: readonly string[];
  /**
   * Copies of its own broadcasts that the kernel looped back, by the address of the interface. A copy is made when the
   * datagram is passed to that interface, so it proves that, and no more.
   */
  readonly copies: ReadonlyMap<string, readonly Arrival[]>;
  /** What the running gateway counted; null where it was not asked. */
  readonly gateway: GatewayCounts | null;
  readonly notAsked: string | null;
}

const NOT_RUNNING = 'no program has UDP 45301 open on this machine, so gw serve does not run here';
const START = 'Start gw serve with this site file, and look at its log.';

/** Whether this gateway sends as the specification says, and every 2 s. No line claims that a datagram arrived. */
export function ownFindings(site: ExpectedFleet, sending: OwnSending): HeartbeatFinding[] {
  const { broadcast, unicast, expected } = site;
  if (!broadcast && unicast.length === 0) {
    const title = 'This gateway sends its heartbeat';
    const detail = 'fleet.broadcast is off and fleet.unicast is empty';
    // A robot that is alone sends all the same (specification); that no other robot misses it makes nothing of it right.
    if (expected.length === 0) {
      return [finding('own', title, 'not-checked', `${detail}: with fleet.broadcast on, the sending can be seen`)];
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

/** A gateway that runs with another site file sends, and not for this robot. */
function ownSerialFinding({ own }: ExpectedFleet, { gateway, copies, hears, notAsked }: OwnSending): HeartbeatFinding {
  const title = `The heartbeat of this gateway carries serial ${own}`;
  const id = 'own-serial';
  if (hears === 'everything') return finding(id, title, 'wrong', NOT_RUNNING, START);
  if (gateway === null) {
    if (copies.size > 0) return finding(id, title, 'ok', 'read from the looped-back copies of its broadcasts');
    return finding(id, title, 'not-checked', notAskedText(notAsked ?? 'no answer'));
  }
  const { sending } = gateway.last;
  if (sending === null) {
    return finding(id, title, 'wrong', 'the gateway that runs here sends no heartbeat', START);
  }
  if (sending.serial !== own) {
    return finding(id, title, 'wrong', `the gateway that runs here sends as ${sending.serial}`, START);
  }
  return finding(id, title, 'ok', `${sending.heartbeats} heartbeats since its start, by its own counter`);
}

function copyFinding({ broadcast, seconds }: ExpectedFleet, { sources, copies, hears }: OwnSending): HeartbeatFinding {
  const id = 'own-broadcast';
  const title = 'Own broadcasts pass the kernel (looped-back copies)';
  if (!broadcast) return finding(id, title, 'not-applicable', 'fleet.broadcast is off');
  if (hears === 'everything') return finding(id, title, 'wrong', NOT_RUNNING, START);
  if (sources.length === 0) {
    const detail = 'no interface that is up has an IPv4 address, loopback left out';
    return finding(id, title, 'wrong', detail, 'Connect the gateway to the robot segment: see `ip address`.');
  }
  const counted = sources.map((source) => [source, copies.get(source)?.length ?? 0] as const);
  const missing = counted.filter(([, count]) => count === 0).map(([source]) => source);
  if (missing.length > 0) {
    const detail = `no copy of a broadcast from ${missing.join(', ')} in ${seconds} s`;
    const remedy = 'Look at the service `fleet` in `gw serve` (GET /api/health), and at the outgoing packet filter.';
    return finding(id, title, 'wrong', detail, remedy);
  }
  const said = counted.map(([source, count]) => `${count} from ${source}`).join(', ');
  return finding(id, title, 'ok', `${said} in ${seconds} s; arrival is only seen at the other robot`);
}

function acceptedFinding(address: string, { gateway, hears, notAsked }: OwnSending): HeartbeatFinding {
  const id = `own-unicast-${address}`;
  const title = `Own heartbeats to ${address} are accepted by the operating system`;
  if (hears === 'everything') return finding(id, title, 'wrong', NOT_RUNNING, START);
  if (gateway === null) return finding(id, title, 'not-checked', notAskedText(notAsked ?? 'no answer'));
  const way = gateway.last.sending?.ways.find(({ to, from }) => to === address && from === null);
  if (way === undefined) {
    return finding(id, title, 'wrong', 'the gateway that runs here does not send there', 'Restart gw serve.');
  }
  if (way.failure !== null) {
    const remedy = 'See the route to this address (`ip route get`) and the outgoing packet filter.';
    return finding(id, title, 'wrong', `refused: ${way.failure}`, remedy);
  }
  const count = gateway.accepted.get(address) ?? 0;
  if (count === 0) {
    return finding(id, title, 'wrong', 'none while it was looked at', 'Look at the log of gw serve.');
  }
  return finding(id, title, 'ok', `${count} by the counter of the gateway; arrival is only seen at the other robot`);
}

function ownPeriodFinding(site: ExpectedFleet, { copies, gateway, hears }: OwnSending): HeartbeatFinding {
  const id = 'own-period';
  const title = 'Period of the own heartbeat';
  if (hears === 'everything') return finding(id, title, 'not-checked', NOT_RUNNING);
  const [copied] = [...copies.values()].sort((a, b) => b.length - a.length);
  if (copied !== undefined) return periodFinding(id, title, copied, site.seconds, 'looped-back copies');
  return periodFinding(id, title, gateway?.sent ?? [], site.seconds, 'counter of the gateway');
}
