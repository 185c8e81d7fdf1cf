import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Clock } from '../../lifecycle/index.ts';
import type { Faults } from '../faults.ts';
import { garbageFrame } from './garbage.ts';
import { writeJson } from './json-writer.ts';
import { isRecord } from './maps/map-store.ts';
import { topicTable } from './messages.ts';
import type { Aspect } from './robot.ts';

export interface TopicServerOptions {
  readonly clock: Clock;
  readonly faults: Faults;
  readonly supportsLists: () => boolean;
  readonly knowsTopic: (topic: string) => boolean;
  readonly isBooting: () => boolean;
  readonly isMoving: () => boolean;
  readonly isAtRest: () => boolean;
  /** A `/twist` of a client: metres and radians a second. */
  readonly twist: (linearMS: number, angularRadS: number) => void;
  readonly message: (topic: string) => object | undefined;
  /** The answer to `/get_device_info_brief`. */
  readonly briefInfo: () => object;
  readonly page: string;
  readonly hugeText: () => Buffer;
}

interface Connection {
  readonly ws: WebSocket;
  readonly socket: Duplex;
  /** Newest first. */
  enabled: string[];
  readonly sentAt: Map<string, number>;
}

/** How late the fault `slow` makes everything. */
export const SLOW_MS = 3000;
const FLAPPING_MS = 2000;
const GARBAGE_MS = 500;
/** A client that reads slower than this loses messages, as with any stream of states. */
const MOST_BUFFERED = 1024 * 1024;
const MOST_TOPICS = 100;
const LONGEST_MESSAGE = 64 * 1024;

/** `/ws/v2/topics` as vendor facts 2 describe it. */
export function createTopicServer(options: TopicServerOptions) {
  const { clock, faults } = options;
  const connections = new Set<Connection>();
  // Pings are answered by hand, because the fault `silent` answers none. Real robots do not compress.
  const server = new WebSocketServer({
    noServer: true,
    autoPong: false,
    perMessageDeflate: false,
    maxPayload: LONGEST_MESSAGE,
  });
  let garbageAt = 0;
  let garbageTurn = -1;
  let flapAt = 0;

  function send(connection: Connection, value: object): void {
    if (faults.is('silent')) return;
    const text = faults.is('html') ? options.page : writeJson(value, faults);
    if (faults.is('slow')) clock.after(SLOW_MS, () => transmit(connection, text));
    else transmit(connection, text);
  }

  function transmit({ ws }: Connection, text: string | Buffer): void {
    if (ws.readyState !== ws.OPEN || ws.bufferedAmount > MOST_BUFFERED || faults.is('silent')) return;
    ws.send(text, { binary: false });
  }

  function sendTopic(connection: Connection, topic: string): void {
    if (options.isBooting() || faults.is('stale')) return;
    const message = options.message(topic);
    if (!message) return;
    connection.sentAt.set(topic, clock.monotonicMs());
    send(connection, message);
  }

  function receive(connection: Connection, text: string): void {
    let request: unknown;
    try {
      request = JSON.parse(text);
    } catch {
      return;
    }
    if (!isRecord(request)) return;
    if (request.topic === '/get_device_info_brief') {
      send(connection, { topic: '/device_info_brief', ...options.briefInfo() });
      return;
    }
    if (request.topic === '/twist') {
      const { linear_velocity: linear, angular_velocity: angular } = request;
      if (typeof linear !== 'number' || typeof angular !== 'number') return;
      options.twist(linear, angular);
      // It says that the command was taken off the socket, in whatever mode the robot is.
      send(connection, { topic: '/twist_feedback' });
      return;
    }
    const { enable_topic: enable, disable_topic: disable } = request;
    if (enable === undefined && disable === undefined) return;
    const enabled = named(enable).filter(options.knowsTopic);
    const disabled = new Set(named(disable));
    for (const topic of enabled) connection.enabled = [topic, ...connection.enabled.filter((known) => known !== topic)];
    connection.enabled = connection.enabled.filter((topic) => !disabled.has(topic));
    if (faults.is('huge')) transmit(connection, options.hugeText());
    // Also when nothing was understood: an unknown topic shows by its absence.
    send(connection, { enabled_topics: connection.enabled });
    for (const topic of enabled) {
      connection.sentAt.delete(topic);
      if (topicTable[topic]?.latched) sendTopic(connection, topic);
    }
  }

  /** The topics that a request names; a list only where the capability is announced (vendor facts 2). */
  function named(value: unknown): string[] {
    if (typeof value === 'string') return [value];
    if (!Array.isArray(value) || !options.supportsLists()) return [];
    return value.slice(0, MOST_TOPICS).filter((topic) => typeof topic === 'string');
  }

  function accept(ws: WebSocket, socket: Duplex): void {
    const connection: Connection = { ws, socket, enabled: [], sentAt: new Map() };
    connections.add(connection);
    ws.on('close', () => connections.delete(connection));
    // A client that breaks the protocol is disconnected by the library; there is nothing more to do.
    ws.on('error', () => {});
    ws.on('message', (data: Buffer, isBinary) => {
      if (!isBinary && !faults.is('silent')) receive(connection, data.toString('utf8'));
    });
    ws.on('ping', (data: Buffer) => {
      if (faults.is('silent')) return;
      const answer = () => {
        if (ws.readyState === ws.OPEN) ws.pong(data);
      };
      if (faults.is('slow')) clock.after(SLOW_MS, answer);
      else answer();
    });
  }

  function isDue(connection: Connection, topic: string, now: number): boolean {
    const row = topicTable[topic];
    const isMoving = options.isMoving();
    const restMs = faults.is('rest-rates') && !isMoving && options.isAtRest() ? row?.restMs : undefined;
    const every = restMs ?? row?.everyMs ?? (isMoving ? row?.movingMs : undefined);
    if (every === undefined) return false;
    const last = connection.sentAt.get(topic);
    // Half a tick of grace, so that a beat between tick and rhythm does not halve the rate.
    return last === undefined || now - last >= every - 15;
  }

  return {
    /** Takes over the socket of an upgrade request. */
    upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
      server.handleUpgrade(request, socket, head, (ws) => accept(ws, socket));
    },
    /** Sends what is due. */
    tick(): void {
      const now = clock.monotonicMs();
      for (const connection of connections) {
        for (const topic of connection.enabled) if (isDue(connection, topic, now)) sendTopic(connection, topic);
      }
      if (faults.is('garbage-frames') && now - garbageAt >= GARBAGE_MS) {
        garbageAt = now;
        garbageTurn += 1;
        for (const { socket } of connections) if (socket.writable) socket.write(garbageFrame(garbageTurn));
      }
      if (faults.is('flapping') && now - flapAt >= FLAPPING_MS) {
        flapAt = now;
        this.drop();
      }
    },
    changed(aspect: Aspect): void {
      for (const connection of connections) {
        for (const topic of connection.enabled) if (topicTable[topic]?.on === aspect) sendTopic(connection, topic);
      }
    },
    /** Ends every connection without a goodbye. */
    drop(): void {
      for (const { ws } of connections) ws.terminate();
      connections.clear();
    },
    connections: (): number => connections.size,
    close(): void {
      this.drop();
      server.close();
    },
  };
}
