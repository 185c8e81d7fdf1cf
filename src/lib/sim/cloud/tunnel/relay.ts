import type { WebSocket } from 'ws';
import type { Clock } from '../../../lifecycle/index.ts';
import type { TunnelMessage } from '../../../tunnel/wire.ts';
import { createFrameReader, decodeFrame, encodeFrame } from './codec.ts';
import type { SideView } from './model.ts';
import { MAX_MESSAGE_BYTES, type Side, violation } from './rules.ts';

export interface RelayOptions {
  readonly services: readonly string[];
  readonly clock: Pick<Clock, 'after'>;
  /** A client was disconnected for a message that it must not send. */
  readonly onViolation: (side: Side, reason: string) => void;
}

type PauseReason = 'backpressure' | 'silent';

interface Connection {
  readonly side: Side;
  readonly ws: WebSocket;
  readonly readFrames: ReturnType<typeof createFrameReader>;
  readonly started: Set<string>;
  isWithoutService: boolean;
  readonly pausedFor: Set<PauseReason>;
}

/** A side is not read while so much waits for the other one. */
const HIGH_WATER_BYTES = 1024 * 1024;
const LOW_WATER_BYTES = HIGH_WATER_BYTES / 2;

/** Codes of close frames; the vendor documents none, so they are a project decision. */
const NORMAL = 1000;
const UNSUPPORTED = 1003;
const POLICY_VIOLATION = 1008;
/** Until a close frame is answered. */
const CLOSE_WAIT_MS = 5_000;

const otherSide = { source: 'destination', destination: 'source' } as const;

