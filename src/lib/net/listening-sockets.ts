import { readFile } from 'node:fs/promises';
import { GwError } from '../error/index.ts';

/** A TCP socket of this machine that accepts connections. */
export interface ListeningSocket {
  /** `0.0.0.0`, `127.0.0.1`, `::`, `::1`, in canonical form. */
  readonly address: string;
  readonly port: number;
  readonly family: 'ipv4' | 'ipv6';
}

const LISTEN = '0A';

/** Parses /proc/net/tcp or /proc/net/tcp6: the sockets in state LISTEN. Other lines are skipped. */
export function parseListeningSockets(text: string): ListeningSocket[] {
  const sockets: ListeningSocket[] = [];
  for (const line of text.split('\n').slice(1)) {
    const [, local, , state] = line.trim().split(/\s+/);
    if (local === undefined || state !== LISTEN) continue;
    const match = /^([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4})$/i.exec(local);
    const [, address = '', port = ''] = match ?? [];
    if (match === null) continue;
    sockets.push({
      address: addressOfHex(address),
      port: Number.parseInt(port, 16),
      family: address.length === 8 ? 'ipv4' : 'ipv6',
    });
  }
  return sockets;
}

/** The TCP sockets that this machine listens on. Throws FILE_UNREADABLE when the kernel's tables cannot be read. */
export async function readListeningSockets(
  paths: readonly string[] = ['/proc/net/tcp', '/proc/net/tcp6'],
): Promise<ListeningSocket[]> {
  const sockets: ListeningSocket[] = [];
  let cause: unknown;
  for (const path of paths) {
    try {
      sockets.push(...parseListeningSockets(await readFile(path, 'utf8')));
    } catch (error) {
      if (!isTableOfNoIpv6(path, error)) cause = error;
    }
  }
  if (cause === undefined) return sockets;
  throw new GwError('FILE_UNREADABLE', 'The list of listening sockets cannot be read.', {
    remedy: `Run this on Linux; tried ${paths.join(', ')}.`,
    cause,
  });
}

/** A kernel without IPv6 has no IPv6 tables; an existing table that cannot be read would hide listeners. */
export function isTableOfNoIpv6(path: string, error: unknown): boolean {
  return path.endsWith('6') && (error as NodeJS.ErrnoException).code === 'ENOENT';
}

/** An address of 8 or 32 hex digits, as the kernel's tables have it, in canonical form. */
export function addressOfHex(hex: string): string {
  return hex.length === 8 ? ipv4Of(hex) : ipv6Of(hex);
}

/** The kernel prints each 32-bit word in host order: little-endian on every machine that gw runs on. */
function bytesOf(hex: string): number[] {
  const bytes: number[] = [];
  for (let word = 0; word < hex.length; word += 8) {
    for (let at = 6; at >= 0; at -= 2) bytes.push(Number.parseInt(hex.slice(word + at, word + at + 2), 16));
  }
  return bytes;
}

function ipv4Of(hex: string): string {
  return bytesOf(hex).join('.');
}

function ipv6Of(hex: string): string {
  const bytes = bytesOf(hex);
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
