import type { FastifyRequest } from 'fastify';
import { COMMAND_AGENT } from '../../site/index.ts';
import { plainAddress } from './ip-address.ts';
import { scopeOf } from './listener.ts';

/** Who ordered something, for logs and for people: the page, or a command of gw; one on the gateway itself has no address. */
export function requesterOf(request: Pick<FastifyRequest, 'raw' | 'headers'>): string {
  if (scopeOf(request.raw) === 'local') return 'gw command';
  const isCommand = request.headers['user-agent']?.startsWith(COMMAND_AGENT) === true;
  return `${isCommand ? 'gw command' : 'operator surface'}, ${peerAddress(request)}`;
}

/** Whether a command of gw or a page ordered something. */
export function orderedBy(request: Pick<FastifyRequest, 'raw' | 'headers'>): 'command' | 'page' {
  return requesterOf(request).startsWith('gw command') ? 'command' : 'page';
}

/** The peer address of the socket; IPv4 without the prefix that a dual-stack socket adds. */
export function peerAddress({ raw }: Pick<FastifyRequest, 'raw'>): string {
  return scopeOf(raw) === 'local' ? 'a command on the gateway' : plainAddress(raw.socket?.remoteAddress ?? 'unknown');
}
