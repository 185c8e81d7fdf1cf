import { networkInterfaces } from 'node:os';
import { GwError } from '../../error/index.ts';
import {
  broadcastSources,
  closeSocket,
  createSniffer,
  type Heartbeat,
  openBesideOthers,
  openBroadcastsOnly,
  PERIOD_MS,
  readKeyRing,
} from '../../fleet/index.ts';
import { operatorAccess } from '../operator/access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { conclude } from '../verdict.ts';
import { fleetFindings, type ReceivedFleet, type Sender } from './findings.ts';
import { fleetOf } from './fleet.ts';
import { type GatewayWatch, watchGateway } from './gateway.ts';
import type { HeartbeatCheck, HeartbeatFinding } from './heartbeat.result.ts';
import { type OwnSending, ownFindings } from './own-findings.ts';
import type { Arrival } from './timing.ts';

export interface HeartbeatCheckOptions {
  /** How long to listen. */
  readonly seconds: number;
}

/** Twice per period, so that each heartbeat that the gateway received is dated. */
const QUERY_INTERVAL_MS = PERIOD_MS / 2;

/**
 * Listens for some seconds and compares with the site file: this gateway sends, every 2 s, every robot of the site is
 * received, broadcast passes, every address of the unicast list sends heartbeats of its own, and no datagram is
 * rejected. Sends nothing. Throws SITE_FILE_INVALID without `fleet` in the site file, SECRET_UNREADABLE, PORT_IN_USE,
 * INTERRUPTED.
 */
export async function checkHeartbeat(
  toolkit: Toolkit,
  options: HeartbeatCheckOptions,
  context: CheckContext,
): Promise<HeartbeatCheck> {
  const { site, clock } = toolkit;
  const fleet = fleetOf(site);
  const beganMs = clock.monotonicMs();
  const { received, sending } = await listen(toolkit, fleet, options.seconds, context);
  const own = site.chassis.serial;
  const expected = fleet.robots.filter((serial) => serial !== own);
  const isAlone = fleet.robots.length > 0 && expected.length === 0;
  // Site files may share one list, so the addresses of this machine are left out.
  const here = ipv4OfThisMachine();
  const unicast = fleet.unicast.filter((address) => !here.has(address));
  const expectation = { ...fleet, unicast, own, expected, isAlone, seconds: options.seconds };
  const findings = [...ownFindings(expectation, sending), ...fleetFindings(expectation, received)];
  const count = (verdict: HeartbeatFinding['verdict']) =>
    findings.filter((finding) => finding.verdict === verdict).length;
  const counts = {
    ok: count('ok'),
    wrong: count('wrong'),
    notChecked: count('not-checked'),
    notApplicable: count('not-applicable'),
  };
  return {
    verdict: conclude(findings),
    received: [...new Set(received.senders.map(({ serial }) => serial))].filter((serial) => serial !== own).sort(),
    expected,
    receives: received.receives,
    findings,
    counts,
    tookMs: Math.round(clock.monotonicMs() - beganMs),
  };
}

