import { isIPv6 } from 'node:net';

/** Removes the prefix of an IPv4-mapped IPv6 address. */
export function plainAddress(address: string): string {
  return /^::ffff:\d+\.\d+\.\d+\.\d+$/i.test(address) ? address.slice('::ffff:'.length) : address;
}

/** Whether an address of a socket is one of this machine that no other machine can send from. */
export function isLoopback(address: string): boolean {
  return address === '::1' || /^127\.\d+\.\d+\.\d+$/.test(plainAddress(address));
}

/** Key of the limits per peer: the IPv4 address, or the /64 of an IPv6 address, all of which one machine owns. */
export function peerOf(mapped: string): string {
  const address = plainAddress(mapped);
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('%')[0]?.split('::') ?? [];
  const left = head.split(':').filter(Boolean);
  const right = (tail ?? '').split(':').filter(Boolean);
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0');
  return [...left, ...zeros, ...right].slice(0, 4).join(':');
}
