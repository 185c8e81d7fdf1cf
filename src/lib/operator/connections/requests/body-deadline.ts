import type { Socket } from 'node:net';
import type { Clock } from '../../../lifecycle/index.ts';
import type { Exchange } from '../connection.ts';
import type { ConnectionLimits } from '../limits.ts';

export interface BodyDeadlineOptions {
  readonly limits: Pick<ConnectionLimits, 'bodyMs' | 'uploadWindowMs' | 'uploadWindowBytes'>;
  readonly clock: Pick<Clock, 'after'>;
  /** Answers a request whose body did not arrive in time. */
  readonly refuseLate: (socket: Socket) => void;
}

/** Closes a connection whose request body misses its deadline. */
export function startBodyDeadline(exchange: Exchange, { limits, clock, refuseLate }: BodyDeadlineOptions): void {
  const { connection, request, response } = exchange;
  let windowBeganAtBytes: number | null = null;
  let deadline = clock.after(limits.bodyMs, expire);
  request.once('close', () => deadline[Symbol.dispose]());

  function expire(): void {
    if (request.complete || connection.socket.destroyed) return;
    if (connection.isUpload && isKeepingUp(connection.socket.bytesRead)) {
      windowBeganAtBytes = connection.socket.bytesRead;
      deadline = clock.after(limits.uploadWindowMs, expire);
      return;
    }
    const isFirst = connection.current === response && !response.headersSent && !response.writableEnded;
    if (isFirst) refuseLate(connection.socket);
    else connection.socket.destroy();
  }

  function isKeepingUp(bytesRead: number): boolean {
    if (windowBeganAtBytes === null || bytesRead - windowBeganAtBytes >= limits.uploadWindowBytes) return true;
    // Buffered bytes mean that this side reads slowly, not the sender.
    return request.readableLength + connection.socket.readableLength > 0;
  }
}
