import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createCa } from '../../src/lib/sim/cloud/certificates.ts';
import type { NetworkCheck } from '../../src/lib/toolkit/network/network.result.ts';
import { gwBinary } from '../e2e/gw.ts';
import { lineOf, SERIAL, verdictsOf, writeIdentity } from '../toolkit/network/world.ts';
import { inside, run } from './namespace.ts';
import { hasNginxStream, startAlpnFront, startMosquitto, startWeb } from './network-peers.ts';
import { hasNamespaces, hasProgram, ip } from './peer.ts';
import {
  BROKER,
  CHASSIS,
  drop,
  GATEWAY,
  layNetworks,
  listenerIn,
  nameOf,
  OFFICE,
  ROBOT,
  STORAGE,
  separate,
  startSshdIn,
} from './segments.ts';
import { makeKey, signalTree, waitFor } from './sshd.ts';

const ALPN = 'x-test-mqtt-ca';

async function check(home: string, site: string, words: readonly string[]): Promise<NetworkCheck> {
  const args = [gwBinary, 'network', 'check', '--json', '--site', site, ...words];
  const { code, stdout, stderr } = await run(nameOf('gateway'), args, { env: { HOME: home } });
  const { data } = JSON.parse(stdout) as { data: NetworkCheck | null };
  if (data === null) throw new Error(`gw ended with ${code}: ${stdout}${stderr}`);
  expect(code).toBe(data.verdict === 'ok' ? 0 : 1);
  return data;
}

const hasAll =
  hasNamespaces() && hasProgram('mosquitto') && hasProgram('nginx') && hasProgram('sshd') && hasNginxStream();

