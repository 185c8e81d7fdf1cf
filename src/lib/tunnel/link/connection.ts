import type { Socket } from 'node:net';
import type { Clock } from '../../lifecycle/index.ts';
import type { Brake } from './brake.ts';
import { PIECE_OVERHEAD_BYTES, type ProxyLimits } from './limits.ts';
import type { Sender, Sent } from './turns.ts';

/** Pieces of one connection that wait for the WebSocket: many small ones take more memory than their bytes. */
const MAX_READ_PIECES = 64;

const NOTHING: Sent = { bytes: 0, hasMore: false };

export interface ConnectionOptions {
  /** A TCP connection: established, or just begun. */
  readonly connect: () => Socket;
  readonly limits: ProxyLimits;
  readonly clock: Clock;
  /** Of all connections of the WebSocket. */
  readonly brake: Brake;
  /** The target has not read for too long: the connection must be reset. */
  readonly onStalled: () => void;
  /** There is something to send: the connection wants turns. */
  readonly onReady: (connection: Sender) => void;
  /** Sends one DATA message. */
  readonly send: (payload: Uint8Array) => void;
  /** The target has ended it, or could not be reached, and everything before is sent. Called at most once. */
  readonly onEnded: (isConnected: boolean) => void;
  /** The socket is closed, after whichever end. Called once. */
  readonly onClosed: () => void;
}

/** One TCP connection to the target. */
export interface LocalConnection extends Sender {
  /** Writes data of the technician, also before the connection is established. False: the queue is full. */
  write(payload: Uint8Array): boolean;
  /** Bytes that the target has not taken, with their overhead. */
  queuedBytes(): number;
  /** The technician has closed it: what waits is written within the limit of time, then it is closed. Silent from now on. */
  finish(): void;
  /** Resets it at once. Silent from now on. */
  destroy(): void;
}

/**
 * Opens a connection to the target. The protocol has no half-close: the end of the target's data ends the connection.
 * Until it is connected, the socket itself keeps what is written.
 */
export function openConnection(options: ConnectionOptions): LocalConnection {
  const { limits, clock, brake } = options;
  const read: Uint8Array[] = [];
  let readBytes = 0;
  let queued = 0;
  /** The target has ended it. */
  let isOver = false;
  /** The technician has closed it, or its end was reported. */
  let isSilent = false;
  let flushing: Disposable | undefined;

  const socket = options.connect();
  let isConnected = !socket.connecting;
  const connecting = isConnected ? undefined : clock.after(limits.connectMs, () => socket.destroy());
  socket.setNoDelay(true);
  socket.once('connect', () => {
    isConnected = true;
    connecting?.[Symbol.dispose]();
  });
  socket.on('data', (bytes: Uint8Array) => {
    if (isSilent) return;
    read.push(bytes);
    readBytes += bytes.length;
    if (readBytes >= limits.readAheadBytes || read.length >= MAX_READ_PIECES) socket.pause();
    options.onReady(connection);
  });
  const onOver = () => {
    if (isOver || isSilent) return;
    isOver = true;
    options.onReady(connection);
  };
  socket.once('end', onOver);
  socket.on('error', () => {});
  socket.once('close', () => {
    connecting?.[Symbol.dispose]();
    flushing?.[Symbol.dispose]();
    settle(queued);
    onOver();
    options.onClosed();
  });

  /** Written, or given up with the socket. */
  const settle = (bytes: number) => {
    const settled = Math.min(bytes, queued);
    queued -= settled;
    brake.settled(connection, queued, settled);
  };
  const becomeSilent = () => {
    isSilent = true;
    // No more data follows for it, so no other connection has to wait.
    brake.leave(connection);
    read.length = 0;
    readBytes = 0;
  };

  const close = () => {
    // Both ends of the data must be consumed for the socket to close.
    socket.resume();
    socket.destroySoon();
    flushing ??= clock.after(limits.flushMs, () => socket.destroy());
  };

  const connection: LocalConnection = {
    write(payload) {
      if (isSilent || isOver || payload.length === 0 || !socket.writable) return true;
      const cost = payload.length + PIECE_OVERHEAD_BYTES;
      if (queued + cost > limits.queueBytes) return false;
      queued += cost;
      brake.queued(connection, queued, cost, options.onStalled);
      socket.write(payload, () => settle(cost));
      return true;
    },
    queuedBytes: () => queued,
    sendOne() {
      if (isSilent) return NOTHING;
      const [first] = read;
      const chunk = first?.subarray(0, limits.chunkBytes);
      if (first !== undefined && chunk !== undefined) {
        if (chunk.length === first.length) read.shift();
        else read[0] = first.subarray(chunk.length);
        readBytes -= chunk.length;
        options.send(chunk);
        if (readBytes < limits.readAheadBytes / 2 && read.length < MAX_READ_PIECES / 2) socket.resume();
      }
      const hasMore = read.length > 0;
      if (!hasMore && isOver) {
        becomeSilent();
        close();
        options.onEnded(isConnected);
      }
      return { bytes: (chunk?.length ?? 0) + PIECE_OVERHEAD_BYTES, hasMore };
    },
    finish() {
      if (isSilent) return;
      becomeSilent();
      if (isConnected || queued > 0) close();
      else socket.destroy();
    },
    destroy() {
      becomeSilent();
      reset(socket);
    },
  };
  return connection;
}

/**
 * Closes a socket at once, with a reset where that is possible, so that a program does not take what it received for
 * complete. The library would wait for a connect and for what is not written, and cannot reset a socket that sends a FIN.
 */
export function reset(socket: Socket): void {
  if (socket.connecting || socket.writableLength > 0 || socket.writableEnded) {
    socket.destroy();
    return;
  }
  // The library's own sends a FIN before the reset.
  socket._final = (done) => done();
  socket.resetAndDestroy();
}
