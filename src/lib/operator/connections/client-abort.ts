import type { FastifyRequest } from 'fastify';

/** Error codes of Node and the body parsers for a connection that its client aborted. */
const abortCodes: ReadonlySet<unknown> = new Set([
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_DESTROYED',
  'ABORT_ERR',
]);

/**
 * Whether a request failed because its client aborted it, which is no error of the gateway. Needs both the code (a
 * reset connection to the chassis has the same) and the closed connection (an internal error may coincide with it).
 */
export function isClientAbort(error: unknown, request: FastifyRequest): boolean {
  const { raw } = request;
  // A completely read request is destroyed too, while its client waits for the answer.
  if (!raw.socket.destroyed && (raw.complete || !raw.destroyed)) return false;
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  return abortCodes.has(code) || message === 'aborted' || message === 'Premature close';
}
