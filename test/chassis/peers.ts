import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { expect } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { createChassisClient } from '../../src/lib/chassis/index.ts';
import type { GwError } from '../../src/lib/error/index.ts';
import { directDialer, type Endpoint } from '../../src/lib/net/index.ts';
import { freePort } from '../free-port.ts';
import { listening } from '../listening.ts';
import { until as untilAsExpected } from '../waiting.ts';

/** A peer on a loopback port of its own; disposing it closes every connection. */
export interface Peer extends AsyncDisposable {
  readonly endpoint: Endpoint;
  /** Number of accepted connections. */
  readonly connections: () => number;
  readonly sockets: ReadonlySet<Socket>;
  /** Ends every connection, and accepts none until it is restored. */
  cut(): Promise<void>;
  restore(): Promise<void>;
}

async function listen(server: Server, port = 0): Promise<Peer> {
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    // Reads, so that the end of a connection is detected.
    socket.resume();
  });
  const running = await listening(server, port);
  const { host, port: own, sockets } = running;
  return {
    endpoint: { host, port: own },
    connections: () => connections,
    sockets,
    cut: () => running[Symbol.asyncDispose](),
    restore: async () => void (await once(server.listen(own, host), 'listening')),
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}

/** A peer whose behaviour on each connection is given by the test. */
export async function rawPeer(onSocket: (socket: Socket) => void): Promise<Peer> {
  return listen(createServer(onSocket));
}

/** A peer that answers every request with these bytes, then closes. */
export async function answeringPeer(answer: string | Buffer): Promise<Peer> {
  return rawPeer((socket) => {
    socket.once('data', () => socket.end(answer));
  });
}

/** Whole HTTP answer with a body. */
export function httpAnswer(
  body: string | Buffer,
  head: Record<string, string | number> = {},
  status = '200 OK',
): Buffer {
  const lines = Object.entries({ 'content-length': Buffer.byteLength(body), ...head }).map(
    ([k, v]) => `${k}: ${v}\r\n`,
  );
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status}\r\n${lines.join('')}\r\n`), Buffer.from(body)]);
}

/** A loopback port on which nothing listens. */
export async function closedPort(): Promise<Endpoint> {
  return { host: '127.0.0.1', port: await freePort() };
}

export function deviceInfo(serial = 'SN-1', more: object = {}): object {
  return {
    axbot_version: '2.12.3',
    device: { sn: serial, model: 'm1' },
    caps: { supportsWsV2: true, supportsEnableTopicList: true },
    time: '2026/01/31 12:00:00',
    ...more,
  };
}

export interface FakeChassis extends Peer {
  serial: string;
  caps: Record<string, boolean>;
  /** Answers 503 to every request except the start progress. */
  booting: number | null;
  /** Handles a request before the default routes; true when it has answered. */
  intercept: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Topics missing in its acknowledgement. */
  unknownTopics: string[];
  /** Latched messages of a topic; by default one valid message of each topic that gw reads. */
  latched: (topic: string) => object | string | undefined;
  readonly requests: string[];
  readonly bodies: { path: string; method: string; body: unknown; headers: IncomingMessage['headers'] }[];
  /** Messages received from the clients of the topic stream. */
  readonly received: unknown[];
  readonly streams: ReadonlySet<WebSocket>;
  publish(message: object | string | Buffer): void;
}

/** Latched values that are sent when a topic is enabled. */
const latched: Record<string, object> = {
  '/tracked_pose': { topic: '/tracked_pose', pos: [1.5, -2], ori: 90 },
  '/battery_state': { topic: '/battery_state', secs: 1, percentage: 0.5, power_supply_status: 'discharging' },
  '/wheel_state': { topic: '/wheel_state', control_mode: 'auto', emergency_stop_pressed: false },
  '/slam/state': { topic: '/slam/state', state: 'positioning', reliable: true },
  '/alerts': { topic: '/alerts', alerts: [{ code: 8501, level: 'warning', msg: 'battery low' }] },
  '/map/info': {
    ...{ topic: '/map/info', name: 'ground floor', uid: 'u1' },
    ...{ map_version: 3, overlays_version: 4, overlays: {} },
  },
  '/planning_state': { topic: '/planning_state', action_id: 7, move_state: 'idle', fail_reason: 0, target_poses: [] },
};

/** A small chassis for the tests of the client: HTTP and topic stream on one port. */
export async function fakeChassis(port = 0): Promise<FakeChassis> {
  const requests: string[] = [];
  const bodies: FakeChassis['bodies'] = [];
  const received: unknown[] = [];
  const streams = new Set<WebSocket>();

  const server = createHttpServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    if (chassis.intercept(request, response)) return;
    const json = (value: unknown, status = 200) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value));
    };
    if (request.url === '/device/boot_progress') {
      return json({ start_time: 1, progress: chassis.booting ?? 1, logs: [{ stamp: 1, progress: 0.1, msg: 'lidar' }] });
    }
    if (chassis.booting !== null) return json({ message: 'booting' }, 503);
    if (request.url === '/device/info') return json(deviceInfo(chassis.serial, { caps: chassis.caps }));
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const { method = '', url: path = '' } = request;
      if (text !== '') bodies.push({ path, method, body: JSON.parse(text), headers: request.headers });
      if (method === 'POST' && path === '/chassis/moves') return json({ id: 41 }, 201);
      if (method === 'POST' && path === '/chassis/pose') return json({}, 201);
      if (method === 'PATCH' && path === '/chassis/moves/current') return json({ state: 'cancelled' });
      json({ message: 'error: not found' }, 404);
    });
  });
  const sockets = new WebSocketServer({ server, path: '/ws/v2/topics', perMessageDeflate: false });
  sockets.on('connection', (stream) => {
    const enabled = new Set<string>();
    streams.add(stream);
    stream.on('error', () => {});
    stream.on('close', () => streams.delete(stream));
    stream.on('message', (data) => {
      const message = JSON.parse(String(data));
      received.push(message);
      for (const topic of [message.enable_topic ?? []].flat()) {
        if (chassis.unknownTopics.includes(topic)) continue;
        enabled.add(topic);
        const re = chassis.latched(topic);
        if (re !== undefined) stream.send(typeof re === 'string' ? re : JSON.stringify(re));
      }
      for (const topic of [message.disable_topic ?? []].flat()) enabled.delete(topic);
      stream.send(JSON.stringify({ enabled_topics: [...enabled].reverse() }));
    });
  });
  const peer = await listen(server, port);
  const chassis: FakeChassis = {
    ...peer,
    serial: 'SN-1',
    caps: { supportsWsV2: true, supportsEnableTopicList: true },
    booting: null,
    intercept: () => false,
    latched: (topic) => latched[topic],
    unknownTopics: [],
    requests,
    bodies,
    received: received,
    streams,
    publish(message) {
      const raw = typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message);
      for (const stream of streams) stream.send(raw);
    },
    async [Symbol.asyncDispose]() {
      sockets.close();
      await peer[Symbol.asyncDispose]();
    },
  };
  return chassis;
}

/** The error of a request that is to fail. */
export const failureOf = (work: Promise<unknown>): Promise<GwError> =>
  work.then(
    () => expect.fail('it should have failed'),
    (error: unknown) => error as GwError,
  );

/** A client of this chassis. */
export const clientOf = (
  { endpoint }: Pick<Peer, 'endpoint'>,
  more: Partial<Parameters<typeof createChassisClient>[0]> = {},
) => createChassisClient({ endpoint, dialer: directDialer, ...more });

/** Waits until this holds. */
export const until = (holds: () => boolean) => untilAsExpected(() => null, holds);
