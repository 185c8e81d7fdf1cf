import { networkInterfaces } from 'node:os';
import { GwError } from '../../error/index.ts';
import { reachEndpoint } from '../../net/index.ts';
import { type ConnectionInfo, type OwnedSocket, readOpenSockets } from '../../net/probe/index.ts';
import type { Site } from '../../site/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { configuredOnlyLine } from './check/configured-only.ts';
import { holdBackReason } from './check/hold-back.ts';
import { identityLine, readKnownIdentity } from './check/identity.ts';
import { readConnectionInfo } from './check/mtu.ts';
import { lookUpName } from './check/names.ts';
import { type FromSegment, knockFrom, noOutsideLine, REACH_MS, type SecondHost } from './check/outside.ts';
import { pathLines, uniqueNames } from './check/path-lines.ts';
import {
  createNameBook,
  createTurns,
  type GonePath,
  gonePath,
  type NameLookup,
  type PathTools,
  STEP_MS,
} from './check/paths.ts';
import { agreedDevices, missingPlans, pathPlans } from './check/plans.ts';
import { regionLines } from './check/region.ts';
import { addressLines, chassisLine, type Dialled, deviceLine } from './check/segment.ts';
import { sharedLines } from './check/shared-lines.ts';
import { judgeSockets, socketLines } from './check/sockets.ts';
import { type RobotAddresses, robotAddresses } from './check/ssh-listener.ts';
import type { NetworkCheck, NetworkLine, NetworkPath, NetworkSocket, NetworkVerdict } from './check.result.ts';

export type { SecondHost } from './check/outside.ts';

/** What is read of this machine; tests give their own. */
export interface Machine {
  readonly lookup: NameLookup;
  openSockets(): Promise<OwnedSocket[]>;
  addresses(): readonly string[];
  connectionInfo(localPort: number): Promise<ConnectionInfo | null>;
}

export interface NetworkCheckOptions {
  /** How long the way to one endpoint may take, in milliseconds. */
  readonly timeoutMs: number;
  readonly from: readonly SecondHost[];
  /** Where those stand. */
  readonly fromSegment: FromSegment;
  readonly machine?: Machine;
}

const thisMachine: Machine = {
  lookup: lookUpName,
  openSockets: readOpenSockets,
  addresses: () =>
    Object.values(networkInterfaces())
      .flatMap((interfaces) => interfaces ?? [])
      .filter(({ internal }) => !internal)
      .map(({ address }) => address),
  connectionInfo: readConnectionInfo,
};

/**
 * Looks at the network from the gateway, side by side: outward to the endpoints of the cloud, inward at what listens
 * here, and at the segments, from here and from the second hosts. Contacts the addresses that the site file names, the
 * operator server of this machine on loopback, and nothing else; asks the name server for the names in the site file.
 * Throws SITE_FILE_INVALID for a CA file that holds no certificate, INTERRUPTED.
 */
