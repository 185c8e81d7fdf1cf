import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFile, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { renderNetworkCheck } from '../../../src/cli/render/network.ts';
import { GwError } from '../../../src/lib/error/index.ts';
import { DialError, type Dialer, directDialer, type Endpoint } from '../../../src/lib/net/index.ts';
import type { FaultName } from '../../../src/lib/sim/faults.ts';
import type { Site } from '../../../src/lib/site/index.ts';
import {
  checkNetwork,
  type Machine,
  type NetworkCheckOptions,
  type SecondHost,
} from '../../../src/lib/toolkit/network/check.ts';
import { networkCheckSchema } from '../../../src/lib/toolkit/network/network.result.ts';
import { freePort } from '../../free-port.ts';
import { until } from '../../waiting.ts';
import { context, has, httpServer, ownFolder, sharedFolder, verdictsOf } from '../kit.ts';
import { buildWorld, checkSegment, lineOf, machineOf, openPort, recordingDialer, type World } from './world.ts';

interface Given extends Partial<NetworkCheckOptions> {
  readonly site?: Site;
  readonly wall?: () => Date;
  readonly signal?: AbortSignal;
}

const dir = sharedFolder();
let world: World;
beforeAll(async () => {
  world = await buildWorld(dir);
});
afterAll(() => world[Symbol.asyncDispose]());
afterEach(async () => {
  world.requests.dialled.length = 0;
  for (const name of faults.splice(0)) {
    world.faults.set(name, false);
    await world.cloud.applyFault(name, false);
  }
});

const faults: FaultName[] = [];
async function set(name: FaultName) {
  faults.push(name);
  world.faults.set(name, true);
  await world.cloud.applyFault(name, true);
}

const check = ({ site, wall, signal, ...options }: Given = {}, of = world) =>
  checkNetwork(
    {
      site: site ?? of.site,
      dialer: recordingDialer(of.requests),
      clock: { ...of.clock, wall: wall ?? of.clock.wall },
    },
    { timeoutMs: 5_000, from: [], fromSegment: 'site', machine: machineOf(of.requests), ...options },
    { ...context(), ...(signal && { signal }) },
  );
/** The site of this world with another broker. */
const withMqtt = ({ site }: World, mqtt: object) => ({ ...site, cloud: { ...site.cloud, mqtt } }) as Site;

