import type { FastifyRequest } from 'fastify';
import { plainAddress } from './ip-address.ts';
import { scopeOf } from './listener.ts';

/** The peer as the operating system names it. IPv4 comes mapped on a dual-stack socket; people know it without. */
export function peerAddress({ raw }: Pick<FastifyRequest, 'raw'>): string {
  return scopeOf(raw) === 'local' ? 'a command on the gateway' : plainAddress(raw.socket?.remoteAddress ?? 'unknown');
}
