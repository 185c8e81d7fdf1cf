import type { IncomingMessage } from 'node:http';

/** JSON and forms hold at most a password or the name of a tour. */
export const MAX_BODY_BYTES = 16 * 1024;

/** Methods of which the web framework reads no body. */
export function isBodiless(method: string | undefined): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'TRACE';
}

/**
 * Whether a body is parsed at all. Chunks are not: the framing of one byte costs as much as a whole packet, and browsers
 * and gw announce the length. Project decision.
 */
export function mayTakeBody({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  return !isBodiless(method) && headers['transfer-encoding'] === undefined;
}
