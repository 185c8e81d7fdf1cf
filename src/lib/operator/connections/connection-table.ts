import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../lifecycle/index.ts';
import { createAdmission } from './admission.ts';
import {
  addConnection,
  type Connection,
  connectionOf,
  dropConnection,
  type Exchange,
  type Held,
} from './connection.ts';
import { type Crowding, createCrowding } from './crowding.ts';
import { peerOf } from './ip-address.ts';
import type { ConnectionLimits } from './limits.ts';
import { startBodyDeadline } from './requests/body-deadline.ts';
import { createPipeline } from './requests/pipeline.ts';
import { type Reader, takeOverReading } from './requests/reading.ts';
import { createTurns } from './requests/turns.ts';

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** Parsed in one turn. */
const PIECE_BYTES = 1_024;
/** The same of an upload of a signed-in person: less than a millisecond. A quarter of it took a quarter more processor time (measured). */
const UPLOAD_PIECE_BYTES = 64 * 1_024;
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
  const crowding = createCrowding(clock, open.size, options.onCrowded);
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

  const pipeline = createPipeline(limits.pipelined, begin);

  return {
    sockets: (): Iterable<Socket> => Array.from(open.connections(), ({ socket }) => socket),

    /** Whether the connection is admitted; a refused one is already closed. */
    accept(socket: Socket, peerAddress: string): boolean {
      turns.noteAccepted();
      const peer = peerOf(peerAddress);
      const { kind, evicted } = open.admit(peer);
      if (kind === 'refused') {
        crowding.note('refused', peer);
        dropConnection(socket);
        return false;
      }
      if (evicted !== null) {
        crowding.note('evicted', evicted.peer);
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
      addConnection(connection);
      open.add(connection);
      socket.once('close', () => open.remove(connection));
      return true;
    },

    /** Called when Node's server has set up its parser. */
    read(socket: Socket): void {
      const connection = connectionOf(socket);
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
      const connection = connectionOf(request.socket);
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
        if (takesBody(request)) startBodyDeadline(exchange, { limits, clock, refuseLate });
        else {
          exchange.bodyLeft = 0;
          response.shouldKeepAlive = false;
        }
      }
      pipeline.add(exchange);
    },

    /** Called after `unreadMs` without a byte in either direction. */
    onSilence(socket: Socket): void {
      const connection = connectionOf(socket);
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

/** Size of the next piece of what the connection received; 0: nothing may be parsed now. */
function pieceBytes({ received, isUpload }: Connection): number {
  if (received === null || received.request.complete) return PIECE_BYTES;
  if (!received.isRunning) return 0;
  return isUpload ? UPLOAD_PIECE_BYTES : Math.min(PIECE_BYTES, received.bodyLeft);
}

function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}
