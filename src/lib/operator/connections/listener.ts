import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { GwError, systemReason } from '../../error/index.ts';
import { type Clock, systemClock } from '../../lifecycle/index.ts';
import { mayTakeBody } from '../http/body-limits.ts';
import { type Refusal, refuse } from '../http/refusal.ts';
import { securityHeaders } from '../http/security-headers.ts';
import { closeAll, type ListenAddress, openAcceptors } from './acceptors.ts';
import { createConnectionTable, type RequestHandler } from './connection-table.ts';
import type { Crowding } from './crowding.ts';
import { type ConnectionLimits, connectionLimits, openFileLimit, totalWithin } from './limits.ts';

/**
 * The permissions of a connection, set only by the listener that accepted it. `local`: a command on the gateway itself
 * by a user who may open the gateway's files; it counts as signed in.
 */
export type Scope = 'full' | 'read-only' | 'local';

/** Keyed by the raw socket, so no header can influence it. */
const scopes = new WeakMap<Duplex, Scope>();

export type { RequestHandler };

export type ListenerOptions = ListenAddress & {
  readonly scope: Scope;
  /** Called when the listener breaks after it was opened. */
  readonly onBroken?: (error: Error) => void;
  /** Called at most once a minute while connections are evicted or refused. */
  readonly onCrowded?: (crowding: Crowding) => void;
  /** A request that is handled before all others. */
  readonly isUrgent?: (request: IncomingMessage) => boolean;
  /** Overrides of the limits of the scope. */
  readonly limits?: Partial<ConnectionLimits>;
  readonly clock?: Pick<Clock, 'monotonicMs' | 'after' | 'every'>;
};

export interface Listener {
  readonly scope: Scope;
  /**
   * As bound: the port is never 0, and the host is an IPv4 one where IPv6 is disabled. For a Unix socket its path, with
   * port 0.
   */
  readonly host: string;
  readonly port: number;
  /** Closes idle connections at once, the others after their answer, at the latest after `withinMs`. */
  close(withinMs: number): Promise<void>;
}

/** While it closes: a connection is idle once its last answer was sent. */
const IDLE_CHECK_MS = 20;

/**
 * Opens one listener for the application. Rejects with PORT_IN_USE or PORT_UNUSABLE, for a path too. The host '::'
 * means IPv4 and IPv6, and IPv4 only where IPv6 is disabled.
 */
export async function openListener(application: RequestHandler, options: ListenerOptions): Promise<Listener> {
  const { scope, clock = systemClock } = options;
  const limits: ConnectionLimits = { ...connectionLimits[scope], ...options.limits };
  let closing = false;
  let closed: Promise<void> = Promise.resolve();
  const answer: RequestHandler = (request, response) => {
    if (closing) response.shouldKeepAlive = false;
    const refusal = refusedBySocket(request, scope);
    if (refusal) sendRaw(response, refusal);
    else application(request, response);
  };
  const takesBody = (request: IncomingMessage) => scope !== 'read-only' && mayTakeBody(request);
  const table = createConnectionTable({
    limits: { ...limits, total: totalWithin(limits.total, openFileLimit()) },
    clock,
    answer,
    isUrgent: options.isUrgent ?? (() => false),
    takesBody,
    refuseLate: (socket) => refuseConnection(socket, refuse('TIMEOUT')),
    ...(options.onCrowded && { onCrowded: options.onCrowded }),
  });
  const receive: RequestHandler = (request, response) => table.receive(request, response);
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      // The connection table sets the deadline of each body by its route.
      requestTimeout: 0,
      keepAliveTimeout: limits.keepAliveMs,
      connectionsCheckingInterval: Math.min(1_000, limits.headersMs),
      maxHeaderSize: 16 * 1024,
      // Refused below like every other malformed request, so that it is counted as a request.
      requireHostHeader: false,
      noDelay: true,
    },
    receive,
  );
  server.setTimeout(limits.unreadMs, (socket: Socket) => table.onSilence(socket));
  const isAdmitted = (socket: Socket) => {
    // Already reset by the peer; a Unix socket never has an address.
    if (socket.remoteAddress === undefined && typeof server.address() !== 'string') {
      socket.destroy();
      return false;
    }
    scopes.set(socket, scope);
    return table.accept(socket, socket.remoteAddress ?? '');
  };
  admitFirst(server, isAdmitted, table.read);
  // Without this listener Node would send 100 Continue for a request that is then refused.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    if (takesBody(request) && refusedBySocket(request, scope) === null) response.writeContinue();
    receive(request, response);
  });
  // An unknown Expect header is ignored.
  server.on('checkExpectation', receive);
  server.on('connect', (_request, socket) => refuseConnection(socket, connectRefusal(scope)));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    refuseConnection(socket, malformedRefusal(error, scope));
  });

  const where = 'path' in options ? { path: options.path } : { host: options.host, port: options.port };
  const acceptors = await openAcceptors(server, where).catch((error) => {
    throw bindError(options, error);
  });
  const onBroken = (error: Error) => options.onBroken?.(error);
  for (const acceptor of acceptors) acceptor.on('error', onBroken);
  const bound = server.address() as AddressInfo | string;
  const { address, port } = typeof bound === 'string' ? { address: bound, port: 0 } : bound;

  return {
    scope,
    host: address,
    port,
    async close(withinMs) {
      if (closing) return closed;
      closing = true;
      closed = closeAll(acceptors);
      // Browsers open connections in advance; Node does not count one as idle before its first request.
      for (const socket of table.sockets()) if (socket.bytesRead === 0) socket.destroy();
      using _again = clock.every(IDLE_CHECK_MS, () => server.closeIdleConnections());
      using _late = clock.after(withinMs, () => server.closeAllConnections());
      await closed;
    },
  };
}