export async function checkNetwork(
  toolkit: Toolkit,
  options: NetworkCheckOptions,
  context: CheckContext,
): Promise<NetworkCheck> {
  const { site, clock } = toolkit;
  const { machine = thisMachine } = options;
  const { signal } = context;
  const beganMs = clock.monotonicMs();
  const identity = await readKnownIdentity(site);
  const plans = await pathPlans(site, identity);
  context.onProgress(`looking at ${plans.length} ways out, ${options.from.length} ways in, and what listens here`);

  const checks: { id: string; tookMs: number }[] = [];
  const timed = async <T>(id: string, work: () => Promise<T>): Promise<T> => {
    const startMs = clock.monotonicMs();
    try {
      return await work();
    } finally {
      checks.push({ id, tookMs: Math.round(clock.monotonicMs() - startMs) });
    }
  };

  const speaksMqtt = plans.some(({ speaks }) => speaks === 'mqtt');
  const holdBack = speaksMqtt ? holdBackReason(toolkit, context) : Promise.resolve(null);
  // A way that fails before the handshake never asks.
  holdBack.catch(() => {});
  const tools: PathTools = {
    dialer: toolkit.dialer,
    lookup: machine.lookup,
    clock,
    signal,
    timeoutMs: options.timeoutMs,
    clientId: site.chassis.serial,
    connectionInfo: machine.connectionInfo,
    holdBack,
    turns: createTurns(clock, signal),
  };
  const names = createNameBook(tools);
  const reach = (id: string, host: string, port: number): Promise<Dialled> =>
    timed(id, async () => {
      const { kind, ...name } = await names.resolve(host, STEP_MS.name);
      signal.throwIfAborted();
      if (kind === 'unknown' || kind === 'no-answer') {
        return { host, port, localAddress: null, failure: 'unknown-name', tookMs: 'tookMs' in name ? name.tookMs : 0 };
      }
      const result = await reachEndpoint(toolkit.dialer, { host, port }, { timeoutMs: REACH_MS, signal, clock });
      const { reached, tookMs } = result;
      return {
        host,
        port,
        failure: reached ? null : result.failure,
        tookMs,
        localAddress: reached ? result.localAddress : null,
      };
    });

  const chassisReached = reach('chassis', site.chassis.host, site.chassis.port);
  chassisReached.catch(() => {});
  const sockets = timed('sockets', async () => {
    const own = machine.addresses();
    // Only where the site file does not say which address is in the robot segment, the way to the chassis has to.
    const robot = robotAddresses(site, own, null) ?? robotAddresses(site, own, (await chassisReached).localAddress);
    return openSockets(machine, site, robot);
  });

  const [gone, listening, chassis, devices, outside] = await Promise.all([
    Promise.all(plans.map((plan) => timed(plan.id, () => gonePath(plan, names, tools)))),
    sockets,
    chassisReached,
    Promise.all(
      agreedDevices(site).map(async (device) => deviceLine(device, await reach(device.id, device.host, device.port))),
    ),
    Promise.all(
      options.from.map((host, index) =>
        timed(`from-${index + 1}`, () =>
          knockFrom(host, index + 1, { toolkit, fromSegment: options.fromSegment, sockets, signal }),
        ),
      ),
    ),
  ]);
  signal.throwIfAborted();

  const lines = [
    ...identityLine(site, identity, clock.wall()),
    ...uniqueNames(gone.flatMap(pathLines)),
    ...missingPlans(site),
    ...regionLines(site),
    ...(gone.length > 0 ? sharedLines(gone) : []),
    ...socketLines(listening),
    ...addressLines(site, machine.addresses()),
    chassisLine(chassis),
    ...devices,
    configuredOnlyLine(site),
    ...(outside.length > 0 ? outside.flat() : [noOutsideLine({ detail: 'no second host given (--from)' })]),
  ];
  return {
    verdict: verdictOf(lines),
    sections: {
      outward: verdictOf(lines.filter(({ section }) => section === 'outward')),
      inward: verdictOf(lines.filter(({ section }) => section === 'inward')),
      segment: verdictOf(lines.filter(({ section }) => section === 'segment')),
    },
    lines,
    paths: gone.map(pathView),
    sockets: listening,
    counts: {
      ok: lines.filter(({ verdict }) => verdict === 'ok').length,
      wrong: lines.filter(({ verdict, need }) => verdict === 'wrong' && need === 'needed').length,
      optionalWrong: lines.filter(({ verdict, need }) => verdict === 'wrong' && need === 'optional').length,
      notChecked: lines.filter(({ verdict }) => verdict === 'not-checked').length,
    },
    checks,
    tookMs: Math.round(clock.monotonicMs() - beganMs),
  };
}

/** A needed line that is wrong decides; then one that was not checked. Optional lines never do. */
function verdictOf(lines: readonly NetworkLine[]): NetworkVerdict {
  const needed = lines.filter(({ need }) => need === 'needed');
  if (needed.some(({ verdict }) => verdict === 'wrong')) return 'wrong';
  return needed.some(({ verdict }) => verdict === 'not-checked') ? 'not-checked' : 'ok';
}

async function openSockets(machine: Machine, site: Site, robot: RobotAddresses): Promise<NetworkSocket[] | null> {
  try {
    return judgeSockets(await machine.openSockets(), site, robot);
  } catch (error) {
    if (error instanceof GwError) return null;
    throw error;
  }
}

function pathView({ plan, name, dial, tls, info, tookMs }: GonePath): NetworkPath {
  return {
    id: plan.id,
    host: plan.host,
    port: plan.port,
    addresses: name.kind === 'literal' || name.kind === 'resolved' ? [...name.addresses] : [],
    reached: dial?.failure === null,
    connectMs: dial?.failure === null ? dial.tookMs : null,
    tls:
      tls?.kind === 'established'
        ? {
            protocol: tls.protocol,
            alpn: tls.alpn,
            trust: tls.trust.kind,
            verifiedBy: tls.trust.kind === 'trusted' ? tls.trust.by : null,
            chain: [...tls.chain],
          }
        : null,
    pathMtuBytes: info?.pathMtuBytes ?? null,
    tookMs,
  };
}
