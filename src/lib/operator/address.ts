import type { FastifyRequest } from 'fastify';

/** The peer as the operating system tells it. IPv4 comes mapped on a dual-stack socket; people know it without. */
export function peerAddress({ ip }: Pick<FastifyRequest, 'ip'>): string {
  return plainAddress(ip);
}

export function plainAddress(address: string): string {
  return /^::ffff:\d+\.\d+\.\d+\.\d+$/i.test(address) ? address.slice('::ffff:'.length) : address;
}