/** The two connections of a tunnel: one per side, a further one replaces it. Frames are relayed unchanged and in order. */
export function createRelay({ services, clock, onViolation }: RelayOptions) {
  const current: Record<Side, Connection | null> = { source: null, destination: null };
  const totals = {
    source: { channelId: null as string | null, connects: 0, bytes: 0 },
    destination: { channelId: null as string | null, connects: 0, bytes: 0 },
  };
  /** Stream id by service. */
  const active = new Map<string, number>();
  let isSilent = false;
  let closing: { readonly reason: string } | null = null;

  function pause(connection: Connection, reason: PauseReason): void {
    connection.pausedFor.add(reason);
    connection.ws.pause();
  }

  function resume(connection: Connection | null, reason: PauseReason): void {
    if (connection === null || !connection.pausedFor.delete(reason)) return;
    if (connection.pausedFor.size === 0) connection.ws.resume();
  }

  function send({ side, ws }: Connection, bytes: Uint8Array): void {
    if (ws.readyState !== ws.OPEN) return;
    ws.send(bytes, () => {
      if (ws.bufferedAmount <= LOW_WATER_BYTES) resume(current[otherSide[side]], 'backpressure');
    });
  }

  /** Takes the WebSocket of a side whose handshake was accepted. */
  function connect(side: Side, ws: WebSocket, channelId: string): void {
    const before = current[side];
    if (before !== null) {
      remove(before);
      end(before, NORMAL, 'replaced by another connection');
    }
    const connection: Connection = {
      side,
      ws,
      readFrames: createFrameReader(),
      started: new Set(),
      isWithoutService: false,
      pausedFor: new Set(),
    };
    current[side] = connection;
    totals[side].channelId = channelId;
    totals[side].connects += 1;
    ws.on('message', (bytes: Buffer, isBinary) => receive(connection, bytes, isBinary));
    // The library disconnects a client that violates the protocol.
    ws.on('error', () => {});
    ws.on('close', () => remove(connection));
    // First, and in a message of its own.
    send(connection, encodeFrame({ type: 'service-ids', availableServiceIds: services }));
    pauseIfPeerIsFull(connection);
  }

  function receive(connection: Connection, bytes: Buffer, isBinary: boolean): void {
    if (current[connection.side] !== connection) return;
    if (!isBinary) {
      violate(connection, UNSUPPORTED, 'a text message');
      return;
    }
    totals[connection.side].bytes += bytes.length;
    let group: Buffer[] = [];
    function forward(): void {
      const peer = current[otherSide[connection.side]];
      if (peer !== null && group.length > 0) send(peer, Buffer.concat(group));
      group = [];
    }
    for (const frame of connection.readFrames(bytes)) {
      const decoded = decodeFrame(frame);
      const problem =
        decoded.kind === 'invalid' ? decoded.reason : violation(connection.side, decoded.message, connection);
      if (decoded.kind === 'invalid' || problem !== null) {
        forward();
        violate(connection, POLICY_VIOLATION, problem ?? '');
        return;
      }
      if (sizeOf(group) + frame.length > MAX_MESSAGE_BYTES) forward();
      group.push(frame);
      follow(connection, decoded.message);
      // A widely used destination leaves what follows a start in the same message unread (HINWEIS).
      if (decoded.message.type === 'stream-start') forward();
    }
    forward();
    pauseIfPeerIsFull(connection);
  }

  /** Follows which streams are active. */
  function follow(connection: Connection, { type, serviceId, streamId }: TunnelMessage): void {
    if (type === 'stream-reset' && active.get(serviceId) === streamId) active.delete(serviceId);
    if (type !== 'stream-start') return;
    const peer = current[otherSide[connection.side]];
    noteStart(connection, serviceId);
    if (peer === null) {
      // Project decision: without it the source would wait for an answer.
      reset(connection, serviceId, streamId);
    } else {
      noteStart(peer, serviceId);
      active.set(serviceId, streamId);
    }
  }

  function pauseIfPeerIsFull(connection: Connection): void {
    const peer = current[otherSide[connection.side]];
    if (peer !== null && peer.ws.bufferedAmount > HIGH_WATER_BYTES) pause(connection, 'backpressure');
  }

  const connections = () => [current.source, current.destination].filter((connection) => connection !== null);

  function reset(connection: Connection, serviceId: string, streamId: number): void {
    send(connection, encodeFrame({ type: 'stream-reset', serviceId, streamId }));
  }

  function violate(connection: Connection, code: number, reason: string): void {
    onViolation(connection.side, reason);
    remove(connection);
    end(connection, code, reason);
  }

  /** The other side is informed by a reset of every stream. */
  function remove(connection: Connection): void {
    const { side } = connection;
    if (current[side] !== connection) return;
    current[side] = null;
    const peer = current[otherSide[side]];
    if (peer !== null) for (const [serviceId, streamId] of active) reset(peer, serviceId, streamId);
    active.clear();
    resume(peer, 'backpressure');
  }

  function end({ ws, pausedFor }: Connection, code: number, reason: string): void {
    // The answer to the close frame has to be read.
    pausedFor.clear();
    ws.resume();
    ws.close(code, reason.slice(0, 120));
    const timer = clock.after(CLOSE_WAIT_MS, () => ws.terminate());
    ws.once('close', () => timer[Symbol.dispose]());
  }

  function close(reason: string): void {
    closing = { reason };
    if (isSilent) return;
    active.clear();
    for (const connection of connections()) {
      remove(connection);
      end(connection, NORMAL, reason);
    }
  }

  return {
    connect,
    /** A close frame to both sides. */
    close,
    /** Ends both connections without a close frame. */
    cut(): void {
      for (const { ws } of connections()) ws.terminate();
    },
    /** While silent nothing is read, answered or closed; what the clients sent is relayed afterwards. */
    setSilent(on: boolean): void {
      isSilent = on;
      for (const connection of connections()) {
        if (on) pause(connection, 'silent');
        else resume(connection, 'silent');
      }
      if (!on && closing !== null) close(closing.reason);
    },
    view: (side: Side): SideView => ({ connected: current[side] !== null, ...totals[side] }),
  };
}

function noteStart(connection: Connection, serviceId: string): void {
  connection.started.add(serviceId);
  connection.isWithoutService = serviceId === '';
}

function sizeOf(frames: readonly Buffer[]): number {
  return frames.reduce((sum, { length }) => sum + length, 0);
}

export type Relay = ReturnType<typeof createRelay>;
