import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OwnedSocket } from '../../../../src/lib/net/probe/index.ts';
import { siteSchema } from '../../../../src/lib/site/index.ts';
import { outsideDials } from '../../../../src/lib/toolkit/network/check/outside.ts';
import { addressLines } from '../../../../src/lib/toolkit/network/check/segment.ts';
import { judgeSockets, socketLines } from '../../../../src/lib/toolkit/network/check/sockets.ts';
import { type RobotAddresses, robotAddresses } from '../../../../src/lib/toolkit/network/check/ssh-listener.ts';
import { forAll } from '../../kit.ts';

const siteOf = (network: object = {}, host = '192.0.2.3') => ({
  ...siteSchema.parse({ name: 'test', chassis: { host, serial: 'SN0001' }, network }),
  path: 'site.yaml',
  dir: '.',
});

const socket = (protocol: 'tcp' | 'udp', address: string, port: number, name = 'program'): OwnedSocket => ({
  protocol,
  address,
  port,
  inode: port,
  owners: [{ pid: 4711, name }],
});

const robot = { addresses: ['192.0.2.2'], by: 'network.gateway' };
const judged = (sockets: readonly OwnedSocket[], network?: object) => judgeSockets(sockets, siteOf(network));
const allowed = (one: OwnedSocket, network?: object) => judged([one], network)[0]?.allowedBy;

describe('an open socket on the gateway', () => {
  it('may be SSH, the operator server, the heartbeat, and the read-only socket on loopback', () => {
    expect(judgeSockets([socket('tcp', '192.0.2.2', 22)], siteOf(), robot)[0]?.allowedBy).toBe('platform');
    expect(allowed(socket('tcp', '::', 5173))).toBe('platform');
    expect(allowed(socket('udp', '0.0.0.0', 45301))).toBe('platform');
    expect(allowed(socket('tcp', '127.0.0.1', 5174))).toBe('platform');
  });

  it('may not be the same port of the other protocol, or the read-only socket elsewhere', () => {
    expect(allowed(socket('udp', '0.0.0.0', 22))).toBeNull();
    expect(allowed(socket('tcp', '0.0.0.0', 45301))).toBeNull();
    for (const address of ['0.0.0.0', '::', '192.0.2.2']) expect(allowed(socket('tcp', address, 5174))).toBeNull();
  });

  it('may be listed in the site file with a reason, for one protocol', () => {
    const network = { alsoListening: [{ protocol: 'udp', port: 68, why: 'DHCP client' }] };
    expect(judged([socket('udp', '0.0.0.0', 68)], network)[0]).toMatchObject({
      allowedBy: 'site-file',
      why: 'DHCP client',
    });
    expect(allowed(socket('tcp', '0.0.0.0', 68), network)).toBeNull();
    // An agreed exception never permits the read-only socket.
    const open = { alsoListening: [{ protocol: 'tcp', port: 5174, why: 'remote support' }] };
    expect(allowed(socket('tcp', '0.0.0.0', 5174), open)).toBeNull();
  });

  it('is allowed on loopback, and not on other addresses, for any port', { tags: 'property' }, () => {
    const ports = fc.integer({ min: 1, max: 65_535 }).filter((port) => ![22, 5173, 5174, 45301].includes(port));
    forAll(ports, fc.constantFrom('tcp' as const, 'udp' as const), (port, protocol) => {
      expect(allowed(socket(protocol, '127.0.0.1', port))).toBe('loopback');
      expect(allowed(socket(protocol, '::1', port))).toBe('loopback');
      expect(allowed(socket(protocol, '0.0.0.0', port))).toBeNull();
      expect(allowed(socket(protocol, '192.0.2.2', port))).toBeNull();
    });
  });

  it('is reported with its process and address', () => {
    const lines = socketLines(
      judged([socket('tcp', '0.0.0.0', 9100, 'exporter'), socket('tcp', '127.0.0.1', 22, 'sshd')]),
    );
    expect(lines.map(({ id, verdict }) => [id, verdict])).toEqual([
      ['inward.listening', 'wrong'],
      ['inward.read-only', 'not-checked'],
      ['inward.ssh', 'ok'],
      ['inward.open.tcp.9100.0.0.0.0', 'wrong'],
    ]);
    expect(lines[3]?.detail).toBe('bound to 0.0.0.0 by exporter (process 4711)');
    const hidden = socketLines(judged([{ ...socket('udp', '::', 5353), owners: [] }]));
    expect(hidden[3]?.detail).toContain('an unknown process');
  });

  it('counts once for several processes on one address and port', () => {
    const one = socket('tcp', '0.0.0.0', 22, 'systemd');
    const sockets = judged([one, { ...one, owners: [{ pid: 5, name: 'sshd' }] }, one]);
    expect(sockets).toHaveLength(1);
    expect(sockets[0]?.processes.map(({ name }) => name).sort()).toEqual(['sshd', 'systemd']);
  });

  it('is not-checked without the kernel tables', () => {
    expect(socketLines(null)).toMatchObject([{ verdict: 'not-checked' }]);
  });
});

