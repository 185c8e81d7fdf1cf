import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../lifecycle/index.ts';
import { createAdmission } from './admission.ts';
import { peerOf } from './ip-address.ts';
import type { ConnectionLimits } from './limits.ts';
import { type Reader, takeOverReading } from './reading.ts';
import { createTurns, type TurnRequest } from './turns.ts';

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** What protects a connection from eviction. Each kind has a share of its own, so that streams take none from the stops. */
type Held = 'stop' | 'stream' | 'upload';

/** One accepted connection. */
interface Connection {
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

interface Exchange extends TurnRequest {
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

/** Evictions and refusals since the last report. */
export interface Crowding {
  /** Connections that were closed in favour of newer ones. */
  readonly evicted: number;
  readonly refused: number;
  /** Open at the time of the report. */
  readonly open: number;
  /** The peer of the last evicted or refused connection. */
  readonly peer: string;
}

/** Parsed in one turn. */
const PIECE_BYTES = 1_024;
/** The same of an upload of a signed-in person: less than a millisecond. A quarter of it took a quarter more processor time (measured). */
const UPLOAD_PIECE_BYTES = 64 * 1_024;
const CROWDING_REPORT_MS = 60_000;
/** Of all connections, for each kind. */
const HELD_PART = 1 / 4;

export interface ConnectionTableOptions {
  readonly limits: ConnectionLimits;
  readonly clock: Pick<Clock, 'monotonicMs' | 'after'>;
  readonly answer: RequestHandler;
  /** Requests that are handled before all others, also before an earlier pipelined request of their connection. */
  readonly isUrgent: (request: IncomingMessage) => boolean;
  /** Whether a body of this request is parsed at all. Otherwise the answer ends the connection. */
  readonly takesBody: (request: IncomingMessage) => boolean;
  /** Answers a request whose body did not arrive in time. */
  readonly refuseLate: (socket: Socket) => void;
  /** Called at most once a minute. */
  readonly onCrowded?: (crowding: Crowding) => void;
}

/** The connections of one listener: admission, request order and timeouts. */
export function createConnectionTable(options: ConnectionTableOptions) {
  const { limits, clock, answer, isUrgent, takesBody, refuseLate } = options;
  const open = createAdmission<Connection>(limits);
  const crowded = { evicted: 0, refused: 0, peer: '' };
  let crowdingReportedMs = Number.NEGATIVE_INFINITY;
  const turns = createTurns<Reader>({
    monotonicMs: clock.monotonicMs,
    defer: setImmediate,
    parse: (reader) => reader.parsePiece(),
  });

  function run(exchange: Exchange): boolean {
    const { connection, request, response, isUrgent } = exchange;
    // A stop is carried out even if its connection was lost meanwhile.
    if (connection.socket.destroyed && !isUrgent) return false;
    exchange.isRunning = true;
    answer(request, response);
    connection.reader?.wake();
    return true;
  }

  function noteCrowding(what: 'evicted' | 'refused', peer: string): void {
    crowded[what] += 1;
    crowded.peer = peer;
    const now = clock.monotonicMs();
    if (now - crowdingReportedMs < CROWDING_REPORT_MS) return;
    crowdingReportedMs = now;
    options.onCrowded?.({ ...crowded, open: open.size() });
    crowded.evicted = 0;
    crowded.refused = 0;
  }

  function hold(connection: Connection, what: Held): void {
    let held = 0;
    for (const { heldFor } of open.connections()) if (heldFor === what) held += 1;
    // Unlimited protected connections could keep every new one out.
    if (held < limits.total * HELD_PART) connection.heldFor = what;
  }

  function begin(exchange: Exchange): void {
    if (exchange.isBegun) return;
    const { connection } = exchange;
    exchange.isBegun = true;
    open.touch(connection);
    if (exchange.isUrgent) {
      connection.hold('stop');
      exchange.response.once('close', () => {
        connection.heldFor = null;
      });
    }
    turns.add(exchange);
  }

  function makeCurrent(connection: Connection, response: ServerResponse): void {
    connection.current = response;
    connection.silentTimes = 0;
    connection.heldFor = null;
    connection.isUpload = false;
  }

  /** The previous answer is sent: starts the next request. */
  function advance(connection: Connection): void {
    const next = connection.socket.destroyed ? undefined : connection.waiting.shift();
    if (next === undefined) {
      connection.waiting.length = 0;
      return;
    }
    makeCurrent(connection, next.response);
    if (connection.waiting.length > 0) next.response.once('close', () => advance(connection));
    begin(next);
  }

  /** Closes a connection whose request body misses its deadline. */
  function watchBody({ connection, request, response }: Exchange): void {
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

  function pieceBytes({ received, isUpload }: Connection): number {
    if (received === null || received.request.complete) return PIECE_BYTES;
    if (!received.isRunning) return 0;
    return isUpload ? UPLOAD_PIECE_BYTES : Math.min(PIECE_BYTES, received.bodyLeft);
  }

  return {
    sockets: (): Iterable<Socket> => Array.from(open.connections(), ({ socket }) => socket),

    /** Whether the connection is admitted; a refused one is already closed. */
    accept(socket: Socket, peerAddress: string): boolean {
      turns.noteAccepted();
      const peer = peerOf(peerAddress);
      const { kind, evicted } = open.admit(peer);
      if (kind === 'refused') {
        noteCrowding('refused', peer);
        dropConnection(socket);
        return false;
      }
      if (evicted !== null) {
        noteCrowding('evicted', evicted.peer);
        dropConnection(evicted.socket);
      }
      const connection: Connection = {
        socket,
        peer,
        heldFor: null,
        get isHeldOpen() {
          return connection.heldFor !== null;
        },
        hold: (what) => hold(connection, what),
        takeTurn: turns.add,
        isUpload: false,
        current: null,
        waiting: [],
        received: null,
        reader: null,
        silentTimes: 0,
      };
      connections.set(socket, connection);
      open.add(connection);
      socket.once('close', () => open.remove(connection));
      return true;
    },

    /** Called when Node's server has set up its parser. */
    read(socket: Socket): void {
      const connection = connections.get(socket);
      if (connection === undefined) return;
      connection.reader = takeOverReading(socket, {
        peer: connection.peer,
        schedule: turns.addReceived,
        pieceBytes: () => pieceBytes(connection),
        onParsed(bytes) {
          const { received } = connection;
          if (received !== null) received.bodyLeft = Math.max(0, received.bodyLeft - bytes);
        },
      });
    },

    /** Called with a request when its headers are parsed. */
    receive(request: IncomingMessage, response: ServerResponse): void {
      const connection = connections.get(request.socket);
      if (connection === undefined || connection.socket.destroyed) return;
      const exchange: Exchange = {
        connection,
        request,
        response,
        peer: connection.peer,
        isUrgent: isUrgent(request),
        run: () => run(exchange),
        isBegun: false,
        isRunning: false,
        bodyLeft: limits.bodyBytes,
      };
      connection.received = exchange;
      if (hasBody(request)) {
        if (takesBody(request)) watchBody(exchange);
        else {
          exchange.bodyLeft = 0;
          response.shouldKeepAlive = false;
        }
      }
      const { current, waiting } = connection;
      if (current === null || (waiting.length === 0 && current.writableFinished)) {
        makeCurrent(connection, response);
        begin(exchange);
        return;
      }
      if (waiting.length >= limits.pipelined) {
        dropConnection(connection.socket);
        return;
      }
      if (waiting.length === 0) current.once('close', () => advance(connection));
      waiting.push(exchange);
      if (exchange.isUrgent) begin(exchange);
    },

    /** Called after `unreadMs` without a byte in either direction. */
    onSilence(socket: Socket): void {
      const connection = connections.get(socket);
      const isAnswering = connection?.current?.writableFinished === false;
      if (connection === undefined || !isAnswering) {
        socket.destroy();
        return;
      }
      if (socket.writableLength > 0) {
        dropConnection(socket);
        return;
      }
      connection.silentTimes += 1;
      if (connection.silentTimes * limits.unreadMs >= limits.silentMs) dropConnection(socket);
      else socket.setTimeout(limits.unreadMs);
    },
  };
}

function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
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
