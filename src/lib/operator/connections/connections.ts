import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../lifecycle/index.ts';
import { createAdmission } from './admission.ts';
import { dropConnection } from './drop-connection.ts';
import { peerOf } from './ip-address.ts';
import type { ConnectionLimits } from './limits.ts';
import { createRequestTurns, type TurnRequest } from './turns.ts';

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** One accepted connection. */
interface Connection {
  readonly socket: Socket;
  readonly peer: string;
  isHeldOpen: boolean;
  /** Keeps it from being closed to make room until its answer is out. */
  readonly hold: () => void;
  isUpload: boolean;
  /** The answer that is being made or sent. */
  current: ServerResponse | null;
  /** Requests that came before the answer to the one before was out. */
  readonly waiting: Exchange[];
  /** Times in a row that `unreadMs` passed without a byte either way. */
  silentTimes: number;
}

interface Exchange extends TurnRequest {
  readonly connection: Connection;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  isBegun: boolean;
}

/** Keyed by the raw socket: nothing that a client sends can reach it. */
const connections = new WeakMap<Duplex, Connection>();

/**
 * An upload of a signed-in person: instead of the deadline for bodies it must keep a least rate, and its connection is
 * not closed to make room. To be called only after its headers were judged.
 */
export function allowUpload(request: IncomingMessage): void {
  const connection = connections.get(request.socket);
  if (connection === undefined) return;
  connection.isUpload = true;
  connection.hold();
}

/** A live stream: its connection is not closed to make room, as long as those are a small part of all. */
export function holdOpen(request: IncomingMessage): void {
  connections.get(request.socket)?.hold();
}

/** What was done against crowding since the last report. */
export interface Crowding {
  /** Connections that were closed to make room for newer ones. */
  readonly evicted: number;
  readonly refused: number;
  /** Open at the time of the report. */
  readonly open: number;
  /** The peer of the last evicted or refused connection. */
  readonly peer: string;
}

const CROWDING_REPORT_MS = 60_000;
const HELD_PART = 1 / 4;

export interface ConnectionTableOptions {
  readonly limits: ConnectionLimits;
  readonly clock: Pick<Clock, 'monotonicMs' | 'after'>;
  readonly answer: RequestHandler;
  /** Requests that are worked on before all others, and without waiting for an earlier answer on their connection. */
  readonly isUrgent: (request: IncomingMessage) => boolean;
  /** A body that did not come in time, before anything was answered. */
  readonly refuseLate: (socket: Socket) => void;
  /** Once a minute at most. */
  readonly onCrowded?: (crowding: Crowding) => void;
}

/** The connections of one listener: who is let in, who goes first, and what is too slow. */
export function createConnectionTable(options: ConnectionTableOptions) {
  const { limits, clock, answer, isUrgent, refuseLate } = options;
  const open = createAdmission<Connection>(limits);
  const crowded = { evicted: 0, refused: 0, peer: '' };
  let crowdingReportedMs = Number.NEGATIVE_INFINITY;
  const turns = createRequestTurns<Exchange>({
    monotonicMs: () => performance.now(),
    defer: setImmediate,
    run: ({ connection, request, response, isUrgent }) => {
      // A stop counts although its connection was lost meanwhile.
      if (connection.socket.destroyed && !isUrgent) return false;
      answer(request, response);
      return true;
    },
  });

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

  function hold(connection: Connection): void {
    let held = 0;
    for (const { isHeldOpen } of open.connections()) if (isHeldOpen) held += 1;
    // The rest stays free to be closed, or the ones held could keep every new connection out.
    if (held < limits.total * HELD_PART) connection.isHeldOpen = true;
  }

  function begin(exchange: Exchange): void {
    if (exchange.isBegun) return;
    const { connection } = exchange;
    exchange.isBegun = true;
    open.touch(connection);
    if (exchange.isUrgent) {
      connection.hold();
      exchange.response.once('close', () => {
        connection.isHeldOpen = false;
      });
    }
    turns.add(exchange);
  }

  function makeCurrent(connection: Connection, response: ServerResponse): void {
    connection.current = response;
    connection.silentTimes = 0;
    connection.isHeldOpen = false;
    connection.isUpload = false;
  }

  /** The answer before is out: the next request may be worked on. */
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

  /** Closes what does not bring its body in time. */
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
      // What waits for us to take it is no fault of the sender.
      return request.readableLength > 0;
    }
  }

  return {
    sockets: (): Iterable<Socket> => Array.from(open.connections(), ({ socket }) => socket),

    /** Whether the connection may stay; one that may not is already closed. */
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
        isHeldOpen: false,
        hold: () => hold(connection),
        isUpload: false,
        current: null,
        waiting: [],
        silentTimes: 0,
      };
      connections.set(socket, connection);
      open.add(connection);
      socket.once('close', () => open.remove(connection));
      return true;
    },

    /** A request whose headers are in. */
    receive(request: IncomingMessage, response: ServerResponse): void {
      const connection = connections.get(request.socket);
      if (connection === undefined || connection.socket.destroyed) return;
      const exchange: Exchange = {
        connection,
        request,
        response,
        peer: connection.peer,
        isUrgent: isUrgent(request),
        isBegun: false,
      };
      if (hasBody(request)) watchBody(exchange);
      const { current, waiting } = connection;
      if (current === null || (waiting.length === 0 && current.writableFinished)) {
        makeCurrent(connection, response);
        begin(exchange);
        return;
      }
      if (waiting.length >= limits.pipelined) {
        stopParsing(connection.socket);
        dropConnection(connection.socket);
        return;
      }
      if (waiting.length === 0) current.once('close', () => advance(connection));
      waiting.push(exchange);
      if (exchange.isUrgent) begin(exchange);
    },

    /** No byte either way for `unreadMs`. */
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
 * Makes the HTTP parser leave the rest of what was read: 64 KiB hold 2,500 requests, which take 100 ms to be parsed
 * for nothing (measured). Node has no public way; by this answer the parser takes the request for an upgrade.
 */
function stopParsing(socket: Socket): void {
  const { parser } = socket as { parser?: { onIncoming?: unknown } | null };
  if (parser) parser.onIncoming = () => PARSER_UPGRADE;
}

const PARSER_UPGRADE = 2;