describe.skipIf(!hasAll)('robot segment, customer network and outside (network namespaces)', () => {
  it('are checked: a dropped port, a chassis reachable from the office, an extra port', async () => {
    using _networks = layNetworks();
    const dir = mkdtempSync(join(tmpdir(), 'gw-segments-'));
    try {
      const cloud = await createCa({ commonName: 'Cloud CA' });
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
      await chassis.untilOutput('listening');

      const home = join(dir, 'home');
      mkdirSync(join(home, '.ssh'), { recursive: true, mode: 0o700 });
      makeKey(join(home, '.ssh', 'id_ed25519'));
      const authorized = join(home, '.ssh', 'id_ed25519.pub');
      await using office = await startSshdIn(dir, { side: 'office', host: OFFICE }, authorized);
      writeFileSync(join(home, '.ssh', 'known_hosts'), office.knownHostLine);

      await writeIdentity(dir, cloud, SERIAL, BROKER);
      writeFileSync(join(dir, 'ca.pem'), cloud.caPem);
      writeFileSync(join(dir, 'heartbeat'), `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 });
      const agreed = `{ name: Host of the IT, kind: other, host: ${OFFICE}, port: 22 }`;
      const site = join(dir, 'site.yaml');
      writeFileSync(
        site,
        [
          'name: segments',
          `chassis: { host: ${CHASSIS}, serial: ${SERIAL} }`,
          // Its senders are independent, whatever the route of the heartbeats.
          `fleet: { keyFile: heartbeat, unicast: [${CHASSIS}] }`,
          `enrolment: { url: 'https://${STORAGE}', caFile: ca.pem }`,
          'cloud:',
          `  mqtt: { host: ${BROKER}, alpn: ${ALPN} }`,
          `  storageUrl: 'https://${STORAGE}'`,
          `  tunnel: { host: ${STORAGE} }`,
          '  caFile: ca.pem',
          `network: { robotSegment: ${ROBOT}, gateway: ${GATEWAY}, devices: [${agreed}] }`,
          '',
        ].join('\n'),
      );
      await using serve = inside(nameOf('gateway'), [gwBinary, 'serve', '--site', site, '--json']);
      await serve.untilOutput('"event":"ready"');
      const from = ['--probe-from', `${userInfo().username}@${OFFICE}`];
      separate();

      const right = await check(home, site, from);
      // Addresses have no region, and one rule of the specification cannot be checked from any machine of the robot.
      expect(
        right.lines.filter(({ verdict }) => verdict !== 'ok').map(({ id, verdict }) => `${id} ${verdict}`),
      ).toEqual([
        'region.mqtt not-checked',
        'region.storage not-checked',
        'region.tunnel not-checked',
        'region.enrolment not-checked',
        'segment.configured-only not-checked',
      ]);
      expect(right.verdict).toBe('not-checked');
      expect(verdictsOf(right)).toMatchObject({ 'segment.from-1.configured-only': 'ok', 'inward.ssh': 'ok' });

      // The same host without an agreement: the gateway reaches it, which is not permitted.
      const unnamed = join(dir, 'unnamed.yaml');
      writeFileSync(unnamed, readFileSync(site, 'utf8').replace(`, devices: [${agreed}]`, ''));
      const reached = await check(home, unnamed, from);
      expect(lineOf(reached, 'segment.from-1.configured-only')).toMatchObject({
        verdict: 'wrong',
        tried: `${OFFICE}:22`,
      });

      {
        await using inRobot = listenerIn('gateway', GATEWAY, 22);
        await inRobot.untilOutput('listening');
        expect(lineOf(await check(home, site, []), 'inward.ssh')).toMatchObject({
          verdict: 'ok',
          detail: `bound to ${GATEWAY}`,
        });
      }
      {
        await using everywhere = listenerIn('gateway', '0.0.0.0', 22);
        await everywhere.untilOutput('listening');
        const wide = await check(home, site, []);
        expect(verdictsOf(wide)).toMatchObject({ 'inward.ssh': 'wrong', 'inward.listening': 'wrong' });
      }
      expect(lineOf(right, 'segment.from-1.chassis').detail).toMatch(/^no answer/);
      expect(right.sockets).toContainEqual(
        expect.objectContaining({ port: 5173, allowedBy: 'platform', processes: [expect.anything()] }),
      );

      // The remote host hangs in the middle of its connection attempts, which the router drops: no port is proven
      // closed.
      const logins = () => office.output().match(/Accepted publickey/g)?.length ?? 0;
      const before = logins();
      const hanging = check(home, site, from);
      try {
        await waitFor(() => logins() > before, office.output);
        signalTree(office.pid, 'SIGSTOP');
        const hung = await hanging;
        const ofSecondHost = hung.lines.filter(({ id }) => id.startsWith('segment.from-'));
        expect(ofSecondHost[0]).toMatchObject({ id: 'segment.from-1', verdict: 'not-checked' });
        // Whether this machine connected before it hung depends on timing; both are valid.
        expect(ofSecondHost.slice(1).every(({ id }) => id === 'segment.from-1.configured-only')).toBe(true);
        expect(hung.verdict).toBe('not-checked');
      } finally {
        signalTree(office.pid, 'SIGCONT');
        await hanging.catch(() => {});
      }

      drop('mqtt8883', true);
      const blocked = await check(home, site, from);
      expect(blocked.verdict).toBe('not-checked');
      expect(lineOf(blocked, 'mqtt-direct.tcp')).toMatchObject({ verdict: 'wrong', need: 'optional' });
      expect(lineOf(blocked, 'mqtt-direct.tcp').detail).toMatch(/^blocked: no answer within/);
      drop('mqtt8883', false);

      // A path with a smaller MTU than the cables at its ends, first with ICMP, then without.
      ip('-n', nameOf('wall'), 'link', 'set', 'to-outside', 'mtu', '1300');
      const narrow = await check(home, site, []);
      expect(lineOf(narrow, 'mtu').verdict).toBe('ok');
      expect(lineOf(narrow, 'mtu').detail).toMatch(/^smallest path MTU 1300 bytes/);
      ip('-n', nameOf('wall'), 'rule', 'add', 'priority', '40', 'ipproto', 'icmp', 'blackhole');
      ip('-n', nameOf('gateway'), 'route', 'flush', 'cache');
      const silent = await check(home, site, []);
      expect(lineOf(silent, 'mtu')).toMatchObject({ verdict: 'wrong', ask: expect.stringContaining('ICMP') });
      expect(lineOf(silent, 'storage.tcp').verdict).toBe('ok');
      ip('-n', nameOf('wall'), 'rule', 'del', 'priority', '40', 'ipproto', 'icmp', 'blackhole');
      ip('-n', nameOf('wall'), 'link', 'set', 'to-outside', 'mtu', '1500');

      drop('segment', false);
      await using stranger = listenerIn('gateway', '0.0.0.0', 9100);
      await stranger.untilOutput('listening');
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
