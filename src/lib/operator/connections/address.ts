import type { FastifyRequest } from 'fastify';
import { plainAddress } from './ip-address.ts';
import { scopeOf } from './listener.ts';

/** The peer address of the socket; IPv4 without the prefix that a dual-stack socket adds. */
export function peerAddress({ raw }: Pick<FastifyRequest, 'raw'>): string {
  return scopeOf(raw) === 'local' ? 'a command on the gateway' : plainAddress(raw.socket?.remoteAddress ?? 'unknown');
}
