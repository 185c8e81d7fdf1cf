import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { paths } from '../../chassis/wire.ts';
import type { Clock } from '../../lifecycle/index.ts';
import { createFaults, type FaultName, type Faults } from '../faults.ts';
import { closeServer, listenOn } from '../listen.ts';
import { createBoot } from './boot.ts';
import { writeJson } from './json-writer.ts';
import { topicMessage } from './messages.ts';
import { createPoseNoise } from './noise.ts';
import { createRest } from './rest/rest.ts';
import type { RestReply } from './rest/rest-reply.ts';
import { type Aspect, createRobot } from './robot.ts';
import { createTopicServer, SLOW_MS } from './topic-server.ts';

export interface ChassisOptions {
  readonly port: number;
  readonly serial: string;
  readonly software: string;
  readonly bootMs: number;
  readonly restartMs: number;
  readonly capabilities: Readonly<Record<string, boolean>>;
  readonly speedMS: number;
  readonly poseMs: number;
  readonly clock: Clock;
  readonly onFault: (name: FaultName, on: boolean) => void;
  readonly onRequest: (request: ReceivedRequest) => void;
  readonly onBoot: (state: 'booting' | 'ready') => void;
}

/** A request that reached the chassis. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
}

const HOST = '127.0.0.1';
const TICK_MS = 50;
const HUGE_BYTES = 50 * 1024 * 1024;
const MAX_CONNECTIONS = 512;
/** A map carries its picture and up to 100,000 features as JSON text inside JSON; other bodies are small. */
const MAX_BODY_BYTES = 1024 * 1024;
const MAX_MAP_BYTES = 128 * 1024 * 1024;
/** Pieces of a slow picture, and the interval between two of them. */
const TRICKLE_PIECES = 200;
const TRICKLE_MS = 20;
/** Target of the fault `redirect`: a local port without a listener. */
const REDIRECT_URL = 'http://127.0.0.1:1/elsewhere';
const PAGE =
  '<!DOCTYPE html>\n<html><head><title>Welcome</title></head><body><h1>It works!</h1><p>This is not a robot.</p></body></html>\n';

/** Faults that stand for another peer at this address, so existing connections are closed. */
const droppingFaults: readonly FaultName[] = ['wrong-serial', 'html', 'redirect', 'booting', 'server-error'];

