import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mqtt from 'mqtt';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { caOf, certificateOf, SERIAL } from '../sim/cloud/device.ts';
import { startDestination, startPages } from '../sim/cloud/tunnel/destination.ts';
import { runGw, startGw } from './gw.ts';

it('gw sim uses a given serial number in all its files and answers', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'gw-sim-serial-'));
  try {
    await using sim = startGw(['sim', '--dir', dir, '--chassis-port', '0', '--serial', 'SN_00-7', '--json']);
    await sim.untilOutput('"event":"ready"');
    const ready = JSON.parse(
      sim
        .stdout()
        .split('\n')
        .find((line) => line.includes('"event":"ready"')) ?? '',
    );
    const { chassis } = ready;
    expect(chassis.serial).toBe('SN_00-7');
    const info = await (await fetch(`http://127.0.0.1:${chassis.port}/device/info`)).json();
    expect(info).toMatchObject({ device: { sn: 'SN_00-7', name: 'SN_00-7' } });
    expect(readFileSync(join(dir, 'site.yaml'), 'utf8')).toContain('serial: SN_00-7');
    expect(readFileSync(join(dir, 'evidence.jsonl'), 'utf8')).toContain('"serial":"SN_00-7"');
    const probe = await runGw(['chassis', 'probe', '--site', join(dir, 'site.yaml'), '--json']);
    expect(probe.stdout).toContain('SN_00-7');
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

it('gw sim refuses a serial number that is invalid in a site file', async () => {
  const { code, stderr } = await runGw(['sim', '--serial', 'two words']);
  expect(code).toBe(2);
  expect(stderr).toContain('--serial: expected');
});

it('gw sim writes a site without verified facts, and gw sim fault switches its faults', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'gw-sim-fault-'));
  try {
    const words = ['--chassis-port', '0', '--evidence', 'none', '--with', 'password'];
    await using sim = startGw(['sim', '--dir', dir, ...words, '--json']);
    await sim.untilOutput('"event":"ready"');
    expect(existsSync(join(dir, 'evidence.jsonl')) && readFileSync(join(dir, 'evidence.jsonl'), 'utf8')).toBeFalsy();
    expect(readFileSync(join(dir, 'site.yaml'), 'utf8')).toContain('passwordFile:');
    const address = () => runGw(['chassis', 'address', '--site', join(dir, 'site.yaml')]);
    for (const [fault, state, code] of [
      ['wrong-serial', 'on', 4],
      ['wrong-serial', 'off', 0],
      ['cut', 'on', 3],
    ] as const) {
      const switched = await runGw(['sim', 'fault', fault, state, '--dir', dir]);
      expect([switched.code, switched.stderr]).toEqual([0, '']);
      expect((await address()).code, `${fault} ${state}`).toBe(code);
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

it('gw sim cloud plays the cloud of a running simulator, which ends also while its broker restarts', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'gw-sim-play-'));
  try {
    await using sim = startGw(['sim', '--dir', dir, '--chassis-port', '0', '--with', 'cloud', '--json']);
    await sim.untilOutput('"event":"ready"');
    const cloud = (...words: string[]) => runGw(['sim', 'cloud', ...words, '--dir', dir]);
    const stop = await cloud('stop', '--reason', 'drill');
    expect([stop.code, stop.stdout.split('\n')[0]]).toEqual([
      0,
      'Stop published for SIM-0001; whether the device received it is not checked.',
    ]);
    const file = join(dir, 'evidence.jsonl');
    const unreadable = await cloud('release', file);
    expect([unreadable.code, unreadable.stderr.replace(/\s+/g, ' ').includes('no manifest.json')]).toEqual([2, true]);
    const waited = await cloud('release', file, '--version', '2.0.0', '--wait', '--timeout', '1', '--json');
    expect([waited.code, JSON.parse(waited.stdout)]).toMatchObject([1, { ok: false, data: { ended: false } }]);
    const { jobId } = JSON.parse(waited.stdout).data.job;
    expect((await cloud('cancel', jobId)).stdout).toContain('is cancelled.');
    expect((await cloud('jobs')).stdout).toContain('1 job, 0 not ended.');
    expect((await cloud('send', 'gw/SIM-0001/stop', '{}')).code).toBe(0);
    expect((await cloud('received')).stdout.trim()).toBe('No message received.');
    expect((await cloud('restart')).stdout).toContain('accepts connections; no client was connected.');
    await runGw(['sim', 'fault', 'cloud-restarting', 'on', '--dir', dir]);
    expect((await sim.end()).code).toBe(0);
    expect((await cloud('jobs')).code).toBe(3);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

it('gw sim tunnel opens tunnels, fetches pages through them, and prints the token on stdout only', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'gw-sim-tunnel-'));
  try {
    await using sim = startGw(['sim', '--dir', dir, '--chassis-port', '0', '--with', 'cloud', '--json']);
    await sim.untilOutput('"event":"ready"');
    const tunnel = (...words: string[]) => runGw(['sim', 'tunnel', ...words, '--dir', dir]);
    await using pages = await startPages();
    await using device = await connectMqtt(dir);
    const destinations: Disposable[] = [];
    const { host, port } = parse(readFileSync(join(dir, 'site.yaml'), 'utf8')).cloud.tunnel;
    device.client.on('message', (_topic, payload) => {
      const { clientAccessToken: token, services } = JSON.parse(payload.toString());
      const ca = caOf(dir).caPem;
      destinations.push(startDestination({ host, port }, { ca, token, service: services[0], targetPort: pages.port }));
    });
    await device.client.subscribeAsync('gw/SIM-0001/tunnels/notify', { qos: 1 });

    const opened = await tunnel('open', '--service', 'status', '--for', '10m', '--json');
    const { data } = JSON.parse(opened.stdout);
    expect([opened.code, opened.stderr, data.tunnel.services]).toEqual([0, '', ['status']]);
    const text = await tunnel('open');
    const token = text.stdout.split('\n').find((line) => line.length > 300) ?? '';
    expect([text.code, text.stderr, token.length > 300]).toEqual([0, '', true]);
    expect(text.stdout).toContain('GW_TUNNEL_TOKEN');
    const listed = await tunnel('list');
    expect(listed.stdout).toContain('2 tunnels, 2 open.');
    expect(listed.stdout).not.toContain(token);
    expect((await tunnel('close')).code).toBe(2);

    const given = await tunnel('browse', '--tunnel', data.tunnel.tunnelId, '--path', '/', '--path', '/settings');
    expect([given.code, given.stdout.split('\n')[0]]).toEqual([
      0,
      `2 of 2 requests answered through tunnel ${data.tunnel.tunnelId}, service status.`,
    ]);
    expect(given.stdout).toContain('title: Robot  SN0007');
    expect(given.stdout).toContain('GET /settings: 403, ');
    expect((await tunnel('browse', '--tunnel', data.tunnel.tunnelId, '--for', '5m')).code).toBe(2);
    const own = await tunnel('browse', '--path', '/cut', '--json');
    expect([own.code, JSON.parse(own.stdout)]).toMatchObject([3, { ok: false, data: { opened: true, problem: null } }]);

    for (const destination of destinations) destination[Symbol.dispose]();
    expect((await tunnel('rotate', data.tunnel.tunnelId)).stdout).toContain('the destination has a new token');
    expect((await tunnel('close', data.tunnel.tunnelId)).stdout).toContain('is closed at the service; ');
    expect((await tunnel('close', data.tunnel.tunnelId)).code).toBe(2);
    await device.client.endAsync(true);
    const unanswered = await tunnel('browse', '--timeout', '1');
    expect([unanswered.code, unanswered.stdout]).toMatchObject([
      3,
      expect.stringContaining('no destination connected within 1 s'),
    ]);
    expect((await sim.end()).code).toBe(0);
    expect(sim.stdout() + sim.stderr()).not.toContain(token);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

async function connectMqtt(dir: string) {
  const { key, cert, ca } = await certificateOf(dir);
  const { host, port } = parse(readFileSync(join(dir, 'site.yaml'), 'utf8')).cloud.mqtt;
  const pair = { key: String(key), cert: String(cert), ca: String(ca) };
  const client = await mqtt.connectAsync({
    protocol: 'mqtts',
    host,
    port,
    clientId: SERIAL,
    reconnectPeriod: 0,
    ...pair,
  });
  return { client, [Symbol.asyncDispose]: () => client.endAsync(true) };
}
