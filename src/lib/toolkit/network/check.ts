import { networkInterfaces } from 'node:os';
import { GwError } from '../../error/index.ts';
import { withDeadline } from '../../lifecycle/index.ts';
import { formatEndpoint, reachEndpoint } from '../../net/index.ts';
import {
  alpnOutcome,
  createNameCache,
  createSerialQueue,
  httpsOutcome,
  mqttOutcome,
  type NameLookup,
  nameOutcome,
  type PathOutcome,
  type PathResult,
  type PathTools,
  probePath,
  STEP_MS,
  tcpOutcome,
  tlsOutcome,
} from '../../net/path/index.ts';
import { type ConnectionInfo, type OwnedSocket, parseConnectionInfo, readOpenSockets } from '../../net/probe/index.ts';
import { agreedDevices, type Site } from '../../site/index.ts';
import { runSystemProgram } from '../child-process.ts';
import { readGatewayHealth } from '../gateway/health.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { conclude } from '../verdict.ts';
import { configuredOnlyLine } from './check/configured-only.ts';
import { readKnownIdentity } from './check/identity.ts';
import { lookUpName } from './check/look-up-name.ts';
import {
  DIAL_TIMEOUT_MS,
  type FromSegment,
  outsideNotCheckedLine,
  probeFrom,
  type SecondHost,
} from './check/outside.ts';
import { identityLine, missingPlans, networkLine, type Outcome, type PlannedPath, pathPlans } from './check/plans.ts';
import { regionLines } from './check/region.ts';
import { provenByRunningLink } from './check/running-link.ts';
import { addressLines, chassisLine, type Dialled, deviceLine } from './check/segment.ts';
import { sharedLines } from './check/shared-lines.ts';
import { judgeSockets, socketLines } from './check/sockets.ts';
import { type RobotAddresses, robotAddresses } from './check/ssh-listener.ts';
import type { NetworkCheck, NetworkLine, NetworkPath, NetworkSocket } from './network.result.ts';

const TIMEOUT_MS = 1_000;

/** Including the dial; a running gateway answers on loopback at once. */
const HEALTH_MS = 1_500;

export type { SecondHost } from './check/outside.ts';

/** Access to this machine; tests pass their own. */
export interface Machine {
  readonly lookup: NameLookup;
  openSockets(): Promise<OwnedSocket[]>;
  addresses(): readonly string[];
  connectionInfo(localPort: number): Promise<ConnectionInfo | null>;
}

export interface NetworkCheckOptions {
  /** Timeout per endpoint in milliseconds. */
  readonly timeoutMs: number;
  readonly from: readonly SecondHost[];
  /** The segment of these hosts. */
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
 * Checks the network from the gateway, concurrently: outward to the cloud endpoints, inward the listening sockets, and the
 * segments, from here and from the second hosts. Contacts only the addresses of the site file and the operator server of
 * this machine on loopback; resolves only names of the site file. Throws SITE_FILE_INVALID for a CA file without a
 * certificate, INTERRUPTED.
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
  context.onProgress(
    `checking ${plans.length} outgoing paths, ${options.from.length} second hosts, and the listening sockets`,
  );

  const checks: { id: string; tookMs: number }[] = [];
  const timed = async <T>(id: string, work: () => Promise<T>): Promise<T> => {
    const startMs = clock.monotonicMs();
    try {
      return await work();
    } finally {
      checks.push({ id, tookMs: Math.round(clock.monotonicMs() - startMs) });
    }
  };

