import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Neighbour, NeighboursView } from '../../src/lib/operator/index.ts';
import type { HeartbeatCheck, HeartbeatSniffEvent } from '../../src/lib/toolkit/heartbeat/heartbeat.result.ts';
import { gwBinary } from '../e2e/gw.ts';
import { until } from '../waiting.ts';
import { inside, run } from './namespace.ts';
import { hasNamespaces, ip } from './peer.ts';

// Addresses for documentation, used only inside the namespaces that this test makes.
const robots = ['a', 'b', 'c'] as const;
type Robot = (typeof robots)[number];
const addressOf = (robot: Robot) => `192.0.2.1${robots.indexOf(robot) + 1}`;
const macOf = (robot: Robot) => `02:00:00:00:00:0${robots.indexOf(robot) + 1}`;
const portOf = (robot: Robot) => `port-${robot}`;
const serialOf = (robot: Robot) => `SN-${robot}`;
const othersOf = (robot: Robot) => robots.filter((other) => other !== robot);

/** Three hosts on one bridge in a namespace of its own; removed at the end. */
interface Network extends Disposable {
  readonly hub: string;
  readonly sideOf: (robot: Robot) => string;
}

function layNetwork(): Network {
  const id = `${process.pid}-${randomBytes(3).toString('hex')}`;
  const hub = `gw-hub-${id}`;
  const sideOf = (robot: Robot) => `gw-${robot}-${id}`;
  using undo = new DisposableStack();
  const addSide = (side: string) => {
    ip('netns', 'add', side);
    undo.defer(() => void ip('netns', 'del', side));
  };
  addSide(hub);
  ip('-n', hub, 'link', 'add', 'br0', 'type', 'bridge');
  ip('-n', hub, 'link', 'set', 'br0', 'up');
  for (const robot of robots) {
    const side = sideOf(robot);
    addSide(side);
    ip('link', 'add', 'gw0', 'netns', side, 'type', 'veth', 'peer', 'name', portOf(robot), 'netns', hub);
    ip('-n', side, 'link', 'set', 'gw0', 'address', macOf(robot));
    ip('-n', side, 'addr', 'add', `${addressOf(robot)}/24`, 'dev', 'gw0');
    for (const device of ['lo', 'gw0']) ip('-n', side, 'link', 'set', device, 'up');
    ip('-n', hub, 'link', 'set', 'dev', portOf(robot), 'master', 'br0', 'up');
  }
  const laid = undo.move();
  return { hub, sideOf, [Symbol.dispose]: () => laid.dispose() };
}

/** Drops broadcasts to these robots. */
function dropBroadcastTo({ hub }: Network, to: readonly Robot[]): void {
  for (const robot of to) {
    ip('-n', hub, 'link', 'set', 'dev', portOf(robot), 'type', 'bridge_slave', 'bcast_flood', 'off');
  }
}

/** As a network that drops broadcasts; the hardware addresses are then set by hand. */
function filterBroadcast(network: Network): void {
  dropBroadcastTo(network, robots);
  for (const robot of robots) {
    for (const other of othersOf(robot)) {
      const [to, lladdr] = [addressOf(other), macOf(other)];
      ip('-n', network.sideOf(robot), 'neigh', 'replace', to, 'lladdr', lladdr, 'dev', 'gw0');
    }
  }
}

/** A clock that is years off, set before any module of the gateway is loaded. */
const yearsOff = `data:text/javascript,${encodeURIComponent(
  'const now=Date.now;Date.now=()=>now()-7e11;globalThis.Date=class extends Date{constructor(...a){a.length?super(...a):super(now()-7e11)}};',
)}`;

interface SiteOptions {
  readonly key: string;
  readonly unicast?: readonly string[];
}

function writeSite(dir: string, robot: Robot, { key, unicast = [] }: SiteOptions): string {
  const folder = join(dir, robot);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'key'), `${key}\n`, { mode: 0o600 });
  const path = join(folder, 'site.yaml');
  writeFileSync(
    path,
    [
      `name: robot ${robot}`,
      // No chassis listens there: a gateway sends heartbeats also without its chassis.
      `chassis: { host: 127.0.0.1, port: 8090, serial: ${serialOf(robot)} }`,
      `fleet: { keyFile: key, robots: ${JSON.stringify(robots.map(serialOf))}, unicast: ${JSON.stringify(unicast)} }`,
      '',
    ].join('\n'),
  );
  return path;
}

