import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createAuthority } from '../../src/lib/sim/certificates.ts';
import type { NetworkCheck } from '../../src/lib/toolkit/network-check.result.ts';
import { gwBinary } from '../e2e/gw.ts';
import { lineOf, SERIAL, verdictsOf, writeIdentity } from '../toolkit/network-world.ts';
import { inside } from './namespace.ts';
import { hasNginxStream, startAlpnFront, startMosquitto, startPeer, startWeb } from './network-peers.ts';
import { hasNamespaces, hasProgram, ip } from './peer.ts';
import { makeKey } from './sshd.ts';

// Addresses for documentation, used only inside the namespaces that this test makes.
const ROBOT = '192.0.2.0/28';
const GATEWAY = '192.0.2.2';
const CHASSIS = '192.0.2.3';
const OFFICE = '198.51.100.20';
const BROKER = '203.0.113.10';
const STORAGE = '203.0.113.11';
const ALPN = 'x-test-mqtt-ca';
const sides = ['wall', 'gateway', 'chassis', 'office', 'outside'] as const;
type Side = (typeof sides)[number];
const nameOf = (side: Side) => `gw-${side}-${process.pid}`;

/** A robot segment, the network of the customer and the outside, with a router between them; gone at the end. */
function layNetworks(): Disposable {
  using undo = new DisposableStack();
  for (const side of sides) {
    ip('netns', 'add', nameOf(side));
    undo.defer(() => void ip('netns', 'del', nameOf(side)));
    ip('-n', nameOf(side), 'link', 'set', 'lo', 'up');
  }
  const wall = nameOf('wall');
  ip('-n', wall, 'link', 'add', 'robot', 'type', 'bridge');
  ip('-n', wall, 'addr', 'add', '192.0.2.1/28', 'dev', 'robot');
  ip('-n', wall, 'link', 'set', 'robot', 'up');
  const cable = (side: Side, address: string, router: string) => {
    ip('link', 'add', 'eth0', 'netns', nameOf(side), 'type', 'veth', 'peer', 'name', `to-${side}`, 'netns', wall);
    ip('-n', nameOf(side), 'addr', 'add', address, 'dev', 'eth0');
    ip('-n', nameOf(side), 'link', 'set', 'eth0', 'up');
    ip('-n', wall, 'link', 'set', `to-${side}`, 'up');
    ip('-n', nameOf(side), 'route', 'add', 'default', 'via', router);
  };
  cable('gateway', `${GATEWAY}/28`, '192.0.2.1');
  cable('chassis', `${CHASSIS}/28`, '192.0.2.1');
  for (const side of ['gateway', 'chassis'] as const) ip('-n', wall, 'link', 'set', `to-${side}`, 'master', 'robot');
  cable('office', `${OFFICE}/24`, '198.51.100.1');
  ip('-n', wall, 'addr', 'add', '198.51.100.1/24', 'dev', 'to-office');
  cable('outside', `${BROKER}/24`, '203.0.113.1');
  ip('-n', nameOf('outside'), 'addr', 'add', `${STORAGE}/24`, 'dev', 'eth0');
  ip('-n', wall, 'addr', 'add', '203.0.113.1/24', 'dev', 'to-outside');
  ip('netns', 'exec', wall, 'sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward');
  return undo.move();
}

/** What the router drops without a word. */
const rules = {
  // From the network of the customer nothing goes to the robot, but for the answers of SSH.
  segment: ['from', '198.51.100.0/24', 'to', ROBOT, 'blackhole'],
  mqtt8883: ['ipproto', 'tcp', 'dport', '8883', 'blackhole'],
} as const;

function drop(rule: keyof typeof rules, isDropped: boolean): void {
  const [action, priority] = [isDropped ? 'add' : 'del', rule === 'segment' ? '200' : '50'];
  ip('-n', nameOf('wall'), 'rule', action, 'priority', priority, ...rules[rule]);
}

/** Takes connections at an address of a namespace. */
function listenerIn(side: Side, host: string, port: number) {
  const script = `require('node:net').createServer((s) => s.on('error', () => {})).listen(${port}, '${host}', () => console.log('listening'))`;
  return inside(nameOf(side), ['-e', script]);
}

