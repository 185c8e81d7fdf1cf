import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { topics } from '../../chassis/wire.ts';
import type { Clock } from '../../lifecycle/index.ts';
import type { Faults } from '../faults.ts';
import { writeJson } from './json-writer.ts';
import { isRecord } from './maps/map-store.ts';
import { topicTable } from './messages.ts';
import type { Aspect } from './robot.ts';

const TEXT = 0x81;
const TEXT_UNFINISHED = 0x01;
const CONTINUATION_FINISHED = 0x80;
const RESERVED_OPCODE = 0x83;

const kinds: readonly (() => Buffer)[] = [
  // Whole frames whose payload is not JSON.
  () => frame(TEXT, Buffer.from('topic=/tracked_pose;ori=90')),
  () => frame(TEXT, Buffer.from('"/tracked_pose"')),
  () => frame(TEXT, Buffer.from('{"topic":"/tracked_pose","pos":[1,2],"ori":')),
  () => frame(TEXT, Buffer.from('null')),
  // Invalid UTF-8 in a text frame.
  () => frame(TEXT, Buffer.from([0x7b, 0xff, 0xfe, 0xc0, 0x80, 0x7d])),
  // A continuation without a first frame, and a first frame interrupted by another message.
  () => frame(CONTINUATION_FINISHED, Buffer.from('{"topic":"/alerts"}')),
  () => Buffer.concat([frame(TEXT_UNFINISHED, Buffer.from('{"topic"')), frame(TEXT, Buffer.from('{}'))]),
  () => frame(RESERVED_OPCODE, Buffer.from('x')),
  // Not a frame.
  () => randomBytes(200),
];

export interface TopicServerOptions {
  readonly clock: Clock;
  readonly faults: Faults;
  /** Minimum interval between two poses in milliseconds. */
  readonly poseMs: number;
  /** Whether `enable_topic` may be a list. */
  readonly supportsLists: boolean;
  readonly isBooting: () => boolean;
  readonly isMoving: () => boolean;
  readonly isAtRest: () => boolean;
  readonly message: (topic: string) => object | undefined;
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

/** Delay of the fault `slow`. */
export const SLOW_MS = 3000;
const FLAPPING_MS = 2000;
const GARBAGE_MS = 500;
/** A client with more unsent bytes loses messages. */
const MAX_BUFFERED_BYTES = 1024 * 1024;
const MAX_TOPICS = 100;
const MAX_MESSAGE_BYTES = 64 * 1024;

/** `/ws/v2/topics` (vendor facts 2). */
export function createTopicServer(options: TopicServerOptions) {
  const { clock, faults } = options;
  const connections = new Set<Connection>();
  // Pongs are sent explicitly, because the fault `silent` sends none. Real robots do not compress.
  const server = new WebSocketServer({
    noServer: true,
    autoPong: false,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
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
    if (ws.readyState !== ws.OPEN || ws.bufferedAmount > MAX_BUFFERED_BYTES || faults.is('silent')) return;
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
    const { enable_topic: enable, disable_topic: disable } = request;
    if (enable === undefined && disable === undefined) return;
    const enabled = topicsIn(enable).filter((topic) => Object.hasOwn(topicTable, topic));
    const disabled = new Set(topicsIn(disable));
    for (const topic of enabled) connection.enabled = [topic, ...connection.enabled.filter((known) => known !== topic)];
    connection.enabled = connection.enabled.filter((topic) => !disabled.has(topic));
    if (faults.is('huge')) transmit(connection, options.hugeText());
    // Sent also when no topic is known: an unknown topic is missing in the list.
    send(connection, { enabled_topics: connection.enabled });
    for (const topic of enabled) {
      connection.sentAt.delete(topic);
      if (topicTable[topic]?.latched) sendTopic(connection, topic);
    }
  }

  /** The topics in a request; a list only if the capability is announced (vendor facts 2). */
  function topicsIn(value: unknown): string[] {
    if (typeof value === 'string') return [value];
    if (!Array.isArray(value) || !options.supportsLists) return [];
    return value.slice(0, MAX_TOPICS).filter((topic) => typeof topic === 'string');
  }

  function accept(ws: WebSocket, socket: Duplex): void {
    const connection: Connection = { ws, socket, enabled: [], sentAt: new Map() };
    connections.add(connection);
    ws.on('close', () => connections.delete(connection));
    // The library disconnects a client that violates the protocol.
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
    const least = topic === topics.pose ? options.poseMs : 0;
    const last = connection.sentAt.get(topic);
    // A tolerance, so that the interference of tick and interval does not halve the rate.
    return last === undefined || now - last >= Math.max(every, least) - 15;
  }

  return {
    /** Completes the upgrade request on its socket. */
    upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
      server.handleUpgrade(request, socket, head, (ws) => accept(ws, socket));
    },
    /** Sends the messages that are due. */
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
    /** Closes every connection without a close frame. */
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

export type TopicServer = ReturnType<typeof createTopicServer>;

function frame(head: number, body: Buffer): Buffer {
  if (body.length < 126) return Buffer.concat([Buffer.from([head, body.length]), body]);
  const length = Buffer.from([head, 126, 0, 0]);
  length.writeUInt16BE(body.length, 2);
  return Buffer.concat([length, body]);
}

/** Invalid bytes for a topic connection, one kind per call in rotation. */
function garbageFrame(turn: number): Buffer {
  return kinds[turn % kinds.length]?.() ?? randomBytes(64);
}
