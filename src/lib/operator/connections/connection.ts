import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Reader } from './requests/reading.ts';
import type { TurnRequest } from './requests/turns.ts';

/** What protects a connection from eviction. Each kind has a share of its own, so that streams take none from the stops. */
export type Held = 'stop' | 'stream' | 'upload';

/** One accepted connection. */
export interface Connection {
  readonly socket: Socket;
  readonly peer: string;
  heldFor: Held | null;
  readonly isHeldOpen: boolean;
  /** Protects it from eviction until its answer is sent. */
  readonly hold: (what: Held) => void;
  /** Asks the scheduler of its listener for a turn. */
  readonly takeTurn: (request: TurnRequest) => void;
  isUpload: boolean;
  /** The answer in progress. */
  current: ServerResponse | null;
  /** Pipelined requests, whose turn comes after the answer in progress. */
  readonly waiting: Exchange[];
  /** The last request whose headers are parsed: what follows belongs to its body, until that is complete. */
  received: Exchange | null;
  reader: Reader | null;
  /** Times in a row that `unreadMs` passed without a byte either way. */
  silentTimes: number;
}

export interface Exchange extends TurnRequest {
  readonly connection: Connection;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  isBegun: boolean;
  /** Whether its handler was called. Before that no more of its body is parsed, since no one would consume it. */
  isRunning: boolean;
  /** Bytes of its body that may still be parsed; the rest is left to the deadline. */
  bodyLeft: number;
}

/** Keyed by the raw socket, so no header can influence it. */
const connections = new WeakMap<Duplex, Connection>();

/** The connection of a socket; undefined where no connection table has accepted it. */
export function connectionOf(socket: Duplex): Connection | undefined {
  return connections.get(socket);
}

export function addConnection(connection: Connection): void {
  connections.set(connection.socket, connection);
}

/**
 * Exempts an upload of a signed-in person from the body deadline (it must keep a minimum rate instead) and from
 * eviction. To be called only after the policy check of its headers.
 */
export function allowUpload(request: IncomingMessage): void {
  const connection = connections.get(request.socket);
  if (connection === undefined) return;
  connection.isUpload = true;
  connection.hold('upload');
}

/** Protects the connection of a live stream from eviction while protected ones are a small part of all. */
export function holdOpen(request: IncomingMessage): void {
  connections.get(request.socket)?.hold('stream');
}

/**
 * Does the work of a request that had to wait (for a disk, a peer) in a turn of its own. What follows an `await` would
 * otherwise run at once, however many requests waited for the same, and a stop behind all of them. The work of a request
 * whose connection is lost is not done, and the promise never settles, unless there is a `whenLost` to be done instead.
 */
export function inTurn<T>(request: IncomingMessage, work: () => T, whenLost?: () => T): Promise<T> {
  const connection = connections.get(request.socket);
  if (connection === undefined) return Promise.resolve().then(work);
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  connection.takeTurn({
    peer: connection.peer,
    isUrgent: false,
    run() {
      const isLost = connection.socket.destroyed;
      const todo = isLost ? whenLost : work;
      try {
        if (todo !== undefined) resolve(todo());
      } catch (error) {
        reject(error);
      }
      return !isLost;
    },
  });
  return promise;
}

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
