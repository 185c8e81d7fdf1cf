import { readdir, readFile, readlink } from 'node:fs/promises';
import { basename } from 'node:path';
import { LISTEN, parseSocketTable, readSocketTables, type SocketPlace } from '../listening-sockets.ts';

/** A socket of this machine that accepts unsolicited traffic: a TCP listener, or UDP without a peer. */
interface OpenSocket extends SocketPlace {
  readonly protocol: 'tcp' | 'udp';
  /** Inode of the socket; 0 when it belongs to no process. */
  readonly inode: number;
}

/** The process that holds a socket. */
interface SocketOwner {
  readonly pid: number;
  /** Program, and for an interpreter its script. Set by the program itself: a hint, not a proof. */
  readonly name: string;
}

export interface OwnedSocket extends OpenSocket {
  /** Empty: not visible to this user, or owned by no process. */
  readonly owners: readonly SocketOwner[];
}

/** UDP without a peer is in the state that TCP calls CLOSE. */
const openState = { tcp: LISTEN, udp: '07' } as const;
const tables = ['/proc/net/tcp', '/proc/net/tcp6', '/proc/net/udp', '/proc/net/udp6'];

/** The open sockets in a table of the kernel. */
export function parseOpenSockets(text: string, protocol: OpenSocket['protocol']): OpenSocket[] {
  const rows = parseSocketTable(text).filter(({ state }) => state === openState[protocol]);
  return rows.map(({ local, inode }) => ({ protocol, ...local, inode: inode ?? 0 }));
}

/** The inode in the target of a link of /proc/<pid>/fd, such as `socket:[4711]`; null for anything else. */
export function socketInode(link: string): number | null {
  const inode = /^socket:\[(\d{1,15})\]$/.exec(link)?.[1];
  return inode === undefined ? null : Number(inode);
}

const interpreters = /^(node|nodejs|python[\d.]*|perl|ruby|java|sh|bash|dash)$/;
const MAX_NAME_CHARACTERS = 100;

/**
 * A recognisable process name, from /proc/<pid>/comm and cmdline: node, for example, sets comm to `MainThread`. Of the
 * arguments only the script of an interpreter is used, since others may be secret.
 */
export function processName(comm: string, cmdline: string): string {
  const [program = '', script = ''] = cmdline.split('\0');
  // A program that rewrites its command line puts a title there.
  const base = program.includes(' ') ? '' : basename(program);
  const isScript = interpreters.test(base) && script !== '' && !script.startsWith('-');
  const name = base === '' ? comm.replace(/\n$/, '') : isScript ? `${base} ${script}` : base;
  return name.slice(0, MAX_NAME_CHARACTERS);
}

/**
 * The open TCP and UDP sockets of this machine, IPv4 and IPv6, with the processes that this user may see (root sees
 * all). Read-only. Throws FILE_UNREADABLE when the kernel's tables cannot be read.
 */
export async function readOpenSockets(): Promise<OwnedSocket[]> {
  const sockets = await readSocketTables(tables, 'open', (text, path) =>
    parseOpenSockets(text, path.includes('udp') ? 'udp' : 'tcp'),
  );
  const owners = await readOwners(new Set(sockets.map(({ inode }) => inode)));
  return sockets.map((socket) => ({ ...socket, owners: owners.get(socket.inode) ?? [] }));
}

async function readOwners(wanted: ReadonlySet<number>): Promise<Map<number, SocketOwner[]>> {
  const owners = new Map<number, SocketOwner[]>();
  const entries = await readdir('/proc').catch(() => []);
  for (const pid of entries.filter((name) => /^\d+$/.test(name))) {
    // A process may end at any moment, and those of other users are not readable.
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