  const hasMqtt = plans.some(({ application }) => application === 'mqtt');
  const mqttBlocked = hasMqtt ? displacedLinkReason(toolkit, context) : Promise.resolve(null);
  // A path that fails before the handshake never awaits it.
  mqttBlocked.catch(() => {});
  const tools: PathTools = {
    dialer: toolkit.dialer,
    lookup: machine.lookup,
    clock,
    signal,
    timeoutMs: options.timeoutMs,
    clientId: site.chassis.serial,
    connectionInfo: machine.connectionInfo,
    mqttBlocked,
    connects: createSerialQueue(clock, signal),
  };
  const names = createNameCache(tools);
  const reach = (id: string, host: string, port: number): Promise<Dialled> =>
    timed(id, async () => {
      const name = await names.resolve(host, STEP_MS.name);
      signal.throwIfAborted();
      if (!('addresses' in name)) {
        const failure = name.kind === 'unknown' ? 'unknown-name' : 'no-name-server';
        return { host, port, localAddress: null, failure, tookMs: name.tookMs };
      }
      const limits = { timeoutMs: DIAL_TIMEOUT_MS, signal, clock, addresses: name.addresses };
      const result = await reachEndpoint(toolkit.dialer, { host, port }, limits);
      const { reached, tookMs } = result;
      const localAddress = reached ? result.localAddress : null;
      return { host, port, failure: reached ? null : result.failure, tookMs, localAddress };
    });

  const chassisReached = reach('chassis', site.chassis.host, site.chassis.port);
  chassisReached.catch(() => {});
  const sockets = timed('sockets', async () => {
    const own = machine.addresses();
    // Without an address in the site file, the connection to the chassis shows which one is in the robot segment.
    const robot = robotAddresses(site, own, null) ?? robotAddresses(site, own, (await chassisReached).localAddress);
    return openSockets(machine, site, robot);
  });

  const [results, listening, chassis, devices, outside] = await Promise.all([
    Promise.all(plans.map((plan) => timed(plan.id, () => probePath(plan, names, tools)))),
    sockets,
    chassisReached,
    Promise.all(
      agreedDevices(site).map(async (device) => deviceLine(device, await reach(device.id, device.host, device.port))),
    ),
    Promise.all(
      options.from.map((host, index) =>
        timed(`from-${index + 1}`, () =>
          probeFrom(host, index + 1, { toolkit, fromSegment: options.fromSegment, sockets, signal }),
        ),
      ),
    ),
  ]);
  signal.throwIfAborted();
  // After the probes, which must not meet the moves of the link.
  const isHeld = hasMqtt && (await mqttBlocked) !== null;
  const proven = isHeld
    ? await timed('running-link', () => provenByRunningLink(toolkit, context, plans))
    : new Map<string, PathOutcome>();

  const lines = [
    ...identityLine(site, identity, clock.wall()),
    ...uniqueNames(results.flatMap((path) => pathLines(path, proven.get(path.plan.id)))),
    ...missingPlans(site, identity),
    ...regionLines(site, identity.kind === 'enrolled' ? identity.endpoint : undefined),
    ...(results.length > 0 ? sharedLines(results) : []),
    ...socketLines(listening),
    ...addressLines(site, machine.addresses()),
    chassisLine(chassis),
    ...devices,
    configuredOnlyLine(site),
    ...(outside.length > 0 ? outside.flat() : [outsideNotCheckedLine('no second host given (--probe-from)')]),
  ];
  const section = (name: NetworkLine['section']) => conclude(lines.filter((line) => line.section === name));
  const count = (verdict: NetworkLine['verdict'], of = lines) => of.filter((line) => line.verdict === verdict).length;
  const needed = lines.filter(({ need }) => need === 'needed');
  return {
    verdict: conclude(lines),
    sections: { outward: section('outward'), inward: section('inward'), segment: section('segment') },
    lines,
    paths: results.map(pathView),
    sockets: listening,
    counts: {
      ok: count('ok'),
      wrong: count('wrong', needed),
      optionalWrong: count('wrong') - count('wrong', needed),
      notChecked: count('not-checked'),
    },
    checks,
    tookMs: Math.round(clock.monotonicMs() - beganMs),
  };
}

/**
 * Kernel information about one open connection of this machine, by `ss` of iproute2, which needs no privilege; Node has no
 * API for it. Null without `ss`, or without a path MTU in its output.
 */
