import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { renderNetworkCheck } from '../../../src/cli/render/network.ts';
import { GwError } from '../../../src/lib/error/index.ts';
import { DialError, type Dialer, directDialer, type Endpoint } from '../../../src/lib/net/index.ts';
import type { FaultName } from '../../../src/lib/sim/faults.ts';
import { checkNetwork, type SecondHost } from '../../../src/lib/toolkit/network/check.ts';
import { networkCheckSchema } from '../../../src/lib/toolkit/network/network.result.ts';
import { until } from '../../waiting.ts';
import { buildWorld, lineOf, machineOf, openPort, recordingDialer, verdictsOf, type World } from './world.ts';

const context = { signal: new AbortController().signal, onProgress: () => {} };
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gw-network-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function withFault(world: World, name: FaultName) {
  world.faults.set(name, true);
  await world.cloud.applyFault(name, true);
  return world.check();
}

describe('the network check, outward', () => {
  it('passes on a correct network, disconnects cleanly, and keeps the session of the device', async () => {
    await using world = await buildWorld(dir);
    const result = await world.check();
    expect(networkCheckSchema.parse(result)).toEqual(result);
    expect(result.sections.outward).toBe('ok');
    expect(result.lines.filter(({ verdict }) => verdict === 'wrong')).toEqual([]);
    expect(world.cloud.broker.clients()).toEqual([
      { clientId: 'SN0001', clean: false, byAlpn: expect.any(Boolean) },
      { clientId: 'SN0001', clean: false, byAlpn: expect.any(Boolean) },
    ]);
    expect(
      world.cloud.broker
        .clients()
        .map(({ byAlpn }) => byAlpn)
        .sort(),
    ).toEqual([false, true]);
    expect(world.cloud.broker.connected()).toBe(0);
  });

  it('dials and resolves only hosts of the site file and this machine', async () => {
    await using building = await openPort();
    await using device = await openPort();
    const yaml = [
      `network: { devices: [{ name: Lift A, kind: lift, host: localhost, port: ${device.port} }] }`,
      '',
    ].join('\n');
    await using world = await buildWorld(dir, { yaml });
    const site = {
      ...world.site,
      operator: { ...world.site.operator, building: { url: `http://localhost:${building.port}` } },
    };
    const { mqtt, storageUrl, tunnel } = world.cloud.places;
    const named = { ...site, cloud: { ...site.cloud, mqtt: { ...mqtt, host: 'localhost' } } } as typeof site;
    const attempts = new Set<string>();
    const note = (message: unknown) => {
      const { socket } = message as { readonly socket: Socket };
      socket.on('connectionAttempt', (address: string, port: number) => attempts.add(`${address}:${port}`));
    };
    // Every TCP socket that this process opens, in any library.
    subscribe('net.client.socket', note);
    const result = await checkNetwork(
      { site: named, dialer: recordingDialer(world.requests), clock: world.clock },
      { timeoutMs: 5_000, from: [], fromSegment: 'site', machine: machineOf(world.requests) },
      context,
    );
    unsubscribe('net.client.socket', note);
    const places = world.requests.dialled.map((place) => place.replace('localhost', '127.0.0.1'));
    expect([...attempts].filter((place) => !place.startsWith('::1:')).sort()).toEqual([...new Set(places)].sort());
    expect(world.requests.resolved).toEqual(['localhost']);
    expect(world.requests.dialled.sort()).toEqual(
      [
        `localhost:${mqtt.port}`,
        `localhost:${mqtt.fallbackPort}`,
        new URL(storageUrl).host,
        // The enrolment endpoint of this site file is the same host.
        new URL(storageUrl).host,
        `${tunnel.host}:${tunnel.port}`,
        `127.0.0.1:${world.chassisPort}`,
        `127.0.0.1:${site.operator.port}`,
        `localhost:${device.port}`,
        `localhost:${building.port}`,
      ].sort(),
    );
    expect(verdictsOf(result)).toMatchObject({
      'mqtt-fallback.name': 'ok',
      'segment.device-1': 'ok',
      'segment.building': 'ok',
      'segment.chassis': 'ok',
    });
  });

  it('distinguishes a closed port, a rejected ALPN, a missing CONNACK and a refusal', async () => {
    await using world = await buildWorld(dir);
    const wrongIn = async (fault: FaultName) => {
      const result = await withFault(world, fault);
      world.faults.set(fault, false);
      await world.cloud.applyFault(fault, false);
      return [result.verdict, result.lines.filter(({ verdict }) => verdict === 'wrong').map(({ id }) => id)];
    };
    // 443 alone is enough; 8883 is an alternative.
    expect(await wrongIn('cloud-direct-closed')).toEqual(['not-checked', ['mqtt-direct.tcp']]);
    expect(await wrongIn('cloud-alpn-refused')).toEqual(['wrong', ['mqtt-fallback.alpn']]);
    expect(await wrongIn('cloud-not-allowed')).toEqual(['wrong', ['mqtt-fallback.mqtt', 'mqtt-direct.mqtt']]);
    expect(await wrongIn('cloud-clock-off')).toEqual(['wrong', ['clock']]);
  });

  it('passes TLS interception only when every needed chain was verified', async () => {
    await using world = await buildWorld(dir);
    expect(lineOf(await world.check(), 'tls-inspection').verdict).toBe('ok');
    // One of the required paths ends before any certificate.
    const unseen = lineOf(await withFault(world, 'cloud-alpn-refused'), 'tls-inspection');
    expect(unseen.verdict).toBe('not-checked');
    const { host, fallbackPort } = world.cloud.places.mqtt;
    expect(unseen.detail).toContain(`unknown for ${host}:${fallbackPort}`);
  });

  it('fails an expired certificate of this device', async () => {
    await using world = await buildWorld(dir);
    const wall = () => new Date('2199-01-01T00:00:00Z');
    const result = await checkNetwork(
      { site: world.site, dialer: directDialer, clock: { ...world.clock, wall } },
      { timeoutMs: 5_000, from: [], fromSegment: 'site', machine: machineOf(world.requests) },
      context,
    );
    expect(lineOf(result, 'identity')).toMatchObject({ verdict: 'wrong', detail: expect.stringContaining('expired ') });
  });

  it('reports a broker that never answers CONNECT', async () => {
    await using world = await buildWorld(dir, { storage: false });
    world.faults.set('cloud-no-connack', true);
    const result = await world.check({ timeoutMs: 1_000 });
    expect(verdictsOf(result)).toMatchObject({
      'mqtt-fallback.tcp': 'ok',
      'mqtt-fallback.tls': 'ok',
      'mqtt-fallback.alpn': 'ok',
      'mqtt-fallback.mqtt': 'wrong',
      storage: 'not-checked',
    });
    expect(lineOf(result, 'mqtt-fallback.mqtt').detail).toMatch(/^TLS established, no CONNACK received within \d+ ms$/);
  });

  it('names the issuer of a TLS-inspecting proxy, sends it no data of this device, and requests an exemption', async () => {
    await using world = await buildWorld(dir);
    const result = await withFault(world, 'cloud-inspected');
    const line = lineOf(result, 'tls-inspection');
    expect(line.verdict).toBe('wrong');
    expect(line.detail).toContain("'CN=Simulated TLS inspection CA'");
    expect(line.ask).toContain('from TLS inspection');
    expect(lineOf(result, 'mqtt-fallback.mqtt')).toMatchObject({ verdict: 'not-checked' });
    expect(world.cloud.broker.clients()).toEqual([]);
    expect(result.paths.every(({ tls }) => tls?.trust === 'untrusted')).toBe(true);
    const text = renderNetworkCheck(result);
    expect(text.split('\n')[0]).toContain("issued by 'CN=Simulated TLS inspection CA'");
    expect(text.match(/from TLS inspection/g)).toHaveLength(1);
  });

  it('times out on silent peers, each path on its own', async () => {
    await using world = await buildWorld(dir);
    world.faults.set('cloud-silent', true);
    const result = await world.check({ timeoutMs: 400 });
    for (const id of ['mqtt-fallback', 'mqtt-direct', 'storage', 'tunnel', 'enrolment']) {
      expect(lineOf(result, `${id}.tcp`).verdict).toBe('ok');
      expect(lineOf(result, `${id}.tls`).detail).toMatch(/^TCP connected, no answer to the ClientHello within/);
    }
    // In parallel: the sum of the waits exceeds the total.
    expect(result.tookMs).toBeLessThan(result.checks.reduce((sum, { tookMs }) => sum + tookMs, 0));
  });

  it('checks the broker of the enrolment when the site file names none, and says that it is not known before', async () => {
    const withoutHost = ({ site }: Awaited<ReturnType<typeof buildWorld>>) => {
      const { host: _host, ...mqtt } = site.cloud?.mqtt ?? {};
      return { ...site, cloud: { ...site.cloud, mqtt } } as typeof site;
    };
    const check = (world: Awaited<ReturnType<typeof buildWorld>>) =>
      checkNetwork(
        { site: withoutHost(world), dialer: recordingDialer(world.requests), clock: world.clock },
        { timeoutMs: 5_000, from: [], fromSegment: 'site', machine: machineOf(world.requests) },
        context,
      );
    await using world = await buildWorld(dir);
    const result = await check(world);
    expect(lineOf(result, 'mqtt-direct.mqtt')).toMatchObject({ verdict: 'ok' });
    expect(lineOf(result, 'identity').verdict).toBe('ok');
    const other = mkdtempSync(join(dir, 'other-'));
    await using unenrolled = await buildWorld(other, { enrolled: false });
    const before = await check(unenrolled);
    expect(lineOf(before, 'mqtt')).toMatchObject({
      verdict: 'not-checked',
      need: 'needed',
      detail: 'its host is known after the enrolment: cloud.mqtt.host is not in the site file',
    });
    expect(before.verdict).not.toBe('ok');
  });

  it('reports an unknown name, and tries no further step', async () => {
    await using world = await buildWorld(dir);
    const { mqtt } = world.cloud.places;
    const site = { ...world.site, cloud: { ...world.site.cloud, mqtt: { ...mqtt, host: 'broker.example' } } };
    const lookup = async () => {
      throw Object.assign(new Error('ENOTFOUND'), { code: 'ENOTFOUND' });
    };
    const result = await checkNetwork(
      { site: site as typeof world.site, dialer: recordingDialer(world.requests), clock: world.clock },
      { timeoutMs: 2_000, from: [], fromSegment: 'site', machine: machineOf(world.requests, { lookup }) },
      context,
    );
    expect(lineOf(result, 'mqtt-fallback.name')).toMatchObject({
      verdict: 'wrong',
      detail: 'no address for broker.example: unknown name, or no name server reachable',
    });
    expect(lineOf(result, 'mqtt-fallback.tcp').verdict).toBe('not-checked');
    // One name, one finding, whatever the paths.
    expect(result.lines.filter(({ id }) => id.startsWith('mqtt') && id.endsWith('.name'))).toHaveLength(1);
    expect(world.requests.dialled.some((place) => place.startsWith('broker.example'))).toBe(false);
    // It was enrolled for another host than that of the site file.
    expect(lineOf(result, 'identity').verdict).toBe('wrong');
  });

  it('does not try MQTT without enrolment, and reports not-checked', async () => {
    await using world = await buildWorld(dir, { enrolled: false });
    const result = await world.check();
    expect(result.sections.outward).toBe('not-checked');
    expect(verdictsOf(result)).toMatchObject({
      identity: 'not-checked',
      'mqtt-fallback.tls': 'not-checked',
      'mqtt-fallback.alpn': 'ok',
      'mqtt-fallback.mqtt': 'not-checked',
      'storage.tls': 'ok',
    });
    // Before enrolment the enrolment endpoint is required.
    expect(lineOf(result, 'enrolment.tcp').need).toBe('needed');
    expect(world.cloud.broker.clients()).toEqual([]);
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
    const gateway = createServer((_, response) => (body === undefined ? undefined : response.end(body)));
    await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
    try {
      const address = gateway.address();
      const operatorPort = typeof address === 'object' ? (address?.port ?? 0) : 0;
      await using world = await buildWorld(dir, { operatorPort });
      const held = lineOf(await world.check(), 'mqtt-fallback.mqtt');
      expect(held.verdict).toBe('not-checked');
      expect(held.detail).toContain('would displace it');
      body = undefined;
      expect(lineOf(await world.check(), 'mqtt-fallback.mqtt').verdict).toBe('not-checked');
      expect(world.cloud.broker.clients()).toEqual([]);
      body = JSON.stringify({ ...health, services: [{ ...services[0], name: 'chassis' }] });
      expect(lineOf(await world.check(), 'mqtt-fallback.mqtt').verdict).toBe('ok');
    } finally {
      gateway.closeAllConnections();
      gateway.close();
    }
  });

  it('rejects a CA file without certificates', async () => {
    await using world = await buildWorld(dir);
    await writeFile(join(dir, 'cloud-ca.pem'), 'nothing\n');
    await expect(world.check()).rejects.toMatchObject({ code: 'SITE_FILE_INVALID' });
  });

  it('fails a path MTU below 1280 bytes', async () => {
    await using world = await buildWorld(dir);
    const connectionInfo = async () => ({ pathMtuBytes: 1_000 });
    const result = await world.check({ machine: machineOf(world.requests, { connectionInfo }) });
    expect(lineOf(result, 'mtu')).toMatchObject({ verdict: 'wrong', ask: expect.stringContaining('ICMP') });
    const silent = await world.check({ machine: machineOf(world.requests, { connectionInfo: async () => null }) });
    expect(lineOf(silent, 'mtu')).toMatchObject({
      verdict: 'ok',
      detail: expect.stringContaining('not reported by the kernel'),
    });
  });

  it('is interrupted at once', async () => {
    await using world = await buildWorld(dir);
    world.faults.set('cloud-silent', true);
    const abort = new AbortController();
    const running = checkNetwork(
      { site: world.site, dialer: recordingDialer(world.requests), clock: world.clock },
      { timeoutMs: 30_000, from: [], fromSegment: 'site', machine: machineOf(world.requests) },
      { signal: abort.signal, onProgress: () => {} },
    );
    await until(
      () => world.requests.dialled.length,
      (count) => count > 0,
    );
    abort.abort(new GwError('INTERRUPTED', 'Interrupted.'));
    await expect(running).rejects.toMatchObject({ code: 'INTERRUPTED' });
  });
});