/** The simulated chassis on its port: REST, topics and the faults of transport. Throws PORT_IN_USE. */
export async function startChassis(options: ChassisOptions) {
  const { clock, serial, software } = options;
  const now = () => clock.wall().getTime() / 1000;
  const faults: Faults = createFaults(onFault);
  const boot = createBoot({ clock, now, faults, onChange: options.onBoot });
  const robot = createRobot({
    serial,
    now,
    faults,
    speedMS: options.speedMS,
    onChange: (aspect: Aspect) => topicServer.changed(aspect),
  });
  const noise = createPoseNoise();
  const rest = createRest({
    robot,
    faults,
    serial,
    software,
    capabilities: options.capabilities,
    // Without a time zone, as in the vendor's example.
    clockText: () => clock.wall().toISOString().slice(0, 19).replaceAll('-', '/').replace('T', ' '),
    boot: { ...boot, restart },
  });
  const topicServer = createTopicServer({
    clock,
    faults,
    poseMs: options.poseMs,
    isBooting: boot.isBooting,
    isMoving: robot.moves.isMoving,
    isAtRest: robot.isAtRest,
    supportsLists: options.capabilities.supportsEnableTopicList === true,
    message: (topic) => topicMessage(topic, { robot, faults, noise, now }),
    page: PAGE,
    hugeText,
  });

  const sockets = new Set<Socket>();
  const server = createServer(
    {
      requestTimeout: 30_000,
      headersTimeout: 10_000,
      // Upgrades to other protocols (h2c) are served as ordinary requests.
      shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
    },
    serve,
  );
  server.maxConnections = MAX_CONNECTIONS;
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
  });
  server.on('upgrade', serveUpgrade);
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    else socket.destroy();
  });
  const port = await listenOn(server, HOST, options.port);
  boot.begin(options.bootMs);

  let closing = false;
  let settling: Promise<unknown> = Promise.resolve();
  let lastTick = clock.monotonicMs();
  const ticking = clock.every(TICK_MS, tick);

  function tick(): void {
    const at = clock.monotonicMs();
    const seconds = (at - lastTick) / 1000;
    lastTick = at;
    boot.tick();
    if (boot.isBooting()) return;
    robot.step(seconds);
    topicServer.tick();
  }

  function restart(): void {
    robot.restart();
    boot.begin(options.restartMs);
    // A restart closes the connections, after its reply was sent.
    clock.after(50, () => {
      if (boot.isBooting()) topicServer.drop();
    });
  }

  function onFault(name: FaultName, on: boolean): void {
    if (name === 'cut') setCut(on);
    else if (name === 'silent' && !on) {
      // Requests received while silent stay unanswered.
      for (const socket of sockets) socket.destroy();
    } else if (on && droppingFaults.includes(name)) topicServer.drop();
    boot.tick();
    for (const aspect of ['wheels', 'slam', 'planning'] as const) topicServer.changed(aspect);
    options.onFault(name, on);
  }

  function setCut(cut: boolean): void {
    settling = settling.then(async () => {
      if (closing || server.listening === !cut) return;
      if (!cut) await listenOn(server, HOST, port);
      else await closeAll();
    });
    // `settled` reports a failure; it must not become an unhandled rejection.
    settling.catch(() => {});
    if (cut) {
      server.close();
      for (const socket of sockets) socket.destroy();
    }
  }

  async function closeAll(): Promise<void> {
    const closed = closeServer(server);
    topicServer.drop();
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  function serve(request: IncomingMessage, response: ServerResponse): void {
    response.on('error', () => {});
    request.on('error', () => {});
    options.onRequest({ method: request.method ?? '', path: request.url ?? '' });
    if (faults.is('silent')) return;
    if (faults.is('slow')) clock.after(SLOW_MS, () => void answer(request, response));
    else void answer(request, response);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await respond(request, response);
    } catch {
      // An internal error must not end the simulator; the client sees a closed connection.
      response.destroy();
    }
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (answerWithFault(response)) return;
    const path = readPath(request.url);
    const body = await readBody(request, path !== undefined && acceptsMap(path) ? MAX_MAP_BYTES : MAX_BODY_BYTES);
    if (body === 'too-large') {
      response.setHeader('Connection', 'close');
      write(response, { status: 413, json: { detail: 'body too large' } });
      return;
    }
    if (body === 'broken' || response.destroyed) return;
    const isHead = request.method === 'HEAD';
    const reply: RestReply =
      path === undefined
        ? { status: 400, json: { detail: 'bad path' } }
        : rest.answer({
            method: isHead ? 'GET' : (request.method ?? 'GET'),
            path,
            base: `http://${HOST}:${port}`,
            body: parseBody(body),
            headers: request.headers,
          });
    write(response, reply);
  }

  /** Answers any request with the active fault; false when no such fault is on. */
  function answerWithFault(response: ServerResponse): boolean {
    if (faults.is('redirect')) {
      response.writeHead(302, { Location: REDIRECT_URL, 'Content-Length': 0 }).end();
    } else if (faults.is('html')) {
      response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(PAGE);
    } else if (faults.is('server-error')) {
      write(response, { status: 500, json: { detail: 'internal error' } });
    } else if (faults.is('huge')) {
      const text = hugeText();
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': text.length }).end(text);
    } else if (faults.is('endless')) {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.write('{"logs":[');
      const piece = `${JSON.stringify('and so on '.repeat(100))},`.repeat(16);
      const flow = clock.every(20, () => {
        if (!faults.is('endless') || response.destroyed) {
          flow[Symbol.dispose]();
          response.destroy();
        } else if (!response.writableNeedDrain) response.write(piece);
      });
    } else return false;
    return true;
  }

  function write(response: ServerResponse, reply: RestReply): void {
    if (response.destroyed) return;
    if (!('json' in reply) && !('bytes' in reply)) {
      response.writeHead(reply.status).end();
      return;
    }
    if ('json' in reply) {
      const text = writeJson(reply.json, faults);
      const length = Buffer.byteLength(text);
      response.writeHead(reply.status, {
        'Content-Type': 'application/json',
        'Content-Length': length,
        ...reply.headers,
      });
      response.end(text);
      return;
    }
    const { status, bytes, type, flow } = reply;
    response.writeHead(status, { 'Content-Type': type, 'Content-Length': bytes.length });
    if (flow === 'slow') trickle(response, bytes);
    else if (flow === 'cut') response.write(bytes.subarray(0, bytes.length >> 1), () => response.destroy());
    else response.end(bytes);
  }

  function trickle(response: ServerResponse, bytes: Buffer): void {
    const piece = Math.ceil(bytes.length / TRICKLE_PIECES);
    let sent = 0;
    const flow = clock.every(TRICKLE_MS, () => {
      const left = bytes.length - sent;
      if (response.destroyed || left <= 0) flow[Symbol.dispose]();
      // When the fault is switched off midway, the rest is sent at once.
      if (response.destroyed) return;
      if (left <= piece || !faults.is('image-slow')) {
        response.end(bytes.subarray(sent));
        sent = bytes.length;
      } else {
        response.write(bytes.subarray(sent, sent + piece));
        sent += piece;
      }
    });
  }

  function serveUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    options.onRequest({ method: 'UPGRADE', path: request.url ?? '' });
    if (faults.is('silent')) return;
    if (faults.is('slow')) clock.after(SLOW_MS, () => upgrade(request, socket, head));
    else upgrade(request, socket, head);
  }

  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (socket.destroyed || closing) return;
    if (faults.is('redirect')) refuseUpgrade(socket, '302 Found', '', `Location: ${REDIRECT_URL}\r\n`);
    else if (faults.is('html')) refuseUpgrade(socket, '200 OK', PAGE, 'Content-Type: text/html\r\n');
    else if (faults.is('server-error')) refuseUpgrade(socket, '500 Internal Server Error', '');
    else if (boot.isBooting()) refuseUpgrade(socket, '503 Service Unavailable', '');
    else if (readPath(request.url) !== paths.topics) refuseUpgrade(socket, '404 Not Found', '');
    else topicServer.upgrade(request, socket, head);
  }

  let huge: Buffer | undefined;
  function hugeText(): Buffer {
    if (!huge) {
      huge = Buffer.alloc(HUGE_BYTES, 0x78);
      huge.write('{"device":{"sn":"');
      huge.write('"}}', HUGE_BYTES - 3);
    }
    return huge;
  }

  return {
    host: HOST,
    port,
    faults,
    robot,
    boot,
    connections: topicServer.connections,
    /** Resolves when the last fault change is in effect; rejects when the port could not be bound again. */
    settled: async (): Promise<void> => {
      await settling;
    },
    async close(): Promise<void> {
      closing = true;
      ticking[Symbol.dispose]();
      await settling.catch(() => {});
      topicServer.close();
      await closeAll();
    },
  };
}