describe('the listening address of SSH', () => {
  const ssh = (address: string, known: RobotAddresses = robot, network: object = {}) => {
    const lines = socketLines(judgeSockets([socket('tcp', address, 22, 'sshd')], siteOf(network), known));
    const of = (id: string) => lines.find((line) => line.id === id)?.verdict;
    // The overall finding is never better than that of SSH.
    return [of('inward.ssh'), of('inward.listening')];
  };

  it('is no line about a listener where there is none', () => {
    const line = socketLines(judgeSockets([], siteOf(), robot)).find(({ id }) => id === 'inward.ssh');
    expect(line).toMatchObject({ verdict: 'ok', title: 'SSH does not listen on port 22' });
    // SSH over UDP or on another port does not make it true.
    const other = [socket('udp', '0.0.0.0', 22), socket('tcp', '0.0.0.0', 2222, 'sshd')];
    expect(socketLines(judgeSockets(other, siteOf(), robot)).map(({ title }) => title)).not.toContain(
      'SSH listens in the robot segment only',
    );
  });

  it('may be the address in the robot segment, and loopback', () => {
    expect(ssh('192.0.2.2')).toEqual(['ok', 'ok']);
    expect(ssh('127.0.0.1', null)).toEqual(['ok', 'ok']);
    expect(socketLines(judged([])).find(({ id }) => id === 'inward.ssh')?.verdict).toBe('ok');
  });

  it.each(['0.0.0.0', '::', '198.51.100.7', '10.0.0.1'])(
    'may not be %s, also where the site file lists the port',
    (address) => {
      const listed = { alsoListening: [{ protocol: 'tcp', port: 22, why: 'SSH from the office' }] };
      expect(ssh(address)).toEqual(['wrong', 'wrong']);
      expect(ssh(address, robot, listed)).toEqual(['wrong', 'wrong']);
    },
  );

  it('is not checked where no address of the robot segment is known, but wrong on every interface', () => {
    expect(ssh('192.0.2.2', null)).toEqual(['not-checked', 'not-checked']);
    expect(ssh('2001:db8::2')).toEqual(['not-checked', 'not-checked']);
    expect(ssh('0.0.0.0', null)).toEqual(['wrong', 'wrong']);
  });

  it('is compared with the site file, and only then with the connection to the chassis', () => {
    const own = ['192.0.2.2', '198.51.100.7', '127.0.0.1'];
    const from = (network: object, towardsChassis: string | null = null) =>
      robotAddresses(siteOf(network), own, towardsChassis)?.addresses ?? null;
    expect(from({ gateway: '192.0.2.2' }, '198.51.100.7')).toEqual(['192.0.2.2']);
    expect(from({ gateway: 'gw.local', robotSegment: '192.0.2.0/28' })).toEqual(['192.0.2.2']);
    expect(from({ robotSegment: '203.0.113.0/28' }, '198.51.100.7')).toBeNull();
    expect(from({}, '192.0.2.2')).toEqual(['192.0.2.2']);
    // A chassis on this machine, as a simulator is, shows no segment.
    expect(from({}, '127.0.0.1')).toBeNull();
    expect(from({ gateway: '127.0.0.1' })).toBeNull();
    expect(from({})).toBeNull();
  });
});

