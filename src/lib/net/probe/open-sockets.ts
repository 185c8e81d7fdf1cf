import { readdir, readFile, readlink } from 'node:fs/promises';
import { basename } from 'node:path';
import { GwError } from '../../error/index.ts';
import { addressOfHex, isTableOfNoIpv6 } from '../listening-sockets.ts';

/** A socket of this machine to which somebody else may speak first: TCP that accepts, UDP that is bound to no peer. */
export interface OpenSocket {
  readonly protocol: 'tcp' | 'udp';
  readonly family: 'ipv4' | 'ipv6';
  /** `0.0.0.0`, `127.0.0.1`, `::`, `::1`, in the usual spelling. */
  readonly address: string;
  readonly port: number;
  /** Number by which the kernel knows the socket; 0 for one that belongs to no process. */
  readonly inode: number;
}

/** The process that holds a socket. */
interface SocketOwner {
  readonly pid: number;
  /** Program, and for an interpreter its script. Chosen by the program itself: a hint for a person, and no proof. */
  readonly name: string;
}

export interface OwnedSocket extends OpenSocket {
  /** Empty: this user may not see whose it is, or nobody's. */
  readonly owners: readonly SocketOwner[];
}

/** TCP state LISTEN; UDP without a peer is in the state that TCP calls CLOSE. */
const waitingState = { tcp: '0A', udp: '07' } as const;
const tables = [
  ['tcp', '/proc/net/tcp'],
  ['tcp', '/proc/net/tcp6'],
  ['udp', '/proc/net/udp'],
  ['udp', '/proc/net/udp6'],
] as const;

/** Reads the text of /proc/net/{tcp,tcp6,udp,udp6}: the sockets that wait for somebody. Other lines are left out. */
export function parseOpenSockets(text: string, protocol: OpenSocket['protocol']): OpenSocket[] {
  const sockets: OpenSocket[] = [];
  for (const line of text.split('\n').slice(1)) {
    const columns = line.trim().split(/\s+/);
    const [, local = '', , state] = columns;
    const [, address = '', port = ''] = /^([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4})$/i.exec(local) ?? [];
    if (address === '' || state !== waitingState[protocol]) continue;
    const inode = columns[9] ?? '';
    sockets.push({
      protocol,
      family: address.length === 8 ? 'ipv4' : 'ipv6',
      address: addressOfHex(address),
      port: Number.parseInt(port, 16),
      inode: /^\d{1,15}$/.test(inode) ? Number(inode) : 0,
    });
  }
  return sockets;
}

/** The inode in the target of a link of /proc/<pid>/fd, such as `socket:[4711]`; null for what is no socket. */
export function socketInode(link: string): number | null {
  const inode = /^socket:\[(\d{1,15})\]$/.exec(link)?.[1];
  return inode === undefined ? null : Number(inode);
}

const interpreters = /^(node|nodejs|python[\d.]*|perl|ruby|java|sh|bash|dash)$/;
const NAME_MOST_CHARACTERS = 100;

/**
 * A name that a person recognises, from /proc/<pid>/comm and cmdline: node, for one, calls every program of its own
 * `MainThread`. No argument but the script of an interpreter is taken, since others may be secret.
 */
export function processName(comm: string, cmdline: string): string {
  const [program = '', script = ''] = cmdline.split('\0');
  // A program that rewrote its command line leaves a sentence there.
  const base = program.includes(' ') ? '' : basename(program);
  const isScript = interpreters.test(base) && script !== '' && !script.startsWith('-');
  const name = base === '' ? comm.replace(/\n$/, '') : isScript ? `${base} ${script}` : base;
  return name.slice(0, NAME_MOST_CHARACTERS);
}

/**
 * What this machine listens on over TCP and UDP, IPv4 and IPv6, with the processes as far as this user may see them
 * (root sees all). Only reads. Throws FILE_UNWRITABLE where the kernel does not tell.
 */
export async function readOpenSockets(): Promise<OwnedSocket[]> {
  const sockets: OpenSocket[] = [];
  const unread: string[] = [];
  let cause: unknown;
  for (const [protocol, path] of tables) {
    try {
      sockets.push(...parseOpenSockets(await readFile(path, 'utf8'), protocol));
    } catch (error) {
      if (isTableOfNoIpv6(path, error)) continue;
      unread.push(path);
      cause = error;
    }
  }
  if (unread.length > 0) {
    throw new GwError('FILE_UNWRITABLE', 'The list of open sockets cannot be read.', {
      remedy: `Run this on Linux; looked at ${unread.join(', ')}.`,
      cause,
    });
  }
  const owners = await readOwners(new Set(sockets.map(({ inode }) => inode)));
  return sockets.map((socket) => ({ ...socket, owners: owners.get(socket.inode) ?? [] }));
}

async function readOwners(wanted: ReadonlySet<number>): Promise<Map<number, SocketOwner[]>> {
  const owners = new Map<number, SocketOwner[]>();
  const entries = await readdir('/proc').catch(() => []);
  for (const pid of entries.filter((name) => /^\d+$/.test(name))) {
    // A process may end at any moment, and those of others are closed to us.
    const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => []);
    const links = await Promise.all(descriptors.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')));
    const held = new Set(links.map(socketInode).filter((inode) => inode !== null && wanted.has(inode)));
    if (held.size === 0) continue;
    const read = (file: string) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
    const name = processName(await read('comm'), await read('cmdline'));
    for (const inode of held) {
      if (inode === null) continue;
      owners.set(inode, [...(owners.get(inode) ?? []), { pid: Number(pid), name }]);
    }
  }
  return owners;
}