/** Actions and queries on the robots of one network. */
function toolsOf({ sideOf }: Network) {
  async function serve(robot: Robot, site: string, node: readonly string[] = []) {
    const gateway = inside(sideOf(robot), [...node, gwBinary, 'serve', '--site', site, '--json']);
    await gateway.untilOutput('"event":"ready"');
    return gateway;
  }

  /** Polls a gateway from inside its namespace until its view of the others matches. */
  async function pollView(robot: Robot, holds: (view: NeighboursView) => boolean): Promise<{ view: NeighboursView }> {
    // One process for all requests: the start of one takes longer than a request.
    const ask = `
      for (;;) {
        console.log(await fetch('http://127.0.0.1:5173/api/nachbarn').then((r) => r.text()));
        await new Promise((done) => setTimeout(done, 250));
      }`;
    await using asking = inside(sideOf(robot), ['--input-type=module', '-e', ask]);
    const last = () => asking.output().split('\n').at(-2) ?? '';
    const answer = await until(last, (text) => text !== '' && holds(JSON.parse(text) as NeighboursView));
    return { view: JSON.parse(answer) as NeighboursView };
  }

  /** The last line of the output of `gw heartbeat sniff`. */
  async function sniff(robot: Robot, args: readonly string[]) {
    const { stdout } = await run(sideOf(robot), [gwBinary, 'heartbeat', 'sniff', '--json', ...args]);
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as HeartbeatSniffEvent;
  }

  async function check(robot: Robot, site: string): Promise<HeartbeatCheck> {
    const { stdout } = await run(sideOf(robot), [gwBinary, 'heartbeat', 'check', '--json', '--site', site]);
    return (JSON.parse(stdout) as { data: HeartbeatCheck }).data;
  }
  return { serve, pollView: pollView, sniff, check };
}

const verdictsOf = ({ findings }: HeartbeatCheck) =>
  Object.fromEntries(findings.map(({ id, verdict }) => [id, verdict]));
const presences = (view: NeighboursView) => view.robots.map(({ serial, presence }) => `${serial} ${presence}`);
const all = (robot: Robot, presence: Neighbour['presence']) => (view: NeighboursView) =>
  presences(view).join() ===
  othersOf(robot)
    .map((other) => `${serialOf(other)} ${presence}`)
    .join();
const one = (robot: Robot, presence: Neighbour['presence']) => (view: NeighboursView) =>
  presences(view).includes(`${serialOf(robot)} ${presence}`);

function scratch(): Disposable & { readonly dir: string } {
  const dir = mkdtempSync(join(tmpdir(), 'gw-heartbeat-'));
  return { dir, [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }) };
}

