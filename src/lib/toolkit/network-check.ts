import { readFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { GwError } from '../error/index.ts';
import { type Dialer, reachEndpoint } from '../net/index.ts';
import { type ConnectionInfo, certificatesOf, type OwnedSocket, readOpenSockets } from '../net/probe/index.ts';
import type { Site } from '../site/index.ts';
import { readGatewayHealth } from './gateway-health.ts';
import type { NetworkCheck, NetworkLine, NetworkPath, NetworkSocket, NetworkVerdict } from './network-check.result.ts';
import { identityLine, type KnownIdentity, readKnownIdentity } from './network-check-identity.ts';
import { pathLines, sharedLines } from './network-check-lines.ts';
import { readConnectionInfo } from './network-check-mtu.ts';
import { lookUpName } from './network-check-names.ts';
import {
  createNameBook,
  createTurns,
  type GonePath,
  gonePath,
  type NameLookup,
  type PathPlan,
  type PathTools,
  STEP_MS,
} from './network-check-paths.ts';
import {
  addressLines,
  chassisLine,
  type Dialled,
  deviceLine,
  type FromSegment,
  noOutsideLine,
  outsideDials,
  outsideLine,
} from './network-check-segment.ts';
import { judgeSockets, socketLines } from './network-check-sockets.ts';
import type { CheckContext, Toolkit } from './toolkit.ts';

/** Another machine from which the robot is knocked at. */
export interface SecondHost {
  /** As the person named it: `technician@198.51.100.20`. */
  readonly name: string;
  /**
   * Runs work that dials from there, and lets the machine go afterwards. Throws a GwError when it cannot be used, also
   * when the way to it was lost meanwhile: what did not answer over a dead line was not knocked at.
   */
  use<T>(signal: AbortSignal, work: (dialer: Dialer, signal: AbortSignal) => Promise<T>): Promise<T>;
}

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

const REACH_MS = 4_000;
/** Together with the dial before it; a gateway that runs answers on loopback at once. */
const HEALTH_MS = 1_500;
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
  const sockets = timed('sockets', async () => openSockets(machine, site));
  const reach = (id: string, host: string, port: number): Promise<Dialled> =>
    timed(id, async () => {
      const { kind, ...name } = await names.resolve(host, STEP_MS.name);
      signal.throwIfAborted();
      if (kind === 'unknown' || kind === 'no-answer') {
        return { host, port, failure: 'unknown-name', tookMs: 'tookMs' in name ? name.tookMs : 0 };
      }
      const result = await reachEndpoint(toolkit.dialer, { host, port }, { timeoutMs: REACH_MS, signal, clock });
      return { host, port, failure: result.reached ? null : result.failure, tookMs: result.tookMs };
    });

  const [gone, listening, chassis, devices, outside] = await Promise.all([
    Promise.all(plans.map((plan) => timed(plan.id, () => gonePath(plan, names, tools)))),
    sockets,
    reach('chassis', site.chassis.host, site.chassis.port),
    Promise.all(
      agreedDevices(site).map(async (device) => deviceLine(device, await reach(device.id, device.host, device.port))),
    ),
    Promise.all(
      options.from.map((host, index) =>
        timed(`from-${index + 1}`, () => knockFrom(host, index + 1, { toolkit, options, sockets, signal })),
      ),
    ),
  ]);
  signal.throwIfAborted();

  const lines = [
    ...identityLine(site, identity),
    ...uniqueNames(gone.flatMap(pathLines)),
    ...missingPlans(site),
    ...(gone.length > 0 ? sharedLines(gone) : []),
    ...socketLines(listening),
    ...addressLines(site, machine.addresses()),
    chassisLine(chassis),
    ...devices,
    ...(outside.length > 0
      ? outside.flat()
      : [noOutsideLine({ detail: 'nobody knocked from another machine: no --from was given' })]),
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

/** The ways out that the site file names, those that must work first. */
async function pathPlans({ cloud, enrolment }: Site, identity: KnownIdentity): Promise<PathPlan[]> {
  const plans: PathPlan[] = [];
  const credentials = identity.kind === 'enrolled' ? identity.credentials : null;
  const plain = { credentials: null, alpn: null } as const;
  if (cloud !== undefined) {
    const { mqtt, storageUrl, tunnel } = cloud;
    const mqttCa = await caOf(mqtt.caFile, 'cloud.mqtt.caFile');
    const broker = {
      host: mqtt.host,
      trusted: mqttCa ?? (identity.kind === 'enrolled' ? identity.credentials.caPem : null),
      credentials,
      speaks: 'mqtt',
      spec: 'Cloud and other network paths',
    } as const;
    plans.push({
      ...broker,
      id: 'mqtt-fallback',
      title: `MQTT broker on ${mqtt.fallbackPort}`,
      port: mqtt.fallbackPort,
      need: 'needed',
      alpn: mqtt.alpn,
    });
    if (mqtt.port !== mqtt.fallbackPort) {
      plans.push({
        ...broker,
        id: 'mqtt-direct',
        title: `MQTT broker on ${mqtt.port}`,
        port: mqtt.port,
        need: 'optional',
        alpn: null,
      });
    }
    const trusted = (await caOf(cloud.caFile, 'cloud.caFile')) ?? 'system';
    if (storageUrl !== undefined) {
      plans.push({
        ...plain,
        ...endpointOf(storageUrl),
        id: 'storage',
        title: 'Object storage',
        need: 'needed',
        trusted,
        speaks: 'https',
        spec: 'Cloud and other network paths',
      });
    }
    if (tunnel !== undefined) {
      plans.push({
        ...plain,
        host: tunnel.host,
        port: tunnel.port,
        id: 'tunnel',
        title: 'Tunnel of remote support',
        need: 'needed',
        trusted,
        speaks: 'tls',
        spec: 'Cloud and other network paths',
      });
    }
  }
  if (enrolment !== undefined) {
    plans.push({
      ...plain,
      ...endpointOf(enrolment.url),
      id: 'enrolment',
      title: 'Enrolment endpoint',
      // It is spoken to once, before delivery; a device that has its certificate does without.
      need: identity.kind === 'enrolled' ? 'optional' : 'needed',
      trusted: (await caOf(enrolment.caFile, 'enrolment.caFile')) ?? 'system',
      speaks: 'https',
      spec: 'Enrolment',
    });
  }
  return plans;
}

function endpointOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? 443 : Number(port) };
}