async function listen(
  toolkit: Toolkit,
  fleet: NonNullable<Toolkit['site']['fleet']>,
  seconds: number,
  context: CheckContext,
): Promise<{ readonly received: ReceivedFleet; readonly sending: OwnSending }> {
  const { clock, site } = toolkit;
  const keys = await readKeyRing(fleet);
  const serial = site.chassis.serial;
  const ownAddresses = ipv4OfThisMachine();
  const copies = new Map<string, Arrival[]>();
  const arrivals = new Map<string, Arrival[]>();
  const date = (list: Map<string, Arrival[]>, key: string, { sequence, uptimeS, instance }: Heartbeat) => {
    const dated = list.get(key) ?? [];
    list.set(key, dated);
    dated.push({ atMs: clock.monotonicMs(), sequence, uptimeS, boot: instance });
  };
  const reserved = new Set(fleet.robots);
  const sniffer = createSniffer({
    keys,
    clock,
    reserved,
    onHeartbeat: (heartbeat) => date(arrivals, heartbeat.serial, heartbeat),
  });
  const broadcasts = createSniffer({
    keys,
    clock,
    onHeartbeat(heartbeat, address) {
      if (heartbeat.serial === serial && ownAddresses.has(address)) date(copies, address, heartbeat);
    },
  });
  context.onProgress(`listening for ${seconds} s`);
  await using sockets = new AsyncDisposableStack();
  const { socket, receives } = await openBesideOthers((bytes, { address }) => sniffer.receive(bytes, address));
  sockets.defer(() => closeSocket(socket));
  const only = await openBroadcastsOnly((bytes, { address }) => broadcasts.receive(bytes, address));
  sockets.defer(() => closeSocket(only));
  // A socket error shows as missing heartbeats.
  for (const each of [socket, only]) each.on('error', () => {});
  const watch = watchGateway(operatorAccess(toolkit, context), () => clock.monotonicMs());
  const sources = broadcastSources();
  let queryFailure: string | null = null;
  const endMs = clock.monotonicMs() + seconds * 1_000;
  for (let leftMs = seconds * 1_000; leftMs > 0; leftMs = endMs - clock.monotonicMs()) {
    if (receives === 'broadcasts' && queryFailure === null) queryFailure = await queryOnce(watch, context.signal);
    await clock.sleep(Math.min(QUERY_INTERVAL_MS, Math.max(0, endMs - clock.monotonicMs())), context.signal);
  }
  if (receives === 'broadcasts' && queryFailure === null) queryFailure = await queryOnce(watch, context.signal);
  const counts = receives === 'broadcasts' && queryFailure === null ? countsOf(watch) : null;
  if (typeof counts === 'string') queryFailure = counts;
  const gateway = typeof counts === 'string' ? null : counts;

  const { senders: seen, noise } = sniffer.view();
  const sniffed = seen.filter(({ test }) => !test);
  const isRecent = (ageMs: number) => ageMs <= seconds * 1_000;
  const conflicts: Sender[] = sniffed.filter(({ conflictWith }) => conflictWith.length > 0);
  // The own serial from another machine is another device, whether or not this one sends.
  conflicts.push(...sniffed.filter((sender) => sender.serial === serial && !ownAddresses.has(sender.address)));
  let senders: Sender[] = sniffed.filter(({ presence, ageMs }) => presence === 'alive' && isRecent(ageMs));
  let timed: ReadonlyMap<string, readonly Arrival[]> = arrivals;
  if (gateway !== null) {
    // The gateway's replay guard outlives this check, so its list excludes replays.
    const { robots, ownSerialFrom } = gateway.last;
    senders = robots.filter(({ presence, ageMs }) => presence === 'alive' && isRecent(ageMs));
    timed = gateway.arrivals;
    for (const { serial: other, address, conflictWith } of robots) {
      if (conflictWith !== null) conflicts.push({ serial: other, address }, { serial: other, address: conflictWith });
    }
    if (ownSerialFrom !== null) conflicts.push({ serial, address: ownSerialFrom });
  }
  const broadcasting = broadcasts.view().senders.filter(({ test }) => !test);
  const byBroadcast = new Set(broadcasting.map((sender) => sender.serial));
  const replayed = sniffed.filter((sender) => sender.replayed > 0);
  return {
    received: {
      receives,
      senders,
      timed,
      byBroadcast,
      conflicts,
      noise,
      replayed,
      rejected: gateway?.rejected ?? null,
      isTableFull: gateway?.last.isTableFull ?? null,
      isOwnCopySeen: copies.size > 0,
      queryFailure,
    },
    sending: { receives, sources, copies, gateway, queryFailure },
  };
}

/** Why the gateway could not be queried; null when it was. */
async function queryOnce(watch: GatewayWatch, signal: AbortSignal): Promise<string | null> {
  try {
    await watch.query();
    return null;
  } catch (error) {
    if (signal.aborted || !(error instanceof GwError)) throw error;
    return error.message;
  }
}

function countsOf(watch: GatewayWatch) {
  try {
    return watch.counts();
  } catch (error) {
    if (!(error instanceof GwError)) throw error;
    return error.message;
  }
}

function ipv4OfThisMachine(): ReadonlySet<string> {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return new Set(all.filter(({ family }) => family === 'IPv4').map(({ address }) => address));
}