describe('the network check, from a second host', () => {
  /** A host that reaches these ports of the gateway, whatever the address, and is released at the end. */
  function hostThatReaches(ports: readonly number[], used: string[]): SecondHost & { closed: boolean } {
    const host = {
      name: 'technician@198.51.100.20',
      closed: false,
      async use<T>(signal: AbortSignal, work: (dialer: Dialer, signal: AbortSignal, near: Endpoint) => Promise<T>) {
        const dialer = {
          way: 'via technician@198.51.100.20',
          async dial({ host: to, port }: { host: string; port: number }) {
            used.push(`${to}:${port}`);
            if (!ports.includes(port)) throw new DialError('no-answer', { address: to, port });
            return directDialer.dial({ host: '127.0.0.1', port: target }, { timeoutMs: 1_000 });
          },
        };
        return await work(dialer, signal, { host: '198.51.100.20', port: 22 }).finally(() => {
          host.closed = true;
        });
      },
    };
    return host;
  }
  let target = 0;

  const yaml = 'network: { robotSegment: 192.0.2.0/28, gateway: 192.0.2.2 }';

  it('fails every port that is reachable from the customer network', async () => {
    await using answering = await openPort();
    target = answering.port;
    await using world = await buildWorld(dir, { yaml });
    const used: string[] = [];
    const host = hostThatReaches([22, 8090], used);
    const sockets = [
      { protocol: 'tcp', family: 'ipv4', address: '0.0.0.0', port: 9100, inode: 1, owners: [] },
    ] as const;
    const result = await world.check({ from: [host], machine: machineOf(world.requests, { sockets }) });
    expect(host.closed).toBe(true);
    expect(used.sort()).toEqual(
      [22, 5174, 8090, 9100, world.site.operator.port].map((port) => `192.0.2.2:${port}`).sort(),
    );
    expect(verdictsOf(result)).toMatchObject({
      'segment.from-1.gateway-22': 'wrong',
      'segment.from-1.gateway-8090': 'wrong',
      'segment.from-1.gateway-5174': 'ok',
      'segment.from-1.gateway-9100': 'ok',
    });
    expect(result.sections.segment).toBe('wrong');
  });

  it('allows SSH and the operator server in the robot segment, the read-only socket never', async () => {
    await using answering = await openPort();
    target = answering.port;
    await using world = await buildWorld(dir, { yaml });
    const host = hostThatReaches([22, 5174, world.site.operator.port], []);
    const result = await world.check({ from: [host], fromSegment: 'robot' });
    expect(verdictsOf(result)).toMatchObject({
      'segment.from-1.gateway-22': 'ok',
      [`segment.from-1.gateway-${world.site.operator.port}`]: 'ok',
      'segment.from-1.gateway-5174': 'wrong',
    });
  });

  it('is not-checked with a host that cannot be used, or refuses forwarding', async () => {
    await using world = await buildWorld(dir, { yaml });
    const closed: SecondHost = {
      name: 'a@b',
      use: async () => {
        throw new GwError('PEER_NOT_REACHABLE', 'not connected: nothing answered.');
      },
    };
    const forbidding: SecondHost = {
      name: 'c@d',
      use: (signal, work) =>
        work(
          {
            way: 'via c@d',
            dial: async () => {
              throw new GwError('CHASSIS_REFUSED', 'It lets no connection through.');
            },
          },
          signal,
          { host: 'd', port: 22 },
        ),
    };
    const result = await world.check({ from: [closed, forbidding] });
    expect(lineOf(result, 'segment.from-1')).toMatchObject({ verdict: 'not-checked' });
    expect(lineOf(result, 'segment.from-2').detail).toBe('host not usable: It lets no connection through.');
    expect(result.verdict).not.toBe('ok');
  });

  it('keeps answers when the connection is lost later', async () => {
    await using world = await buildWorld(dir, { yaml });
    const lost: SecondHost = {
      name: 'a@b',
      async use(signal, work) {
        await using open = await openPort();
        const dial = (endpoint: { host: string; port: number }) => {
          if (endpoint.port !== 22) throw new DialError('no-answer', { address: endpoint.host, port: endpoint.port });
          return directDialer.dial({ host: '127.0.0.1', port: open.port }, { timeoutMs: 1_000 });
        };
        await work({ way: 'via a@b', dial: async (endpoint) => dial(endpoint) }, signal, {
          host: '127.0.0.1',
          port: 22,
        });
        throw new GwError('SSH_LOST', 'The line is lost.');
      },
    };
    const result = await world.check({ from: [lost] });
    const ofSecondHost = result.lines.filter(({ id }) => id.startsWith('segment.from-'));
    expect(ofSecondHost.map(({ id, verdict }) => `${id} ${verdict}`)).toEqual([
      'segment.from-1.gateway-22 wrong',
      'segment.from-1 not-checked',
    ]);
  });

  it('fails configured-only when the gateway reaches the second host, unless it is configured', async () => {
    await using world = await buildWorld(dir, { yaml });
    const from = [hostThatReaches([], [])];
    const reached = await world.check({ from });
    expect(lineOf(reached, 'segment.from-1.configured-only')).toMatchObject({
      verdict: 'wrong',
      tried: '198.51.100.20:22',
      seenFrom: 'second-host',
    });
    // In the robot segment the host may be reached.
    const robot = await world.check({ from, fromSegment: 'robot' });
    expect(verdictsOf(robot)['segment.from-1.configured-only']).toBeUndefined();
    const { devices } = world.site.network;
    devices.push({ name: 'Host of the IT', kind: 'other', host: '198.51.100.20', port: 1 });
    const agreed = await world.check({ from });
    expect(lineOf(agreed, 'segment.from-1.configured-only').verdict).toBe('ok');
    devices.pop();
  });

  it.each([
    ['no-answer', 'ok', /for this address and port only/],
    ['refused', 'wrong', /connected|does not name it/],
    ['cut', undefined, null],
  ] as const)(
    'distinguishes an unreachable host (%s) by whether packets returned',
    async (failure, verdict, detail) => {
      await using world = await buildWorld(dir, { yaml });
      const tried = { address: '198.51.100.20', port: 22 };
      const cause = new DialError(failure, tried);
      const host: SecondHost = {
        name: 'a@b',
        use: () => Promise.reject(new GwError('SSH_NOT_CONNECTED', 'not connected', { tried, cause })),
      };
      const result = await world.check({ from: [host] });
      expect(verdictsOf(result)['segment.from-1.configured-only']).toBe(verdict);
      if (detail !== null) expect(lineOf(result, 'segment.from-1.configured-only').detail).toMatch(detail);
      expect(lineOf(result, 'segment.from-1').verdict).toBe('not-checked');
    },
  );

  it('never passes configured-only as a whole', async () => {
    await using world = await buildWorld(dir, { yaml });
    for (const from of [[], [hostThatReaches([], [])]]) {
      const line = lineOf(await world.check({ from }), 'segment.configured-only');
      expect(line).toMatchObject({ verdict: 'not-checked', seenFrom: 'nowhere', need: 'needed' });
      expect(line.ask).toContain('Confirm');
    }
  });

  it('is not-checked without a second host, and so is the whole', async () => {
    await using world = await buildWorld(dir, { yaml });
    const result = await world.check();
    expect(lineOf(result, 'segment.from')).toMatchObject({ verdict: 'not-checked' });
    expect(result.sections.segment).not.toBe('ok');
  });
});