async function caOf(path: string | undefined, key: string): Promise<string | null> {
  if (path === undefined) return null;
  const refuse = (why: string, cause?: unknown) =>
    new GwError('SITE_FILE_INVALID', `${path} (${key}) ${why}.`, {
      remedy: 'Put the certificates (PEM) of the operator there.',
      cause,
    });
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw refuse(`cannot be read (${cause.code})`, cause);
  });
  if (certificatesOf(text) === null) throw refuse('holds no certificate that can be read');
  return text;
}

/** What the site file does not name cannot be looked at, and that is said. */
function missingPlans({ cloud, enrolment }: Site): NetworkLine[] {
  const line = (id: string, title: string, need: NetworkLine['need'], key: string): NetworkLine => ({
    id,
    title,
    section: 'outward',
    need,
    tried: null,
    spec: 'Cloud and other network paths',
    verdict: 'not-checked',
    detail: `${key} does not stand in the site file`,
    remedy: `Add ${key} to the site file.`,
    ask: null,
  });
  return [
    ...(cloud === undefined ? [line('mqtt', 'The MQTT broker is reached', 'needed', 'cloud')] : []),
    ...(cloud !== undefined && cloud.storageUrl === undefined
      ? [line('storage', 'The object storage is reached', 'needed', 'cloud.storageUrl')]
      : []),
    ...(cloud !== undefined && cloud.tunnel === undefined
      ? [line('tunnel', 'The tunnel of remote support is reached', 'needed', 'cloud.tunnel')]
      : []),
    ...(enrolment === undefined
      ? [line('enrolment', 'The enrolment endpoint is reached', 'optional', 'enrolment')]
      : []),
  ];
}

/** Two ways to one host share its name; the line is told once, with the way that is needed most. */
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