describe('the addresses of a site', () => {
  const network = { robotSegment: '192.0.2.0/28', gateway: '192.0.2.2' };
  const verdicts = (site: ReturnType<typeof siteOf>, own = ['192.0.2.2']) =>
    addressLines(site, own).map(({ verdict }) => verdict);

  it('are in their segments', () => {
    expect(verdicts(siteOf(network))).toEqual(['ok', 'ok']);
    expect(verdicts(siteOf(network, '198.51.100.3'))).toEqual(['wrong', 'ok']);
    const lift = { name: 'Lift', kind: 'lift', host: '192.0.2.9', port: 3100 };
    expect(verdicts(siteOf({ ...network, devices: [lift] }))).toEqual(['wrong', 'ok']);
    const building = {
      ...siteOf(network),
      operator: siteSchema.parse({
        name: 'b',
        chassis: { host: 'c', serial: 'S' },
        operator: { building: { url: 'http://192.0.2.9' } },
      }).operator,
    };
    expect(verdicts(building)).toEqual(['wrong', 'ok']);
    expect(verdicts(siteOf(network), ['192.0.2.7'])).toEqual(['ok', 'wrong']);
  });

  it('are not checked where they are names, or no segment is agreed', () => {
    expect(verdicts(siteOf(network, 'chassis.local'))).toEqual(['not-checked', 'ok']);
    const lift = { name: 'Lift', kind: 'lift', host: 'lift.example', port: 3100 };
    expect(verdicts(siteOf({ ...network, devices: [lift] }))).toEqual(['not-checked', 'ok']);
    expect(verdicts(siteOf({ robotSegment: network.robotSegment }))).toEqual(['not-checked']);
    expect(verdicts(siteOf())).toEqual(['not-checked']);
  });
});

describe('the endpoints that a second host probes', () => {
  const network = { gateway: '192.0.2.2', alsoListening: [{ protocol: 'tcp', port: 9100, why: 'metrics' }] };
  const open = [
    { protocol: 'tcp', port: 9100, reach: 'other-machines' },
    { protocol: 'udp', port: 45301, reach: 'other-machines' },
    { protocol: 'tcp', port: 631, reach: 'this-machine' },
  ];
  const probed = (segment: 'site' | 'robot') =>
    Object.fromEntries(
      outsideDials(siteOf(network), open, segment).map(({ host, port, answer }) => [`${host}:${port}`, answer]),
    );

  it('must not be reachable from the customer network', () => {
    expect(probed('site')).toEqual({
      '192.0.2.3:8090': 'must-not',
      '192.0.2.2:22': 'must-not',
      '192.0.2.2:5173': 'must-not',
      '192.0.2.2:5174': 'must-not',
      '192.0.2.2:8090': 'must-not',
      '192.0.2.2:9100': 'must-not',
    });
  });

  it('may be reachable in the robot segment by platform or site file', () => {
    expect(probed('robot')).toEqual({
      '192.0.2.3:8090': 'unproven',
      '192.0.2.2:22': 'may',
      '192.0.2.2:5173': 'may',
      '192.0.2.2:5174': 'must-not',
      '192.0.2.2:8090': 'must-not',
      '192.0.2.2:9100': 'may',
    });
  });

  it('are empty for a robot on one machine', () => {
    expect(outsideDials(siteOf({}, '127.0.0.1'), open, 'site')).toEqual([]);
  });
});