// Concurrent, each on networks of its own: most of the time is spent waiting for heartbeats.
describe.skipIf(!hasNamespaces())('three gateways on one bridge (network namespaces)', { concurrent: true }, () => {
  it('receive each other by broadcast, and detect the loss of one whose cable is pulled', async () => {
    using network = layNetwork();
    const { serve, pollView, check } = toolsOf(network);
    using place = scratch();
    const { dir } = place;
    const key = randomBytes(32).toString('hex');
    await using _a = await serve('a', writeSite(dir, 'a', { key }));
    // This clock has no effect.
    await using _b = await serve('b', writeSite(dir, 'b', { key }), ['--import', yearsOff]);
    await using _c = await serve('c', writeSite(dir, 'c', { key }));
    for (const robot of robots) {
      const { view } = await pollView(robot, all(robot, 'alive'));
      expect(view.status).toBe('listening');
      expect(view.robots.map(({ address }) => address)).toEqual(othersOf(robot).map(addressOf));
      expect(view.robots.every(({ stopped, pose }) => stopped === false && pose === null)).toBe(true);
    }

    const checked = await check('a', join(dir, 'a/site.yaml'));
    expect(checked).toMatchObject({ verdict: 'ok', receives: 'broadcasts', received: othersOf('a').map(serialOf) });
    expect(verdictsOf(checked)).toEqual({
      'own-serial': 'ok',
      'own-broadcast': 'ok',
      'own-period': 'ok',
      'robot-SN-b': 'ok',
      'period-SN-b': 'ok',
      'robot-SN-c': 'ok',
      'period-SN-c': 'ok',
      strangers: 'ok',
      broadcast: 'ok',
      conflicts: 'ok',
      replays: 'ok',
      uptime: 'ok',
      noise: 'ok',
    });

    ip('-n', network.hub, 'link', 'set', 'dev', portOf('c'), 'down');
    const late = await pollView('a', one('c', 'late'));
    expect(late.view.robots.find(({ serial }) => serial === serialOf('c'))?.ageMs).toBeGreaterThanOrEqual(6_000);
    // Its send calls succeed all the while, and no copy is looped back: none of them counts as a sent heartbeat.
    const cutOff = check('c', join(dir, 'c/site.yaml'));
    const gone = await pollView('a', one('c', 'gone'));
    expect(gone.view.robots.find(({ serial }) => serial === serialOf('c'))?.ageMs).toBeGreaterThanOrEqual(30_000);
    expect(one('b', 'alive')(gone.view)).toBe(true);
    await pollView('c', all('c', 'gone'));
    const cut = verdictsOf(await cutOff);
    expect(cut).toMatchObject({ 'own-broadcast': 'wrong', 'robot-SN-a': 'wrong', broadcast: 'not-checked' });
    ip('-n', network.hub, 'link', 'set', 'dev', portOf('c'), 'up');
    await pollView('a', all('a', 'alive'));
    const { view } = await pollView('c', all('c', 'alive'));
    expect(view.robots.every(({ lost }) => lost >= 14)).toBe(true);
  });

  it('detect the loss of one whose broadcasts the network drops, and receive each other by unicast', async () => {
    using network = layNetwork();
    const { serve, pollView, sniff, check } = toolsOf(network);
    using place = scratch();
    const { dir } = place;
    const key = randomBytes(32).toString('hex');
    {
      await using _a = await serve('a', writeSite(dir, 'a', { key }));
      await using _b = await serve('b', writeSite(dir, 'b', { key }));
      await using _c = await serve('c', writeSite(dir, 'c', { key }));
      for (const robot of robots) await pollView(robot, all(robot, 'alive'));
      // The network drops only what c sends: c cannot detect it, claims no arrival, and a detects it.
      dropBroadcastTo(network, ['a', 'b']);
      await pollView('a', one('c', 'late'));
      const [dropped, missed] = await Promise.all([
        check('c', join(dir, 'c/site.yaml')),
        check('a', join(dir, 'a/site.yaml')),
      ]);
      expect(verdictsOf(dropped)).toMatchObject({ 'robot-SN-a': 'ok', 'robot-SN-b': 'ok' });
      expect(dropped.findings.find(({ id }) => id === 'own-broadcast')).toMatchObject({
        title: 'Own broadcasts leave the kernel (looped-back copies)',
        detail: expect.stringContaining('arrival can be checked only on the other robot'),
      });
      expect(verdictsOf(missed)['robot-SN-c']).toBe('wrong');

      filterBroadcast(network);
      await pollView('a', all('a', 'late'));
    }
    await using _a = await serve('a', writeSite(dir, 'a', { key, unicast: othersOf('a').map(addressOf) }));
    await using _b = await serve('b', writeSite(dir, 'b', { key, unicast: othersOf('b').map(addressOf) }));
    await using _c = await serve('c', writeSite(dir, 'c', { key }));
    await pollView('a', one('b', 'alive'));
    await pollView('c', all('c', 'alive'));
    // It sends by broadcast only, which is not received here.
    const { view } = await pollView('b', one('a', 'alive'));
    expect(one('c', 'alive')(view)).toBe(false);
    const checked = await check('b', join(dir, 'b/site.yaml'));
    expect(verdictsOf(checked)).toEqual({
      'own-serial': 'ok',
      'own-broadcast': 'ok',
      [`own-unicast-${addressOf('a')}`]: 'ok',
      [`own-unicast-${addressOf('c')}`]: 'ok',
      'own-period': 'ok',
      'robot-SN-a': 'ok',
      'period-SN-a': 'ok',
      'robot-SN-c': 'wrong',
      strangers: 'ok',
      broadcast: 'wrong',
      [`unicast-${addressOf('a')}`]: 'ok',
      [`unicast-${addressOf('c')}`]: 'wrong',
      conflicts: 'ok',
      replays: 'ok',
      uptime: 'ok',
      noise: 'ok',
    });
    // Unicast heartbeats to this robot are received by its gateway while another program listens.
    const sniffed = await sniff('b', ['--site', join(dir, 'b/site.yaml'), '--for', '8']);
    expect(sniffed).toMatchObject({
      receives: 'gateway',
      senders: [
        { serial: serialOf('a'), replayed: null },
        { serial: serialOf('b'), replayed: 0 },
      ],
    });
    expect(one('a', 'alive')((await pollView('b', one('a', 'alive'))).view)).toBe(true);
  });

  it('reject a recorded datagram after both sides were restarted, and one signed with another key', async () => {
    using network = layNetwork();
    const { serve, pollView, sniff } = toolsOf(network);
    const { sideOf } = network;
    const dir = mkdtempSync(join(tmpdir(), 'gw-heartbeat-'));
    const key = randomBytes(32).toString('hex');
    try {
      const sites = { a: writeSite(dir, 'a', { key }), b: writeSite(dir, 'b', { key }) };
      const record = `
        import { createSocket } from 'node:dgram';
        const socket = createSocket({ type: 'udp4', reuseAddr: true });
        socket.on('message', (bytes) => { console.log(bytes.toString('hex')); socket.close(); });
        socket.bind(45301);`;
      let recorded = '';
      {
        await using _a = await serve('a', sites.a);
        await using _b = await serve('b', sites.b);
        await pollView('a', one('b', 'alive'));
        const { stdout } = await run(sideOf('c'), ['--input-type=module', '-e', record]);
        recorded = stdout.trim();
        expect(recorded).toMatch(/^47574842[0-9a-f]{100,}$/);
      }
      await using _a = await serve('a', sites.a);
      await using _b = await serve('b', sites.b);
      const before = await pollView('a', one('b', 'alive'));
      expect(before.view.rejected).toMatchObject({ replayed: 0, forged: 0, otherKey: 0 });

      const flipped = `${recorded.slice(0, -2)}${recorded.endsWith('00') ? '01' : '00'}`;
      const send = `
        import { createSocket } from 'node:dgram';
        const socket = createSocket('udp4');
        const said = ${JSON.stringify([recorded, flipped, 'ff'.repeat(300)])};
        for (const hex of said) await new Promise((done) => socket.send(Buffer.from(hex, 'hex'), 45301, '${addressOf('a')}', done));
        await new Promise((done) => socket.send(Buffer.from(said[0], 'hex'), 45301, '${addressOf('b')}', done));
        socket.close();`;
      await run(sideOf('c'), ['--input-type=module', '-e', send]);
      // The recorded sender depends on who sent first: one of the two receives its own earlier heartbeat.
      const rejected = (view: NeighboursView) => view.rejected?.replayed === 1;
      for (const robot of ['a', 'b'] as const) await pollView(robot, rejected);
      const { view } = await pollView('a', rejected);
      expect(view.rejected).toMatchObject({ replayed: 1, forged: 1, malformed: 1 });
      expect(view.robots).toMatchObject([{ serial: serialOf('b'), presence: 'alive', address: addressOf('b') }]);
      expect(view.robots[0]?.conflictWith).toBeNull();

      // A test datagram arrives and adds no neighbour.
      const elsewhere = writeSite(dir, 'c', { key });
      const sent = await run(sideOf('c'), [gwBinary, 'heartbeat', 'send', '--once', '--site', elsewhere, '--json']);
      expect(JSON.parse(sent.stdout)).toMatchObject({
        ok: true,
        data: { times: 1, ways: [{ to: '255.255.255.255', from: addressOf('c'), sent: 1, failure: null }] },
      });
      const tested = await pollView('a', ({ lastTest }) => lastTest?.address === addressOf('c'));
      expect(tested.view.lastTest?.serial).toMatch(/^TEST-[0-9a-f]{4}$/);
      expect(tested.view.robots.map(({ serial }) => serial)).toEqual([serialOf('b')]);

      // A robot with another key is foreign, and so are the others to it.
      await using _c = await serve('c', writeSite(dir, 'c', { key: randomBytes(32).toString('hex') }));
      await pollView('a', ({ rejected: counts }) => (counts?.otherKey ?? 0) > 0);
      const stranger = await pollView('c', ({ rejected: counts }) => (counts?.otherKey ?? 0) > 0);
      expect(stranger.view.robots).toEqual([]);

      // Listening beside a gateway takes no datagrams from it, and shows the senders and their routes.
      const sniffed = await sniff('a', ['--site', sites.a, '--for', '9']);
      expect(sniffed).toMatchObject({ event: 'ended', receives: 'gateway', verifies: true });
      expect(sniffed.senders).toMatchObject(
        (['a', 'b'] as const).map((robot) => ({
          serial: serialOf(robot),
          address: addressOf(robot),
          verified: true,
          presence: 'alive',
          lost: 0,
          replayed: 0,
          alsoFrom: [],
        })),
      );
      for (const { heartbeats, periodMs, jitterMs } of sniffed.senders) {
        // How well it keeps its period is said of the machine too, and proven on a clock of the test.
        expect(heartbeats).toBeGreaterThanOrEqual(2);
        expect(periodMs).toBeGreaterThan(0);
        expect(jitterMs).toBeGreaterThanOrEqual(0);
      }
      expect(sniffed.noise).toMatchObject([{ address: addressOf('c'), malformed: 0, forged: 0 }]);
      expect(sniffed.noise[0]?.otherKey).toBeGreaterThanOrEqual(2);
      await pollView('a', one('b', 'alive'));

      const unverified = await sniff('c', ['--no-key', '--for', '3']);
      expect(unverified).toMatchObject({ verifies: false, noise: [] });
      expect(unverified.senders.map(({ serial, verified }) => [serial, verified])).toEqual(
        robots.map((robot) => [serialOf(robot), false]),
      );
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
});