describe('the network check, outward', () => {
  it('passes on a correct network, disconnects cleanly, and keeps the session of the device', async () => {
    const result = await check();
    expect(networkCheckSchema.parse(result)).toEqual(result);
    expect(result.sections.outward).toBe('ok');
    expect(result.lines.filter(({ verdict }) => verdict === 'wrong')).toEqual([]);
    expect(lineOf(result, 'tls-inspection').verdict).toBe('ok');
    const clients = world.cloud.broker.clients().toSorted((a, b) => Number(a.byAlpn) - Number(b.byAlpn));
    expect(clients).toEqual([false, true].map((byAlpn) => ({ clientId: 'SN0001', clean: false, byAlpn })));
    expect(world.cloud.broker.connected()).toBe(0);
  });

  it('dials and resolves only hosts of the site file and this machine', async () => {
    await using building = await openPort();
    await using device = await openPort();
    const yaml = `network: { devices: [{ name: Lift A, kind: lift, host: localhost, port: ${device.port} }] }\n`;
    await using named = await buildWorld(ownFolder(), { yaml });
    const site = {
      ...named.site,
      operator: { ...named.site.operator, building: { url: `http://localhost:${building.port}` } },
    };
    const { mqtt, storageUrl, tunnel } = named.cloud.places;
    const byName = withMqtt({ ...named, site }, { ...mqtt, host: 'localhost' });
    const attempts = new Set<string>();
    const note = (message: unknown) => {
      const { socket } = message as { readonly socket: Socket };
      socket.on('connectionAttempt', (address: string, port: number) => attempts.add(`${address}:${port}`));
    };
    // Every TCP socket that this process opens, in any library.
    subscribe('net.client.socket', note);
    const result = await check({ site: byName }, named);
    unsubscribe('net.client.socket', note);
    const places = named.requests.dialled.map((place) => place.replace('localhost', '127.0.0.1'));
    expect([...attempts].filter((place) => !place.startsWith('::1:')).sort()).toEqual([...new Set(places)].sort());
    // A query for each family.
    expect(named.requests.resolved).toEqual(['localhost', 'localhost']);
    expect(named.requests.dialled.sort()).toEqual(
      [
        `localhost:${mqtt.port}`,
        `localhost:${mqtt.fallbackPort}`,
        new URL(storageUrl).host,
        // The enrolment endpoint of this site file is the same host.
        new URL(storageUrl).host,
        `${tunnel.host}:${tunnel.port}`,
        `127.0.0.1:${named.chassisPort}`,
        `127.0.0.1:${site.operator.port}`,
        `localhost:${device.port}`,
        `localhost:${building.port}`,
      ].sort(),
    );
    expect(verdictsOf(result.lines)).toMatchObject({
      'mqtt-fallback.name': 'ok',
      'segment.device-1': 'ok',
      'segment.building': 'ok',
      'segment.chassis': 'ok',
    });
  });

  it('asks the IT for nothing where a service on this gateway itself does not listen', async () => {
    const port = await freePort();
    const yaml = `network: { devices: [{ name: Door, kind: door, host: 127.0.0.1, port: ${port} }] }\n`;
    await using named = await buildWorld(ownFolder(), { yaml });
    const line = lineOf(await check({}, named), 'segment.device-1');
    expect(line).toMatchObject({ verdict: 'wrong', title: 'The gateway reaches Door, on this gateway', ask: null });
    expect(line.remedy).toContain('Start the service');
  });

  it.each<[FaultName, string, string[]]>([
    // 443 alone is enough; 8883 is an alternative.
    ['cloud-direct-closed', 'not-checked', ['mqtt-direct.tcp']],
    ['cloud-not-allowed', 'wrong', ['mqtt-fallback.mqtt', 'mqtt-direct.mqtt']],
    ['cloud-clock-off', 'wrong', ['clock']],
  ])('finds %s', async (fault, verdict, wrong) => {
    await set(fault);
    const result = await check();
    expect(result.verdict).toBe(verdict);
    expect(result.lines.filter((line) => line.verdict === 'wrong').map(({ id }) => id)).toEqual(wrong);
  });

  it('passes TLS interception only when every needed chain was verified, as none behind a rejected ALPN', async () => {
    await set('cloud-alpn-refused');
    const result = await check();
    expect(result.verdict).toBe('wrong');
    expect(result.lines.filter(({ verdict }) => verdict === 'wrong').map(({ id }) => id)).toEqual([
      'mqtt-fallback.alpn',
    ]);
    const { host, fallbackPort } = world.cloud.places.mqtt;
    expect(lineOf(result, 'tls-inspection')).toMatchObject({
      verdict: 'not-checked',
      detail: has(`unknown for ${host}:${fallbackPort}`),
    });
  });

  it('fails the certificate of another robot, and connects with none', async () => {
    const chassis = { ...world.site.chassis, serial: 'SN0099' };
    const result = await check({ site: { ...world.site, chassis } });
    expect(lineOf(result, 'identity')).toMatchObject({ verdict: 'wrong', detail: has('The identity is that of') });
    expect(verdictsOf(result.lines)['mqtt-fallback.mqtt']).not.toBe('ok');
  });

  it('fails an expired certificate of this device', async () => {
    const result = await check({ wall: () => new Date('2199-01-01T00:00:00Z') });
    expect(lineOf(result, 'identity')).toMatchObject({ verdict: 'wrong', detail: has('expired ') });
  });

  it('reports a broker that never answers CONNECT, and no storage where none is named', async () => {
    await set('cloud-no-connack');
    const { storageUrl: _, ...cloud } = world.site.cloud ?? {};
    const result = await check({ timeoutMs: 1_000, site: { ...world.site, cloud } as Site });
    expect(verdictsOf(result.lines)).toMatchObject({
      ...{ 'mqtt-fallback.tcp': 'ok', 'mqtt-fallback.tls': 'ok', 'mqtt-fallback.alpn': 'ok' },
      ...{ 'mqtt-fallback.mqtt': 'wrong', storage: 'not-checked' },
    });
    expect(lineOf(result, 'mqtt-fallback.mqtt').detail).toMatch(/^TLS established, no CONNACK received within \d+ ms$/);
  });

  it('names the issuer of a TLS-inspecting proxy, sends it no data of this device, and requests an exemption', async () => {
    const before = world.cloud.broker.clients().length;
    await set('cloud-inspected');
    const result = await check();
    expect(lineOf(result, 'tls-inspection')).toMatchObject({
      verdict: 'wrong',
      detail: has("'CN=Simulated TLS inspection CA'"),
      ask: has('from TLS inspection'),
    });
    expect(lineOf(result, 'mqtt-fallback.mqtt')).toMatchObject({ verdict: 'not-checked' });
    expect(world.cloud.broker.clients()).toHaveLength(before);
    expect(result.paths.every(({ tls }) => tls?.trust === 'untrusted')).toBe(true);
    const text = renderNetworkCheck(result);
    expect(text.split('\n')[0]).toContain("issued by 'CN=Simulated TLS inspection CA'");
    expect(text.match(/from TLS inspection/g)).toHaveLength(1);
  });

  it('times out on silent peers, each path on its own', async () => {
    await set('cloud-silent');
    const result = await check({ timeoutMs: 400 });
    for (const id of ['mqtt-fallback', 'mqtt-direct', 'storage', 'tunnel', 'enrolment']) {
      expect(lineOf(result, `${id}.tcp`).verdict).toBe('ok');
      expect(lineOf(result, `${id}.tls`).detail).toMatch(/^TCP connected, no answer to the ClientHello within/);
    }
    // In parallel: the sum of the waits exceeds the total.
    expect(result.tookMs).toBeLessThan(result.checks.reduce((sum, { tookMs }) => sum + tookMs, 0));
  });

  it('checks the broker of the enrolment when the site file names none, and says that it is not known before', async () => {
    const withoutHost = (of: World) => {
      const { host: _host, ...mqtt } = of.site.cloud?.mqtt ?? {};
      return check({ site: withMqtt(of, mqtt) }, of);
    };
    expect(verdictsOf((await withoutHost(world)).lines)).toMatchObject({ 'mqtt-direct.mqtt': 'ok', identity: 'ok' });
    await using unenrolled = await buildWorld(ownFolder(), { enrolled: false });
    const before = await withoutHost(unenrolled);
    expect(lineOf(before, 'mqtt')).toMatchObject({
      verdict: 'not-checked',
      need: 'needed',
      detail: 'its host is known after the enrolment: cloud.mqtt.host is not in the site file',
    });
    expect(before.verdict).not.toBe('ok');
  });

  it('does not try MQTT without enrolment, and reports not-checked', async () => {
    await using unenrolled = await buildWorld(ownFolder(), { enrolled: false });
    const result = await check({}, unenrolled);
    expect(result.sections.outward).toBe('not-checked');
    expect(verdictsOf(result.lines)).toMatchObject({
      ...{ identity: 'not-checked', 'mqtt-fallback.tls': 'not-checked', 'mqtt-fallback.alpn': 'ok' },
      ...{ 'mqtt-fallback.mqtt': 'not-checked', 'storage.tls': 'ok' },
    });
    // Before enrolment the enrolment endpoint is required.
    expect(lineOf(result, 'enrolment.tcp').need).toBe('needed');
    expect(unenrolled.cloud.broker.clients()).toEqual([]);
  });

  it('reports an unknown name, and tries no further step', async () => {
    const lookup = () => Promise.reject(Object.assign(new Error('ENOTFOUND'), { code: 'ENOTFOUND' }));
    const site = withMqtt(world, { ...world.cloud.places.mqtt, host: 'broker.example' });
    const result = await check({ site, timeoutMs: 2_000, machine: machineOf(world.requests, { lookup }) });
    expect(lineOf(result, 'mqtt-fallback.name')).toMatchObject({
      verdict: 'wrong',
      detail: 'no address for broker.example: unknown name, or no name server reachable',
    });
    // It was enrolled for another host than that of the site file.
    expect(verdictsOf(result.lines)).toMatchObject({ 'mqtt-fallback.tcp': 'not-checked', identity: 'wrong' });
    // One name, one finding, whatever the paths.
    expect(result.lines.filter(({ id }) => id.startsWith('mqtt') && id.endsWith('.name'))).toHaveLength(1);
    expect(world.requests.dialled.some((place) => place.startsWith('broker.example'))).toBe(false);
  });

  it('does not fail for one lost query, and says which query is never answered', async () => {
    const site = withMqtt(world, { ...world.cloud.places.mqtt, host: 'broker.example' });
    const seen = new Set<string>();
    const lookup: Machine['lookup'] = (host, record) => {
      if (record === 'AAAA') return new Promise(() => {});
      const isFirst = !seen.has(host);
      seen.add(host);
      return isFirst ? new Promise(() => {}) : Promise.resolve([{ address: '127.0.0.1' }]);
    };
    const machine = machineOf(world.requests, { lookup });
    const result = await check({ site, timeoutMs: 10_000, machine });
    expect(lineOf(result, 'mqtt-fallback.name')).toMatchObject({
      verdict: 'ok',
      detail: expect.stringMatching(/ is 127\.0\.0\.1 \(\d+ ms\); the name server answers A \(IPv4\) but not AAAA/),
    });
    expect(lineOf(result, 'mqtt-fallback.tcp').verdict).toBe('ok');
  });

  it('names the name server, and neither the chassis nor a firewall, when the name of the chassis is not answered', async () => {
    const site = { ...world.site, chassis: { ...world.site.chassis, host: 'robot.example' } };
    const lookup: Machine['lookup'] = () => new Promise(() => {});
    const line = lineOf(await check({ site, machine: machineOf(world.requests, { lookup }) }), 'segment.chassis');
    expect(line).toMatchObject({ verdict: 'wrong', detail: expect.stringContaining('no name server answered') });
    expect(`${line.remedy} ${line.ask}`).not.toMatch(/power|isolation/);
  });

  it('does not displace the cloud link of a running gateway, also of one that does not report its link', async () => {
    const services = [
      { name: 'cloud', status: 'running', restarts: 0, lastError: null, remedy: null, detail: 'connected' },
    ];
    const evidence = { status: 'as-read', detail: 'no records', revoked: [], waiting: [] };
    const folder = { path: '/x', status: 'ok', freeBytes: 1, totalBytes: 2, detail: 'x', remedy: null };
    const disk = { state: folder, media: folder };
    const log = { status: 'writing', droppedLines: 0, detail: 'The log is being written.' };
    const cloud = { status: 'connected', detail: 'connected' };
    const support = { status: 'not-configured', records: 'not-checked', detail: 'No cloud is configured.' };
    const health = { status: 'ok', version: '1', upForMs: 1, services, evidence, disk, cloud, support, log };
    let body: string | undefined = JSON.stringify(health);
    await using gateway = await httpServer((_, response) => (body === undefined ? undefined : response.end(body)));
    const site = { ...world.site, operator: { ...world.site.operator, port: gateway.port } };
    const before = world.cloud.broker.clients().length;
    const mqttLine = async () => lineOf(await check({ site }), 'mqtt-fallback.mqtt');
    const held = await mqttLine();
    expect(held.verdict).toBe('not-checked');
    expect(held.detail).toContain('would displace it');
    body = undefined;
    expect((await mqttLine()).verdict).toBe('not-checked');
    expect(world.cloud.broker.clients()).toHaveLength(before);
    body = JSON.stringify({ ...health, services: [{ ...services[0], name: 'chassis' }] });
    expect((await mqttLine()).verdict).toBe('ok');
  });

  it('rejects a CA file without certificates', async () => {
    const caFile = join(dir, 'cloud-ca.pem');
    const pem = await readFile(caFile);
    await writeFile(caFile, 'nothing\n');
    await expect(check()).rejects.toMatchObject({ code: 'SITE_FILE_INVALID' });
    await writeFile(caFile, pem);
  });

  it('fails a path MTU below 1280 bytes', async () => {
    const mtu = async (info: { pathMtuBytes: number } | null) =>
      lineOf(await check({ machine: machineOf(world.requests, { connectionInfo: async () => info }) }), 'mtu');
    expect(await mtu({ pathMtuBytes: 1_000 })).toMatchObject({ verdict: 'wrong', ask: has('ICMP') });
    const unknown = { verdict: 'ok', detail: has('not reported by the kernel') };
    expect(await mtu(null)).toMatchObject(unknown);
  });

  it('is interrupted at once', async () => {
    await set('cloud-silent');
    const abort = new AbortController();
    const running = check({ timeoutMs: 30_000, signal: abort.signal });
    await until(
      () => world.requests.dialled.length,
      (count) => count > 0,
    );
    abort.abort(new GwError('INTERRUPTED', 'Interrupted.'));
    await expect(running).rejects.toMatchObject({ code: 'INTERRUPTED' });
  });
});