async function check(home: string, site: string, words: readonly string[]): Promise<NetworkCheck> {
  const args = [gwBinary, 'network', 'check', '--json', '--site', site, ...words];
  const child = spawn('ip', ['netns', 'exec', nameOf('gateway'), process.execPath, ...args], {
    env: { PATH: `${process.env.PATH}:/usr/sbin:/sbin`, HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  const [code] = await once(child, 'close');
  const { data } = JSON.parse(stdout) as { data: NetworkCheck | null };
  if (data === null) throw new Error(`gw ended with ${code}: ${stdout}${stderr}`);
  expect(code).toBe(data.verdict === 'wrong' ? 1 : 0);
  return data;
}

const hasAll =
  hasNamespaces() && hasProgram('mosquitto') && hasProgram('nginx') && hasProgram('sshd') && hasNginxStream();

describe.skipIf(!hasAll)('robot segment, customer network and outside (network namespaces)', () => {
  it('are told right from wrong: a dropped port, a chassis that the office reaches, a port too many', {
    timeout: 120_000,
  }, async () => {
    using _networks = layNetworks();
    const dir = mkdtempSync(join(tmpdir(), 'gw-segments-'));
    try {
      const cloud = await createAuthority({ commonName: 'Cloud CA' });
      const outside = { side: nameOf('outside') };
      await using broker = await startMosquitto(dir, cloud, { ...outside, host: BROKER, port: 8883 });
      await using _front = await startAlpnFront(
        dir,
        cloud,
        { alpn: ALPN, to: broker.plainPort },
        { ...outside, host: BROKER, port: 443 },
      );
      await using _storage = await startWeb(dir, 'storage', cloud, { ...outside, host: STORAGE, port: 443 });
      await using chassis = listenerIn('chassis', CHASSIS, 8090);
      await chassis.says('listening');

      const home = join(dir, 'home');
      mkdirSync(join(home, '.ssh'), { recursive: true, mode: 0o700 });
      makeKey(join(home, '.ssh', 'id_ed25519'));
      makeKey(join(dir, 'host_key'));
      const [type, key] = readFileSync(join(dir, 'host_key.pub'), 'utf8').split(' ');
      writeFileSync(join(home, '.ssh', 'known_hosts'), `${OFFICE} ${type} ${key}\n`);
      mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
      const sshConfig = [
        `ListenAddress ${OFFICE}:22`,
        `HostKey ${join(dir, 'host_key')}`,
        `AuthorizedKeysFile ${join(home, '.ssh', 'id_ed25519.pub')}`,
        `PidFile ${join(dir, 'sshd.pid')}`,
        'StrictModes no',
        'UsePAM no',
        'PermitRootLogin yes',
      ];
      writeFileSync(join(dir, 'sshd_config'), `${sshConfig.join('\n')}\n`);
      const sshd = ['/usr/sbin/sshd', '-D', '-e', '-f', join(dir, 'sshd_config')] as const;
      await using _office = await startPeer([...sshd], 22, { side: nameOf('office'), host: OFFICE });

      await writeIdentity(dir, cloud, SERIAL, BROKER);
      writeFileSync(join(dir, 'ca.pem'), cloud.caPem);
      const site = join(dir, 'site.yaml');
      writeFileSync(
        site,
        [
          'name: segments',
          `chassis: { host: ${CHASSIS}, serial: ${SERIAL} }`,
          `enrolment: { url: 'https://${STORAGE}', caFile: ca.pem }`,
          'cloud:',
          `  mqtt: { host: ${BROKER}, alpn: ${ALPN} }`,
          `  storageUrl: 'https://${STORAGE}'`,
          `  tunnel: { host: ${STORAGE} }`,
          '  caFile: ca.pem',
          `network: { robotSegment: ${ROBOT}, gateway: ${GATEWAY} }`,
          '',
        ].join('\n'),
      );
      await using serve = inside(nameOf('gateway'), [gwBinary, 'serve', '--site', site, '--json']);
      await serve.says('"event":"ready"');
      const from = ['--from', `${userInfo().username}@${OFFICE}`];
      // The answers of SSH to the gateway are let through.
      const answers = ['from', '198.51.100.0/24', 'to', ROBOT, 'ipproto', 'tcp', 'sport', '22', 'lookup', 'main'];
      ip('-n', nameOf('wall'), 'rule', 'add', 'priority', '100', ...answers);
      drop('segment', true);

      const right = await check(home, site, from);
      expect(right.lines.filter(({ verdict }) => verdict !== 'ok').map(({ id }) => id)).toEqual([]);
      expect(right.verdict).toBe('ok');
      expect(lineOf(right, 'segment.from-1.chassis').detail).toMatch(/^nothing answered/);
      expect(right.sockets).toContainEqual(
        expect.objectContaining({ port: 5173, allowedBy: 'platform', processes: [expect.anything()] }),
      );
      expect(broker.said()).not.toContain('closed its connection');

      drop('mqtt8883', true);
      const blocked = await check(home, site, from);
      expect(blocked.verdict).toBe('ok');
      expect(lineOf(blocked, 'mqtt-direct.tcp')).toMatchObject({ verdict: 'wrong', need: 'optional' });
      expect(lineOf(blocked, 'mqtt-direct.tcp').detail).toMatch(/^blocked: nothing answered within/);
      drop('mqtt8883', false);

      // A path that is narrower than the cables at its ends, first one that says so, then one that is silent about it.
      ip('-n', nameOf('wall'), 'link', 'set', 'to-outside', 'mtu', '1300');
      const narrow = await check(home, site, []);
      expect(lineOf(narrow, 'mtu').verdict).toBe('ok');
      expect(lineOf(narrow, 'mtu').detail).toMatch(/^1300 bytes on the narrowest path/);
      ip('-n', nameOf('wall'), 'rule', 'add', 'priority', '40', 'ipproto', 'icmp', 'blackhole');
      ip('-n', nameOf('gateway'), 'route', 'flush', 'cache');
      const silent = await check(home, site, []);
      expect(lineOf(silent, 'mtu')).toMatchObject({ verdict: 'wrong', ask: expect.stringContaining('ICMP') });
      expect(lineOf(silent, 'storage.tcp').verdict).toBe('ok');
      ip('-n', nameOf('wall'), 'rule', 'del', 'priority', '40', 'ipproto', 'icmp', 'blackhole');
      ip('-n', nameOf('wall'), 'link', 'set', 'to-outside', 'mtu', '1500');

      drop('segment', false);
      await using stranger = listenerIn('gateway', '0.0.0.0', 9100);
      await stranger.says('listening');
      const open = await check(home, site, from);
      expect(open.verdict).toBe('wrong');
      expect(verdictsOf(open)).toMatchObject({
        'segment.from-1.chassis': 'wrong',
        'segment.from-1.gateway-5173': 'wrong',
        'segment.from-1.gateway-5174': 'ok',
        'segment.from-1.gateway-9100': 'wrong',
        'inward.open.tcp.9100.0.0.0.0': 'wrong',
        'inward.read-only': 'ok',
        'mqtt-fallback.mqtt': 'ok',
      });
      expect(lineOf(open, 'inward.open.tcp.9100.0.0.0.0').detail).toMatch(
        /^bound to 0\.0\.0\.0 by .+ \(process \d+\)$/,
      );
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
});