function refuseUpgrade(socket: Duplex, status: string, body: string, header = ''): void {
  const length = `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n`;
  socket.on('error', () => {});
  socket.end(`HTTP/1.1 ${status}\r\n${header}${length}\r\n${body}`);
}

/** Whether a request to this path may carry a whole map or all its overlays. */
function acceptsMap(path: string): boolean {
  return path === paths.currentMap || path === '/maps' || path.startsWith('/maps/');
}

/** The path without query and trailing slash; the vendor's text uses both forms. */
function readPath(url: string | undefined): string | undefined {
  const path = url?.split('?', 1)[0] ?? '';
  if (!path.startsWith('/') || path.length > 1024) return undefined;
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

function readBody(request: IncomingMessage, most: number): Promise<Buffer | 'too-large' | 'broken'> {
  const { promise, resolve } = Promise.withResolvers<Buffer | 'too-large' | 'broken'>();
  const pieces: Buffer[] = [];
  let length = 0;
  // A body that is too large is still read to its end, so that the client receives the answer instead of a reset.
  request.on('data', (piece: Buffer) => {
    length += piece.length;
    if (length <= most) pieces.push(piece);
    else resolve('too-large');
  });
  request.on('end', () => resolve(Buffer.concat(pieces)));
  request.on('close', () => resolve('broken'));
  return promise;
}

function parseBody(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}
