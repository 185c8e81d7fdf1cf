import type { WebSocket } from 'ws';
import type { Clock } from '../../../lifecycle/index.ts';
import { type Chunker, type Chunking, createChunker, MAX_MESSAGE_BYTES } from './chunker.ts';
import { decodeMessage, encodeFrame } from './codec.ts';
import { createFrameAssembler } from './frames.ts';
import type { SideView } from './model.ts';
import { type Side, violation } from './rules.ts';

export interface RelayOptions {
  readonly services: readonly string[];
  readonly chunking: Chunking;
  /** null: no limit. */
  readonly bytesPerS: number | null;
  readonly clock: Pick<Clock, 'monotonicMs' | 'after' | 'random'>;
  /** A client was disconnected for a message that it must not send. */
  readonly onViolation: (side: Side, reason: string) => void;
}

type PauseReason = 'backpressure' | 'bandwidth' | 'silent';

interface Connection {
  readonly side: Side;
  readonly ws: WebSocket;
  readonly chunker: Chunker;
  readonly assembler: ReturnType<typeof createFrameAssembler>;
  readonly started: Set<string>;
  isWithoutService: boolean;
  /** Why the last frame was refused. */
  problem: string | null;
  readonly pausedFor: Set<PauseReason>;
}

/** A side is not read while so much waits for the other one. */
const HIGH_WATER_BYTES = 1024 * 1024;
const LOW_WATER_BYTES = HIGH_WATER_BYTES / 2;
/** Shorter pauses for the bandwidth are made up for later. */
const MIN_BANDWIDTH_PAUSE_MS = 10;

/** Codes of close frames; the vendor documents none, so they are a project decision. */
const NORMAL = 1000;
const UNSUPPORTED = 1003;
const POLICY_VIOLATION = 1008;
/** Until a close frame is answered. */
const CLOSE_WAIT_MS = 5_000;

const otherSide = { source: 'destination', destination: 'source' } as const;

/** The two connections of a tunnel: one per side, a further one replaces it. Frames are relayed unchanged and in order. */
export function createRelay({ services, chunking, bytesPerS, clock, onViolation }: RelayOptions) {
  const current: Record<Side, Connection | null> = { source: null, destination: null };
  const totals = {
    source: { channelId: null as string | null, connects: 0, bytes: 0 },
    destination: { channelId: null as string | null, connects: 0, bytes: 0 },
  };
  /** Stream id by service. */
  const active = new Map<string, number>();
  let isSilent = false;
  let closing: { readonly reason: string } | null = null;
  let freeAtMs = 0;
  let bandwidthTimer: Disposable | null = null;

  function pause(connection: Connection, reason: PauseReason): void {
    connection.pausedFor.add(reason);
    connection.ws.pause();
  }

  function resume(connection: Connection | null, reason: PauseReason): void {
    if (connection === null || !connection.pausedFor.delete(reason)) return;
    if (connection.pausedFor.size === 0) connection.ws.resume();
  }

  const bufferedBytes = (connection: Connection) => connection.ws.bufferedAmount + connection.chunker.waitingBytes();

  function onWritten(connection: Connection): void {
    if (bufferedBytes(connection) <= LOW_WATER_BYTES) resume(current[otherSide[connection.side]], 'backpressure');
  }

  function send(connection: Connection, bytes: Uint8Array): void {
    const { ws } = connection;
    if (ws.readyState === ws.OPEN) ws.send(bytes, () => onWritten(connection));
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
      assembler: createFrameAssembler({
        maxGroupBytes: MAX_MESSAGE_BYTES,
        onFrame: (body) => judge(connection, body),
        onGroup: (frames, isEnded) => current[otherSide[side]]?.chunker.send(frames, isEnded),
      }),
      chunker: createChunker(chunking, clock, (bytes) => send(connection, bytes)),
      started: new Set(),
      isWithoutService: false,
      problem: null,
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
    if (!connection.assembler.push(bytes)) {
      violate(connection, POLICY_VIOLATION, connection.problem ?? '');
      return;
    }
    pauseIfPeerIsFull(connection);
    if (bytesPerS !== null) limit(bytes.length, bytesPerS);
  }

  function judge(connection: Connection, body: Uint8Array): 'accepted' | 'group-ends' | 'refused' {
    const decoded = decodeMessage(body);
    connection.problem =
      decoded.kind === 'invalid' ? decoded.reason : violation(connection.side, decoded.message, connection);
    if (decoded.kind === 'invalid' || connection.problem !== null) return 'refused';
    const { type, serviceId, streamId } = decoded.message;
    if (type === 'stream-reset' && active.get(serviceId) === streamId) active.delete(serviceId);
    if (type !== 'stream-start') return 'accepted';
    const peer = current[otherSide[connection.side]];
    noteStart(connection, serviceId);
    if (peer === null) {
      // Project decision: without it the source would wait for an answer.
      reset(connection, serviceId, streamId);
    } else {
      noteStart(peer, serviceId);
      active.set(serviceId, streamId);
    }
    return 'group-ends';
  }

  function pauseIfPeerIsFull(connection: Connection): void {
    const peer = current[otherSide[connection.side]];
    if (peer !== null && bufferedBytes(peer) > HIGH_WATER_BYTES) pause(connection, 'backpressure');
  }

  /** Reads neither side until the bandwidth has been kept. */
  function limit(bytes: number, rate: number): void {
    const nowMs = clock.monotonicMs();
    freeAtMs = Math.max(nowMs, freeAtMs) + (bytes * 1_000) / rate;
    if (freeAtMs - nowMs < MIN_BANDWIDTH_PAUSE_MS) return;
    for (const connection of connections()) pause(connection, 'bandwidth');
    bandwidthTimer?.[Symbol.dispose]();
    bandwidthTimer = clock.after(freeAtMs - nowMs, () => {
      for (const connection of connections()) resume(connection, 'bandwidth');
    });
  }

  const connections = () => [current.source, current.destination].filter((connection) => connection !== null);

  function reset(connection: Connection, serviceId: string, streamId: number): void {
    connection.chunker.send(encodeFrame({ type: 'stream-reset', serviceId, streamId }), false);
  }

  function violate(connection: Connection, code: number, reason: string): void {
    onViolation(connection.side, reason);
    remove(connection);
    end(connection, code, reason);
  }

  /** The other side is informed by a reset of every stream. */
  function remove(connection: Connection): void {
    const { side, chunker } = connection;
    chunker[Symbol.dispose]();
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

  function cut(side: Side): boolean {
    const connection = current[side];
    connection?.ws.terminate();
    return connection !== null;
  }

  function close(reason: string): void {
    closing = { reason };
    if (isSilent) return;
    bandwidthTimer?.[Symbol.dispose]();
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
    /** Ends a connection without a close frame. */
    cut,
    inject(side: Side, bytes: Uint8Array): boolean {
      const connection = current[side];
      if (connection !== null) send(connection, bytes);
      return connection !== null;
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
    bufferedBytes: (side: Side) => (current[side] === null ? 0 : bufferedBytes(current[side])),
    view: (side: Side): SideView => ({ connected: current[side] !== null, ...totals[side] }),
    [Symbol.dispose]() {
      bandwidthTimer?.[Symbol.dispose]();
      for (const { ws, chunker } of connections()) {
        chunker[Symbol.dispose]();
        ws.terminate();
      }
    },
  };
}

function noteStart(connection: Connection, serviceId: string): void {
  connection.started.add(serviceId);
  connection.isWithoutService = serviceId === '';
}

export type Relay = ReturnType<typeof createRelay>;