describe('the network check, from a second host', () => {
  let open: Awaited<ReturnType<typeof openPort>>;
  beforeAll(async () => {
    open = await openPort();
  });
  afterAll(() => open[Symbol.asyncDispose]());

  /** A host that reaches these ports of the gateway, whatever the address. */
  function hostThatReaches(ports: readonly number[], used: string[] = [], near = '198.51.100.20') {
    const host = {
      name: `technician@${near}`,
      closed: false,
      async use<T>(signal: AbortSignal, work: (dialer: Dialer, signal: AbortSignal, near: Endpoint) => Promise<T>) {
        const dialer = {
          way: `via technician@${near}`,
          async dial({ host: to, port }: Endpoint) {
            used.push(`${to}:${port}`);
            if (!ports.includes(port)) throw new DialError('no-answer', { address: to, port });
            return directDialer.dial({ host: '127.0.0.1', port: open.port }, { timeoutMs: 1_000 });
          },
        };
        return await work(dialer, signal, { host: near, port: 22 }).finally(() => {
          host.closed = true;
        });
      },
    };
    return host;
  }
  const yaml = 'network: { robotSegment: 192.0.2.0/28, gateway: 192.0.2.2 }\n';
  const checkFrom = (from: readonly SecondHost[] = [], options: Partial<NetworkCheckOptions> = {}, more = yaml) =>
    checkSegment(ownFolder(), more, { from, ...options });

  it('fails every port that is reachable from the customer network', async () => {
    const used: string[] = [];
    const host = hostThatReaches([22, 8090], used);
    const metrics = { protocol: 'tcp', family: 'ipv4', address: '0.0.0.0', port: 9100, inode: 1, owners: [] } as const;
    const machine = machineOf({ dialled: [], resolved: [] }, { sockets: [metrics] });
    const result = await checkFrom([host], { machine });
    expect(host.closed).toBe(true);
    expect(used.sort()).toEqual([1, 22, 5174, 8090, 9100].map((port) => `192.0.2.2:${port}`).sort());
    expect(verdictsOf(result.lines)).toMatchObject({
      ...{ 'segment.from-1.gateway-22': 'wrong', 'segment.from-1.gateway-8090': 'wrong' },
      ...{ 'segment.from-1.gateway-5174': 'ok', 'segment.from-1.gateway-9100': 'ok' },
    });
    expect(result.sections.segment).toBe('wrong');
  });

  it('allows SSH and the operator server in the robot segment, the read-only socket never', async () => {
    const result = await checkFrom([hostThatReaches([22, 5174, 1])], { fromSegment: 'robot' });
    expect(verdictsOf(result.lines)).toMatchObject({
      ...{
        'segment.from-1.gateway-22': 'ok',
        'segment.from-1.gateway-1': 'ok',
        'segment.from-1.gateway-5174': 'wrong',
      },
    });
  });

  it('is not-checked with a host that cannot be used, or refuses forwarding', async () => {
    const closed: SecondHost = {
      name: 'a@b',
      use: () => Promise.reject(new GwError('PEER_NOT_REACHABLE', 'not connected: nothing answered.')),
    };
    const dial = () => Promise.reject(new GwError('CHASSIS_REFUSED', 'It lets no connection through.'));
    const forbidding: SecondHost = {
      name: 'c@d',
      use: (signal, work) => work({ way: 'via c@d', dial }, signal, { host: 'd', port: 22 }),
    };
    const result = await checkFrom([closed, forbidding]);
    expect(lineOf(result, 'segment.from-1')).toMatchObject({ verdict: 'not-checked' });
    expect(lineOf(result, 'segment.from-2').detail).toBe('host not usable: It lets no connection through.');
    expect(result.verdict).not.toBe('ok');
  });

  it('keeps answers when the connection is lost later', async () => {
    const reaching = hostThatReaches([22], [], '127.0.0.1');
    const lost: SecondHost = {
      name: 'a@b',
      async use(signal, work) {
        await reaching.use(signal, work);
        throw new GwError('SSH_LOST', 'The line is lost.');
      },
    };
    const { lines } = await checkFrom([lost]);
    const found = lines.filter(({ id }) => id.startsWith('segment.from-')).map(({ id, verdict }) => `${id} ${verdict}`);
    expect(found).toEqual(['segment.from-1.gateway-22 wrong', 'segment.from-1 not-checked']);
  });

  it('fails configured-only when the gateway reaches the second host, unless it is configured', async () => {
    const from = [hostThatReaches([])];
    expect(lineOf(await checkFrom(from), 'segment.from-1.configured-only')).toMatchObject({
      verdict: 'wrong',
      tried: '198.51.100.20:22',
      seenFrom: 'second-host',
    });
    // In the robot segment the host may be reached.
    const robot = await checkFrom(from, { fromSegment: 'robot' });
    expect(verdictsOf(robot.lines)['segment.from-1.configured-only']).toBeUndefined();
    const devices = 'devices: [{ name: Host of the IT, kind: other, host: 198.51.100.20, port: 1 }]';
    const agreed = await checkFrom(from, {}, yaml.replace(' }', `, ${devices} }`));
    expect(lineOf(agreed, 'segment.from-1.configured-only').verdict).toBe('ok');
  });

  it.each([
    ['no-answer', 'ok', /for this address and port only/],
    ['refused', 'wrong', /connected|does not name it/],
    ['cut', undefined, null],
    // A name server that does not answer shows nothing of the host.
    ['no-name-server', undefined, null],
  ] as const)(
    'distinguishes an unreachable host (%s) by whether packets returned',
    async (failure, verdict, detail) => {
      const tried = { address: '198.51.100.20', port: 22 };
      const cause = new DialError(failure, tried);
      const use = () => Promise.reject(new GwError('SSH_NOT_CONNECTED', 'not connected', { tried, cause }));
      const result = await checkFrom([{ name: 'a@b', use }]);
      expect(verdictsOf(result.lines)['segment.from-1.configured-only']).toBe(verdict);
      if (detail !== null) expect(lineOf(result, 'segment.from-1.configured-only').detail).toMatch(detail);
      expect(lineOf(result, 'segment.from-1').verdict).toBe('not-checked');
    },
  );

  it('never passes configured-only as a whole, and is not checked without a second host', async () => {
    const alone = await checkFrom();
    for (const result of [alone, await checkFrom([hostThatReaches([])])]) {
      const line = lineOf(result, 'segment.configured-only');
      expect(line).toMatchObject({ verdict: 'not-checked', seenFrom: 'nowhere', need: 'needed' });
      expect(line.ask).toContain('Confirm');
    }
    expect(lineOf(alone, 'segment.from')).toMatchObject({ verdict: 'not-checked' });
    expect(alone.sections.segment).not.toBe('ok');
  });
});
