import type { FastifyRequest } from 'fastify';

/** How node and the readers of bodies call a connection that its client gave up. */
const abortCodes: ReadonlySet<unknown> = new Set([
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_DESTROYED',
  'ABORT_ERR',
]);

/**
 * Whether a request failed because its client went away, which is no error of the gateway. The code alone would not do:
 * a connection to the chassis is reset with the same one; nor would the closed connection, behind which a bug may hide.
 */
export function isClientAbort(error: unknown, request: FastifyRequest): boolean {
  const { raw } = request;
  // A request that was read to its end is destroyed as well, while its client waits for the answer.
  if (!raw.socket.destroyed && (raw.complete || !raw.destroyed)) return false;
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  return abortCodes.has(code) || message === 'aborted' || message === 'Premature close';
}
