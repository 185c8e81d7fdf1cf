import { networkInterfaces } from 'node:os';
import { GwError } from '../../error/index.ts';
import {
  broadcastSources,
  closeSocket,
  createSniffer,
  type Heartbeat,
  openBesideOthers,
  openBroadcastsOnly,
  readKeyRing,
} from '../../fleet/index.ts';
import type { Line } from '../finding.result.ts';
import { operatorAccess } from '../operator/access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { conclude } from '../verdict.ts';
import { fleetFindings, type Observed, type Sender } from './findings.ts';
import { fleetOf } from './fleet.ts';
import { gatewayFeed, QUERY_INTERVAL_MS } from './gateway.ts';
import type { HeartbeatCheck } from './heartbeat.result.ts';
import { ownFindings } from './own-findings.ts';
import type { Arrival } from './timing.ts';

export interface HeartbeatCheckOptions {
  /** How long to listen. */
  readonly seconds: number;
}

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
  const seen = await listen(toolkit, fleet, options.seconds, context);
  const own = site.chassis.serial;
  const expected = fleet.robots.filter((serial) => serial !== own);
  const isAlone = fleet.robots.length > 0 && expected.length === 0;
  // Site files may share one list, so the addresses of this machine are left out.
  const here = ipv4OfThisMachine();
  const unicast = fleet.unicast.filter((address) => !here.has(address));
  const expectation = { ...fleet, unicast, own, expected, isAlone, seconds: options.seconds };
  const findings = [...ownFindings(expectation, seen), ...fleetFindings(expectation, seen)];
  const count = (verdict: Line['verdict']) => findings.filter((finding) => finding.verdict === verdict).length;
  return {
    verdict: conclude(findings),
    received: [...new Set(seen.senders.map(({ serial }) => serial))].filter((serial) => serial !== own).sort(),
    expected,
    receives: seen.receives,
    findings,
    counts: {
      ok: count('ok'),
      wrong: count('wrong'),
      notChecked: count('not-checked'),
      notApplicable: count('not-applicable'),
    },
    tookMs: Math.round(clock.monotonicMs() - beganMs),
  };
}

async function listen(
  toolkit: Toolkit,
  fleet: NonNullable<Toolkit['site']['fleet']>,
  seconds: number,
  context: CheckContext,
): Promise<Observed> {
  const { clock, site } = toolkit;
  const keys = await readKeyRing(fleet);
  const serial = site.chassis.serial;
  const ownAddresses = ipv4OfThisMachine();
  const [copies, here, there] = [dates(), dates(), dates()];
  const arrivalOf = ({ sequence, uptimeS, instance }: Heartbeat) => ({
    ...{ atMs: clock.monotonicMs(), sequence, uptimeS },
    boot: instance,
  });
  const sniffer = createSniffer({
    keys,
    clock,
    reserved: new Set(fleet.robots),
    onHeartbeat: (heartbeat) => here.add(heartbeat.serial, arrivalOf(heartbeat)),
  });
  const broadcasts = createSniffer({
    keys,
    clock,
    onHeartbeat(heartbeat, address) {
      if (heartbeat.serial === serial && ownAddresses.has(address)) copies.add(address, arrivalOf(heartbeat));
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
  const feed = gatewayFeed(operatorAccess(toolkit, context), clock, there.add);
  const sources = broadcastSources();
  let queryFailure: string | null = null;
  const query = async () => {
    if (receives === 'everything' || queryFailure !== null) return;
    await feed.query().catch((error: unknown) => {
      if (context.signal.aborted || !(error instanceof GwError)) throw error;
      queryFailure = error.message;
    });
  };
  const endMs = clock.monotonicMs() + seconds * 1_000;
  for (let leftMs = seconds * 1_000; leftMs > 0; leftMs = endMs - clock.monotonicMs()) {
    await query();
    await clock.sleep(Math.min(QUERY_INTERVAL_MS, Math.max(0, endMs - clock.monotonicMs())), context.signal);
  }
  await query();
  const gateway = queryFailure === null ? feed.counts() : null;
  if (receives === 'broadcasts' && gateway === null) queryFailure ??= 'The gateway was restarted during the check.';

  const sniffed = sniffer.view().senders.filter(({ test }) => !test);
  const isAlive = ({ presence, ageMs }: { readonly presence: string; readonly ageMs: number }) =>
    presence === 'alive' && ageMs <= seconds * 1_000;
  const conflicts: Sender[] = sniffed.filter(({ conflictWith }) => conflictWith.length > 0);
  // The own serial from another machine is another device, whether or not this one sends.
  conflicts.push(...sniffed.filter((sender) => sender.serial === serial && !ownAddresses.has(sender.address)));
  for (const { serial: other, address, conflictWith } of gateway?.last.robots ?? []) {
    if (conflictWith !== null) conflicts.push({ serial: other, address }, { serial: other, address: conflictWith });
  }
  const ownSerialFrom = gateway?.last.ownSerialFrom ?? null;
  if (ownSerialFrom !== null) conflicts.push({ serial, address: ownSerialFrom });
  const broadcasting = broadcasts.view().senders.filter(({ test }) => !test);
  return {
    receives,
    // The gateway's replay guard outlives this check, so its list excludes replays.
    senders: (gateway?.last.robots ?? sniffed).filter(isAlive),
    timed: gateway === null ? here.all : there.all,
    byBroadcast: new Set(broadcasting.map((sender) => sender.serial)),
    conflicts,
    noise: sniffer.view().noise,
    replayed: sniffed.filter((sender) => sender.replayed > 0),
    sources,
    copies: copies.all,
    gateway,
    queryFailure,
  };
}

/** Arrivals in order, by what sent them. */
function dates() {
  const all = new Map<string | null, Arrival[]>();
  const add = (by: string | null, arrival: Arrival) => {
    const list = all.get(by) ?? [];
    all.set(by, list);
    list.push(arrival);
  };
  return { all, add };
}

function ipv4OfThisMachine(): ReadonlySet<string> {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return new Set(all.filter(({ family }) => family === 'IPv4').map(({ address }) => address));
}
