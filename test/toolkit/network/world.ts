import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import type { Clock } from '../../../src/lib/lifecycle/index.ts';
import { type Dialer, directDialer } from '../../../src/lib/net/index.ts';
import type { OwnedSocket } from '../../../src/lib/net/probe/index.ts';
import { type CertificateAuthority, createCa } from '../../../src/lib/sim/cloud/certificates.ts';
import { type Cloud, startCloud } from '../../../src/lib/sim/cloud/cloud.ts';
import { createFaults } from '../../../src/lib/sim/faults.ts';
import { loadSite, type Site } from '../../../src/lib/site/index.ts';
import { checkNetwork, type Machine, type NetworkCheckOptions } from '../../../src/lib/toolkit/network/check.ts';
import type { NetworkCheck, NetworkLine } from '../../../src/lib/toolkit/network/network.result.ts';
import { freePort } from '../../free-port.ts';
import { createPacedClock } from '../../lifecycle/paced-clock.ts';
import { context, verdictsOf as idVerdicts } from '../kit.ts';

export const SERIAL = 'SN0001';

/** Network requests, in order. */
export interface NetworkRequests {
  readonly dialled: string[];
  readonly resolved: string[];
}

/** A dialer that records its targets. */
export function recordingDialer(requests: NetworkRequests, dialer: Dialer = directDialer): Dialer {
  return {
    way: dialer.way,
    dial(endpoint, options) {
      requests.dialled.push(`${endpoint.host}:${endpoint.port}`);
      return dialer.dial(endpoint, options);
    },
  };
}

/** A machine with properties set by a test. */
export function machineOf(
  requests: NetworkRequests,
  about: Partial<Machine> & { sockets?: readonly OwnedSocket[] } = {},
): Machine {
  return {
    async lookup(host) {
      requests.resolved.push(host);
      return [{ address: '127.0.0.1' }];
    },
    openSockets: async () => [...(about.sockets ?? [])],
    addresses: () => ['127.0.0.1'],
    connectionInfo: async () => ({ pathMtuBytes: 1500 }),
    ...about,
  };
}

/** A port on 127.0.0.1 that accepts connections and sends no data. */
export async function openPort(): Promise<AsyncDisposable & { readonly port: number; readonly server: Server }> {
  const sockets = new Set<{ destroy(): void }>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    server,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A port on 127.0.0.1 that was free a moment ago. */
export function closedPort(): Promise<number> {
  return freePort();
}

/** Installs an identity as an enrolment does, with a certificate of this CA. */
export async function writeIdentity(
  dir: string,
  authority: CertificateAuthority,
  serial = SERIAL,
  endpoint = '127.0.0.1',
) {
  const { keyPem, certificatePem } = await authority.issueClientPair(serial);
  await mkdir(join(dir, 'identity'), { mode: 0o700 });
  const identity = {
    format: 'gw/identity/1',
    serial,
    endpoint,
    region: 'eu-central-1',
    enrolledAt: '2026-01-31T12:00:00.000Z',
    keyPem,
    certificatePem,
    caPem: authority.caPem,
  };
  await writeFile(join(dir, 'identity', 'identity.json'), `${JSON.stringify(identity)}\n`, { mode: 0o600 });
}

export interface World extends AsyncDisposable {
  readonly dir: string;
  readonly cloud: Cloud;
  readonly faults: ReturnType<typeof createFaults>;
  readonly site: Site;
  readonly requests: NetworkRequests;
  readonly chassisPort: number;
  /** The clock of the cloud and of the check. */
  readonly clock: Clock;
  check(options?: Partial<NetworkCheckOptions>): Promise<NetworkCheck>;
}

let ca: Promise<CertificateAuthority> | undefined;
const sharedCa = () => {
  ca ??= createCa();
  return ca;
};

/** A cloud, a chassis that accepts connections, and a site file for them. */
export async function buildWorld(
  dir: string,
  about: {
    readonly enrolled?: boolean;
    readonly yaml?: string;
    readonly operatorPort?: number;
    readonly storage?: boolean;
    /** Real time where another process is involved. */
    readonly clock?: Clock;
  } = {},
): Promise<World> {
  await using undo = new AsyncDisposableStack();
  const authority = await sharedCa();
  const { clock = createPacedClock() } = about;
  let cloud: Cloud | undefined;
  const faults = createFaults((name, on) => void cloud?.applyFault(name, on));
  cloud = undo.use(await startCloud({ ca: authority, faults, clock, serial: SERIAL }));
  const chassis = undo.use(await openPort());
  if (about.enrolled !== false) await writeIdentity(dir, authority);
  await writeFile(join(dir, 'cloud-ca.pem'), authority.caPem);
  const { mqtt, storageUrl, tunnel } = cloud.places;
  const operatorPort = about.operatorPort ?? (await closedPort());
  await writeFile(
    join(dir, 'site.yaml'),
    [
      'name: test',
      `chassis: { host: 127.0.0.1, port: ${chassis.port}, serial: ${SERIAL} }`,
      `operator: { port: ${operatorPort} }`,
      'enrolment: { url: https://127.0.0.1:1, caFile: cloud-ca.pem }',
      'cloud:',
      `  mqtt: { host: ${mqtt.host}, port: ${mqtt.port}, fallbackPort: ${mqtt.fallbackPort}, alpn: ${mqtt.alpn} }`,
      ...(about.storage === false ? [] : [`  storageUrl: ${storageUrl}`]),
      `  tunnel: { host: ${tunnel.host}, port: ${tunnel.port} }`,
      '  caFile: cloud-ca.pem',
      about.yaml ?? '',
      '',
    ]
      .join('\n')
      // The enrolment endpoint is the storage here: both answer HTTPS, and the check needs no more of either.
      .replace('https://127.0.0.1:1,', `${storageUrl},`),
  );
  const site = await loadSite(join(dir, 'site.yaml'));
  const requests: NetworkRequests = { dialled: [], resolved: [] };
  const running = undo.move();
  return {
    dir,
    cloud,
    faults,
    site,
    requests: requests,
    chassisPort: chassis.port,
    clock,
    check: (options = {}) =>
      checkNetwork(
        { site, dialer: recordingDialer(requests), clock },
        { timeoutMs: 5_000, from: [], fromSegment: 'site', machine: machineOf(requests), ...options },
        context(),
      ),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** A check without a cloud, of a site file with these lines. */
export async function checkSegment(dir: string, yaml: string, options: Partial<NetworkCheckOptions> = {}) {
  await using chassis = await openPort();
  await writeFile(
    join(dir, 'site.yaml'),
    `name: test\nchassis: { host: 127.0.0.1, port: ${chassis.port}, serial: ${SERIAL} }\noperator: { port: 1 }\n${yaml}`,
  );
  const requests: NetworkRequests = { dialled: [], resolved: [] };
  return await checkNetwork(
    { site: await loadSite(join(dir, 'site.yaml')), dialer: recordingDialer(requests), clock: createPacedClock() },
    { timeoutMs: 5_000, from: [], fromSegment: 'site', machine: machineOf(requests), ...options },
    context(),
  );
}

export function lineOf({ lines }: NetworkCheck, id: string): NetworkLine {
  const line = lines.find((one) => one.id === id);
  if (line === undefined) throw new Error(`no line ${id} in ${lines.map((one) => one.id).join(', ')}`);
  return line;
}

/** `ok`, `wrong` or `not-checked` of every line by its id. */
export const verdictsOf = ({ lines }: NetworkCheck) => idVerdicts(lines);
