import type { Socket } from 'node:net';

/**
 * Closes a connection at once, with a reset where possible: unread data would otherwise stay in the kernel for minutes.
 * Unix sockets have no reset. While a FIN is pending libuv refuses the reset (EINVAL of uv_tcp_close_reset); Node then
 * leaks the descriptor and spins on it at process exit (24.21, measured).
 */
export function dropConnection(socket: Socket): void {
  const isFinOnItsWay = socket.writableEnded && socket.writableLength === 0 && !socket.writableFinished;
  if (socket.remoteAddress === undefined || isFinOnItsWay) socket.destroy();
  else socket.resetAndDestroy();
}
