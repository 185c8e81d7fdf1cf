import type { FastifyRequest } from 'fastify';
import { scopeOf } from './listener.ts';

/** The peer as the operating system names it. IPv4 comes mapped on a dual-stack socket; people know it without. */
export function peerAddress({ raw }: Pick<FastifyRequest, 'raw'>): string {
  return scopeOf(raw) === 'local' ? 'a command on the gateway' : plainAddress(raw.socket?.remoteAddress ?? 'unknown');
}

export function plainAddress(address: string): string {
  return /^::ffff:\d+\.\d+\.\d+\.\d+$/i.test(address) ? address.slice('::ffff:'.length) : address;
}