/** Doors, lifts and other devices that the site file names, with the services that the operator server forwards to. */
function agreedDevices({ network, operator }: Site): { id: string; name: string; host: string; port: number }[] {
  const services = [
    { id: 'building', name: 'the building module', url: operator.building?.url },
    { id: 'voice', name: 'the voice service', url: operator.voice?.url },
  ].flatMap(({ id, name, url }) => {
    if (url === undefined) return [];
    const { hostname, port, protocol } = new URL(url);
    const host = hostname.replace(/^\[|\]$/g, '');
    return [{ id, name, host, port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port) }];
  });
  return [
    ...network.devices.map(({ name, host, port }, index) => ({ id: `device-${index + 1}`, name, host, port })),
    ...services,
  ];
}

async function openSockets(machine: Machine, site: Site): Promise<NetworkSocket[] | null> {
  try {
    return judgeSockets(await machine.openSockets(), site);
  } catch (error) {
    if (error instanceof GwError) return null;
    throw error;
  }
}

interface KnockOptions {
  readonly toolkit: Toolkit;
  readonly options: NetworkCheckOptions;
  readonly sockets: Promise<NetworkSocket[] | null>;
  readonly signal: AbortSignal;
}

async function knockFrom(
  host: SecondHost,
  index: number,
  { toolkit, options, sockets, signal: whole }: KnockOptions,
): Promise<NetworkLine[]> {
  const { site, clock } = toolkit;
  const knock = async (dialer: Dialer, signal: AbortSignal): Promise<NetworkLine[]> => {
    const dials = outsideDials(site, (await sockets) ?? [], options.fromSegment);
    if (dials.length === 0) {
      return [
        noOutsideLine({
          from: host.name,
          index,
          detail: 'the site file names no address of this robot that others could reach; network.gateway is missing',
        }),
      ];
    }
    const lines = await Promise.all(
      dials.map(async (plan) => {
        const reach = await reachEndpoint(dialer, plan, { timeoutMs: REACH_MS, signal, clock });
        return outsideLine(host.name, index, plan, reach.reached ? null : reach.failure);
      }),
    );
    const gateway = site.network.gateway;
    if (gateway !== undefined) return lines;
    return [
      ...lines,
      noOutsideLine({
        from: host.name,
        index,
        detail: 'the gateway was not knocked at: network.gateway does not stand in the site file',
      }),
    ];
  };
  try {
    return await host.use(whole, knock);
  } catch (error) {
    whole.throwIfAborted();
    if (!(error instanceof GwError)) throw error;
    return [noOutsideLine({ from: host.name, index, detail: `it could not be used: ${error.message}` })];
  }
}

/**
 * Why the handshake must not be tried: the client id is the serial number, so that a second connection displaces a
 * cloud link of the gateway that runs. Null when none does.
 */
async function holdBackReason(toolkit: Toolkit, context: CheckContext): Promise<string | null> {
  const { site, clock, dialer } = toolkit;
  const endpoint = { host: '127.0.0.1', port: site.operator.port };
  const beganMs = clock.monotonicMs();
  const reach = await reachEndpoint(dialer, endpoint, { timeoutMs: HEALTH_MS, signal: context.signal, clock });
  if (!reach.reached) return reach.failure === 'refused' ? null : unknownLink(site.operator.port);
  const left = Math.ceil(Math.max(1, HEALTH_MS - (clock.monotonicMs() - beganMs)));
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(left)]);
  try {
    const { services } = await readGatewayHealth(toolkit, {}, { ...context, signal });
    const link = services.find(
      ({ name, status }) => /^(cloud|mqtt)/.test(name) && !['stopped', 'waiting'].includes(status),
    );
    return link === undefined
      ? null
      : `gw serve holds the cloud link of this device (${link.name}: ${link.detail}), and a second connection with its client id would displace it`;
  } catch {
    context.signal.throwIfAborted();
    return unknownLink(site.operator.port);
  }
}

function unknownLink(port: number): string {
  return `something has port ${port} of this machine and does not say whether the cloud link runs; a second connection with its client id would displace it`;
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
        ? { protocol: tls.protocol, alpn: tls.alpn, trust: tls.trust.kind, chain: [...tls.chain] }
        : null,
    pathMtuBytes: info?.pathMtuBytes ?? null,
    tookMs,
  };
}
