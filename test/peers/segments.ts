import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inside } from './namespace.ts';
import { type PeerProgram, startPeer } from './network-peers.ts';
import { ip } from './peer.ts';
import { makeKey } from './sshd.ts';

// Addresses for documentation, used only inside the namespaces that a test makes.
export const ROBOT = '192.0.2.0/28';
export const GATEWAY = '192.0.2.2';
export const CHASSIS = '192.0.2.3';
export const TABLET = '192.0.2.4';
const LAPTOP = '192.0.2.5';
export const OFFICE = '198.51.100.20';
export const BROKER = '203.0.113.10';
export const STORAGE = '203.0.113.11';
export const ENROLMENT = '203.0.113.12';

/** Hosts on the cables of the router's robot segment, with their addresses. */
const robotSegment = { gateway: GATEWAY, chassis: CHASSIS, tablet: TABLET, laptop: LAPTOP } as const;
const sides = ['wall', 'gateway', 'chassis', 'tablet', 'laptop', 'office', 'outside'] as const;
export type Side = (typeof sides)[number];
/** Several of these networks may exist at the same time. */
const world = randomBytes(3).toString('hex');
export const nameOf = (side: Side) => `gw-${side}-${process.pid}-${world}`;
export const macOf = (side: Side) => `02:00:00:00:00:0${sides.indexOf(side)}`;

/** A robot segment, the customer network and the internet, with a router between them; removed at the end. */
export function layNetworks(): Disposable {
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
    ip('-n', nameOf(side), 'link', 'set', 'eth0', 'address', macOf(side));
    ip('-n', nameOf(side), 'addr', 'add', address, 'dev', 'eth0');
    ip('-n', nameOf(side), 'link', 'set', 'eth0', 'up');
    ip('-n', wall, 'link', 'set', `to-${side}`, 'up');
    ip('-n', nameOf(side), 'route', 'add', 'default', 'via', router);
  };
  for (const [side, address] of Object.entries(robotSegment) as [keyof typeof robotSegment, string][]) {
    cable(side, `${address}/28`, '192.0.2.1');
    ip('-n', wall, 'link', 'set', `to-${side}`, 'master', 'robot');
  }
  cable('office', `${OFFICE}/24`, '198.51.100.1');
  ip('-n', wall, 'addr', 'add', '198.51.100.1/24', 'dev', 'to-office');
  cable('outside', `${BROKER}/24`, '203.0.113.1');
  for (const address of [STORAGE, ENROLMENT]) {
    ip('-n', nameOf('outside'), 'addr', 'add', `${address}/24`, 'dev', 'eth0');
  }
  ip('-n', wall, 'addr', 'add', '203.0.113.1/24', 'dev', 'to-outside');
  ip('netns', 'exec', wall, 'sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward');
  return undo.move();
}

/** Traffic that the router drops silently. */
const rules = {
  // The customer network cannot reach the robot, except for answers of SSH.
  segment: ['from', '198.51.100.0/24', 'to', ROBOT, 'blackhole'],
  mqtt8883: ['ipproto', 'tcp', 'dport', '8883', 'blackhole'],
} as const;

export function drop(rule: keyof typeof rules, isDropped: boolean): void {
  const [action, priority] = [isDropped ? 'add' : 'del', rule === 'segment' ? '200' : '50'];
  ip('-n', nameOf('wall'), 'rule', action, 'priority', priority, ...rules[rule]);
}

/** Blocks the route from the customer network to the robot; answers of its SSH server to the gateway pass. */
export function separate(): void {
  const answers = ['from', '198.51.100.0/24', 'to', ROBOT, 'ipproto', 'tcp', 'sport', '22', 'lookup', 'main'];
  ip('-n', nameOf('wall'), 'rule', 'add', 'priority', '100', ...answers);
  drop('segment', true);
}

/** Accepts connections at an address of a namespace. */
export function listenerIn(side: Side, host: string, port: number) {
  const script = `require('node:net').createServer((s) => s.on('error', () => {})).listen(${port}, '${host}', () => console.log('listening'))`;
  return inside(nameOf(side), ['-e', script]);
}

export interface SegmentSshd extends PeerProgram {
  /** Its line of known_hosts. */
  readonly knownHostLine: string;
}

/**
 * Debian's sshd on port 22 of a namespace; the key of this file may log in. `environment` is that of its programs;
 * their home is a folder of the server unless set otherwise, so that the shell profile of this user has no effect.
 */
export async function startSshdIn(
  dir: string,
  { side, host }: { readonly side: Side; readonly host: string },
  authorizedKeys: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<SegmentSshd> {
  const home = join(dir, `sshd-${side}`);
  mkdirSync(home);
  makeKey(join(home, 'host_key'));
  const [type, key] = readFileSync(join(home, 'host_key.pub'), 'utf8').split(' ');
  mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
  const lines = [
    `ListenAddress ${host}:22`,
    `HostKey ${join(home, 'host_key')}`,
    `AuthorizedKeysFile ${authorizedKeys}`,
    `PidFile ${join(home, 'pid')}`,
    'StrictModes no',
    'UsePAM no',
    'PermitRootLogin yes',
    `SetEnv ${Object.entries({ HOME: home, ...environment })
      .map((pair) => pair.join('='))
      .join(' ')}`,
  ];
  writeFileSync(join(home, 'sshd_config'), `${lines.join('\n')}\n`);
  const words = ['/usr/sbin/sshd', '-D', '-e', '-f', join(home, 'sshd_config')] as const;
  const peer = await startPeer([...words], 22, { side: nameOf(side), host });
  return { ...peer, knownHostLine: `${host} ${type} ${key}\n` };
}