/** A connection without an entry has the most restricted scope. */
export function scopeOf(request: IncomingMessage): Scope {
  return scopes.get(request.socket) ?? 'read-only';
}

/** Passes only admitted connections to Node's own handler, which allocates a parser for each. */
function admitFirst(
  server: Server,
  isAdmitted: (socket: Socket) => boolean,
  onAdmitted: (socket: Socket) => void,
): void {
  const handlers = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    if (!isAdmitted(socket)) return;
    for (const handle of handlers) handle.call(server, socket);
    onAdmitted(socket);
  });
}

/** The refusal by the socket itself, before the application receives the request; null when there is none. */
function refusedBySocket(request: IncomingMessage, scope: Scope): Refusal | null {
  const { method, url = '' } = request;
  if (scope === 'read-only' && method !== 'GET' && method !== 'HEAD') {
    return refuse('READ_ONLY', { message: 'The read-only socket accepts GET and HEAD only.' });
  }
  if (url.charCodeAt(0) !== SLASH) {
    return scope === 'read-only'
      ? refuse('READ_ONLY', { message: 'The read-only socket accepts origin-form paths only.' })
      : refuse('BAD_REQUEST', { message: 'This server accepts origin-form paths only; it is not a proxy.' });
  }
  if (request.headers.host === undefined && request.httpVersion === '1.1') {
    return refuse('BAD_REQUEST', { message: 'The Host header is missing.' });
  }
  if (repeatsHost(request.rawHeaders)) return refuse('BAD_REQUEST', { message: 'The Host header is repeated.' });
  return null;
}

const SLASH = 0x2f;

function repeatsHost(rawHeaders: readonly string[]): boolean {
  let seen = false;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length !== 4 || name.toLowerCase() !== 'host') continue;
    if (seen) return true;
    seen = true;
  }
  return false;
}

function connectRefusal(scope: Scope): Refusal {
  return scope === 'read-only'
    ? refuse('READ_ONLY', { message: 'The read-only socket accepts GET and HEAD only.' })
    : refuse('BAD_REQUEST', { message: 'This server is not a proxy.' });
}

function malformedRefusal(error: NodeJS.ErrnoException, scope: Scope): Refusal {
  switch (error.code) {
    case 'HPE_INVALID_METHOD':
      return scope === 'read-only'
        ? refuse('READ_ONLY', { message: 'The read-only socket accepts GET and HEAD only.' })
        : refuse('BAD_REQUEST', { message: 'Unknown HTTP method.' });
    case 'HPE_HEADER_OVERFLOW':
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return refuse('HEADERS_TOO_LARGE');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return refuse('TIMEOUT');
    default:
      return refuse('BAD_REQUEST', { message: 'Malformed HTTP request.' });
  }
}

function sendRaw(response: ServerResponse, refusal: Refusal): void {
  const body = Buffer.from(JSON.stringify(refusal.body));
  for (const [name, value] of securityHeaders) response.setHeader(name, value);
  // The rest of a refused connection is discarded: an announced body or a pipelined request.
  response.writeHead(refusal.status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': body.length,
    connection: 'close',
  });
  response.end(body);
}

function refuseConnection(socket: Duplex, refusal: Refusal): void {
  if (!socket.writable || (socket as Socket).destroyed) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(refusal.body);
  const head = [
    `HTTP/1.1 ${refusal.status} ${refusal.body.error.code}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    ...securityHeaders.map(([name, value]) => `${name}: ${value}`),
    'connection: close',
  ];
  socket.on('error', () => {});
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

function bindError(address: ListenAddress, error: NodeJS.ErrnoException): GwError {
  const isPath = 'path' in address;
  const what = isPath ? `The socket ${address.path}` : `Port ${address.port}`;
  const where = isPath ? { address: `unix:${address.path}` } : { address: address.host, port: address.port };
  const more = { tried: { ...where, action: 'listen' }, cause: error };
  if (error.code === 'EADDRINUSE') return new GwError('PORT_IN_USE', `${what} is in use by another program.`, more);
  return new GwError(
    'PORT_UNUSABLE',
    `${what} cannot be opened: ${error.code === undefined ? error.message : systemReason(error)}.`,
    more,
  );
}