async function readConnectionInfo(localPort: number): Promise<ConnectionInfo | null> {
  const args = ['--tcp', '--info', '--numeric', '--no-header', 'sport', '=', `:${localPort}`];
  const output = await runSystemProgram('ss', args, TIMEOUT_MS).catch(() => null);
  const info = output === null ? null : parseConnectionInfo(output);
  return info === null || info.pathMtuBytes === null ? null : info;
}

/**
 * Why MQTT CONNECT must not be sent: the client identifier is the serial number, so a second connection would displace the
 * cloud link of a running gateway. Null when no gateway runs.
 */
async function displacedLinkReason(toolkit: Toolkit, context: CheckContext): Promise<string | null> {
  const { site, clock, dialer } = toolkit;
  const endpoint = { host: '127.0.0.1', port: site.operator.port };
  const beganMs = clock.monotonicMs();
  const reach = await reachEndpoint(dialer, endpoint, { timeoutMs: HEALTH_MS, signal: context.signal, clock });
  if (!reach.reached) return reach.failure === 'refused' ? null : unknownLink(site.operator.port);
  const left = Math.ceil(Math.max(1, HEALTH_MS - (clock.monotonicMs() - beganMs)));
  const signal = withDeadline(context.signal, left);
  try {
    const { services } = await readGatewayHealth(toolkit, {}, { ...context, signal });
    const link = services.find(
      ({ name, status }) => /^(cloud|mqtt)/.test(name) && !['stopped', 'waiting'].includes(status),
    );
    return link === undefined
      ? null
      : `gw serve holds the cloud link of this device (${link.name}: ${link.detail}); a second connection with its client identifier would displace it`;
  } catch {
    context.signal.throwIfAborted();
    return unknownLink(site.operator.port);
  }
}

function unknownLink(port: number): string {
  return `a program on port ${port} of this machine does not report whether the cloud link runs; a second connection with its client identifier would displace it`;
}

async function openSockets(machine: Machine, site: Site, robot: RobotAddresses): Promise<NetworkSocket[] | null> {
  try {
    return judgeSockets(await machine.openSockets(), site, robot);
  } catch (error) {
    if (error instanceof GwError) return null;
    throw error;
  }
}

function pathView({ plan, name, dial, tls, info, tookMs }: PathResult<PlannedPath>): NetworkPath {
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

/**
 * The lines of one path: name, TCP, TLS, ALPN where one is offered, and the application protocol. `provenMqtt`: the
 * result of the running gateway, in place of a CONNECT that would displace it.
 */
function pathLines(path: PathResult<PlannedPath>, provenMqtt?: PathOutcome): NetworkLine[] {
  const { plan } = path;
  const { id, title, need, spec, port } = plan;
  const line = (what: string, claim: string, outcome: Outcome) =>
    networkLine('outward', `${id}.${what}`, `${title}: ${claim}`, {
      ...{ need, spec, tried: formatEndpoint(plan) },
      ...outcome,
    });
  return [
    line('name', 'name resolves', nameOutcome(path)),
    line('tcp', `TCP ${port} connects`, tcpOutcome(path)),
    line('tls', 'TLS is not intercepted', tlsOutcome(path)),
    ...(plan.alpn === null ? [] : [line('alpn', `ALPN ${plan.alpn} is selected`, alpnOutcome(path, plan.alpn))]),
    ...(plan.application === 'mqtt' ? [line('mqtt', 'MQTT CONNECT is accepted', provenMqtt ?? mqttOutcome(path))] : []),
    ...(plan.application === 'https' ? [line('https', 'HTTPS responds', httpsOutcome(path))] : []),
  ];
}

/** Several paths to one host share its name line; the first one is kept. */
function uniqueNames(lines: readonly NetworkLine[]): NetworkLine[] {
  const seen = new Set<string>();
  return lines.filter(({ id, tried }) => {
    if (!id.endsWith('.name') || tried === null) return true;
    const host = tried.slice(0, tried.lastIndexOf(':'));
    if (seen.has(host)) return false;
    seen.add(host);
    return true;
  });
}
