import { readFile } from 'node:fs/promises';
import { GwError } from '../error/index.ts';

/** One row of /proc/net/{tcp,tcp6,udp,udp6}; fields that cannot be parsed are null. @source proc(5) */
interface SocketRow {
  readonly local: SocketPlace;
  readonly remote: SocketPlace | null;
  readonly state: string;
  /** Bytes to be acknowledged by the peer, and to be read by the local program. */
  readonly queues: readonly [number, number] | null;
  readonly inode: number | null;
}

export interface SocketPlace {
  /** `0.0.0.0`, `127.0.0.1`, `::`, `::1`, in canonical form. */
  readonly address: string;
  readonly port: number;
}

/** Parses a table of sockets. Lines without a local address are skipped. */
export function parseSocketTable(text: string): SocketRow[] {
  return text
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [, here = '', there = '', state = '', held = '', , , , , inode = ''] = line.trim().split(/\s+/);
      const local = placeOf(here);
      if (local === null) return [];
      const [, send, receive] = /^([0-9A-F]{8}):([0-9A-F]{8})$/i.exec(held) ?? [];
      const queues = send === undefined || receive === undefined ? null : ([hex(send), hex(receive)] as const);
      const isInode = /^\d{1,15}$/.test(inode);
      return [{ local, remote: placeOf(there), state, queues, inode: isInode ? Number(inode) : null }];
    });
}

function placeOf(text: string): SocketPlace | null {
  const [, address = '', port = ''] = /^([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4})$/i.exec(text) ?? [];
  return address === '' ? null : { address: addressOfHex(address), port: hex(port) };
}

function hex(digits: string): number {
  return Number.parseInt(digits, 16);
}

/** The TCP state LISTEN. */
export const LISTEN = '0A';

/** Parses /proc/net/tcp or /proc/net/tcp6: the sockets in state LISTEN. */
export function parseListeningSockets(text: string): SocketPlace[] {
  return parseSocketTable(text).flatMap(({ state, local }) => (state === LISTEN ? [local] : []));
}

/** The TCP sockets that this machine listens on. Throws FILE_UNREADABLE when the kernel's tables cannot be read. */
export function readListeningSockets(
  paths: readonly string[] = ['/proc/net/tcp', '/proc/net/tcp6'],
): Promise<SocketPlace[]> {
  return readSocketTables(paths, 'listening', parseListeningSockets);
}

/** Reads tables of the kernel. Throws FILE_UNREADABLE. */
export async function readSocketTables<T>(
  paths: readonly string[],
  what: 'listening' | 'open',
  parse: (text: string, path: string) => readonly T[],
): Promise<T[]> {
  const found: T[] = [];
  for (const path of paths) {
    try {
      found.push(...parse(await readFile(path, 'utf8'), path));
    } catch (cause) {
      // A kernel without IPv6 has no IPv6 tables; an existing table that cannot be read would hide listeners.
      if (path.endsWith('6') && (cause as NodeJS.ErrnoException).code === 'ENOENT') continue;
      throw new GwError('FILE_UNREADABLE', `The list of ${what} sockets cannot be read.`, {
        remedy: `Run this on Linux; tried ${paths.join(', ')}.`,
        cause,
      });
    }
  }
  return found;
}

/** An address of 8 or 32 hex digits, as the kernel's tables have it, in canonical form. */
function addressOfHex(digits: string): string {
  return digits.length === 8 ? bytesOf(digits).join('.') : ipv6Of(digits);
}

/** The kernel prints each 32-bit word in host order: little-endian on every machine that gw runs on. */
function bytesOf(digits: string): number[] {
  const bytes: number[] = [];
  for (let word = 0; word < digits.length; word += 8) {
    for (let at = 6; at >= 0; at -= 2) bytes.push(hex(digits.slice(word + at, word + at + 2)));
  }
  return bytes;
}

function ipv6Of(digits: string): string {
  const bytes = bytesOf(digits);
  const groups: string[] = [];
  for (let at = 0; at < 16; at += 2) groups.push((((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)).toString(16));
  // The URL parser canonicalises IPv6 addresses.
  return new URL(`http://[${groups.join(':')}]/`).hostname.slice(1, -1);
}

/** `__SO_ACCEPTCON` and SOCK_STREAM, as the kernel prints them. */
const ROW = /^\S+: \S+ \S+ 00010000 0001 \S+ +\d+ (\/.+)$/;

/**
 * Parses /proc/net/unix: the paths of the stream sockets that accept connections. Other lines are skipped; a name may
 * contain anything but a line end. @source proc_net_unix(5)
 */
export function parseListeningUnixSockets(text: string): string[] {
  return text.split('\n').flatMap((line) => ROW.exec(line)?.[1] ?? []);
}
