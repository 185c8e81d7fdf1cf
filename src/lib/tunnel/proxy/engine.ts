import type { Socket } from 'node:net';
import type { Clock } from '../../lifecycle/index.ts';
import { shorten } from '../../text/index.ts';
import {
  createBrake,
  createTurns,
  type Engine,
  type EngineEnd,
  type LocalConnection,
  openConnection,
  type ProxyLimits,
  type TunnelWire,
} from '../link/index.ts';
import type { PartialMessage } from '../wire/codec.ts';
import type { TunnelMessage } from '../wire.ts';

/** Different notes of one WebSocket: some contain what the peer sent. */
const MAX_NOTES = 20;

/** Kept over all WebSockets of a session. */
export interface ProxyCounts {
  /** Open TCP connections to the target. */
  open: number;
  /** All since the start. */
  connections: number;
  /** From the technician to the target. */
  bytesIn: number;
  bytesOut: number;
}

export interface EngineOptions {
  readonly services: readonly string[];
  readonly wire: TunnelWire;
  /** Begins a TCP connection to the target. */
  readonly connect: () => Socket;
  readonly limits: ProxyLimits;
  readonly clock: Clock;
  readonly counts: ProxyCounts;
  /** For the log; each text at most once. */
  readonly onNote: (text: string) => void;
}

/**
 * The rules of the destination, on one WebSocket: no state outlives it.
 * @source vendor (HINWEIS), and project decisions where it says nothing: see docs/remote-support.md
 */
export function createEngine(options: EngineOptions): Engine {
  const { services, wire, limits, clock, counts } = options;
  const streams = new Map<string, Stream>();
  const turns = createTurns({
    unsentBytes: wire.unsentBytes,
    pauseBytes: limits.unsentPauseBytes,
    creditBytes: limits.creditBytes,
  });
  /** Sockets that are not closed yet, including those that write their rest. */
  const sockets = new Map<string, Set<LocalConnection>>(services.map((service) => [service, new Set()]));
  const { promise: allClosed, resolve: onAllClosed } = Promise.withResolvers<void>();
  let isOver = false;
  const brake = createBrake({ limits, clock, setHeld: wire.setHeld, onTotalLate: () => resetLongestQueue() });
  const noted = new Set<string>();
  let isReady = false;

  const note = (text: string) => {
    if (noted.has(text) || noted.size >= MAX_NOTES) return;
    noted.add(text);
    options.onNote(text);
  };

  const send = (message: PartialMessage) => wire.send(message);

  const resetStream = (stream: Stream) => send({ ...idsOf(stream, 0), type: 'stream-reset', connectionId: 0 });

  /** Reports the end of a connection to the peer: versions 1 and 2 can only reset the whole stream. */
  const resetConnection = (stream: Stream, id: number) => {
    stream.connections.delete(id);
    if (stream.version === 3) {
      send({ ...idsOf(stream, id), type: 'connection-reset' });
      return;
    }
    if (streams.get(stream.service) === stream) streams.delete(stream.service);
    resetStream(stream);
  };

  const openIn = (stream: Stream, id: number) => {
    const open = sockets.get(stream.service) ?? new Set();
    if (open.size >= limits.connectionsPerService || counts.open >= limits.connectionsTotal) {
      note('a connection was refused: too many are open');
      resetConnection(stream, id);
      return;
    }
    counts.open += 1;
    counts.connections += 1;
    const connection: LocalConnection = openConnection({
      connect: options.connect,
      limits,
      clock,
      brake,
      onStalled() {
        if (stream.connections.get(id) === connection) stall(stream, id, connection, 'the target does not read');
      },
      onReady: (sender) => turns.add(sender),
      send(payload) {
        counts.bytesOut += payload.length;
        send({ ...idsOf(stream, id), type: 'data', payload });
      },
      onEnded(isConnected) {
        if (!isConnected) note('a connection to the target could not be established');
        resetConnection(stream, id);
      },
      onClosed() {
        open.delete(connection);
        counts.open -= 1;
        if (isOver && counts.open === 0) onAllClosed();
      },
    });
    open.add(connection);
    stream.connections.set(id, connection);
  };

  const dropAll = (stream: Stream) => {
    for (const connection of stream.connections.values()) connection.destroy();
    stream.connections.clear();
  };

  const finishAll = (stream: Stream) => {
    for (const connection of stream.connections.values()) connection.finish();
    stream.connections.clear();
  };

  const activeOf = (message: TunnelMessage): Stream | undefined => {
    const service = serviceOf(message, services);
    const stream = service === undefined ? undefined : streams.get(service);
    return stream?.streamId === message.streamId ? stream : undefined;
  };

  const startStream = (message: TunnelMessage) => {
    const service = serviceOf(message, services);
    const { streamId, serviceId } = message;
    if (service === undefined) {
      note(`a stream was refused: no service ${serviceId === '' ? 'is named' : `'${shorten(serviceId, 128)}'`}`);
      send({ type: 'stream-reset', streamId, serviceId });
      return;
    }
    const old = streams.get(service);
    // Its source is gone, also where the id is the same: a source that starts again counts from 1.
    if (old) dropAll(old);
    const stream: Stream = { service, streamId, version: versionOf(message), connections: new Map() };
    streams.set(service, stream);
    openIn(stream, connectionIdOf(message));
  };

  const startConnection = (message: TunnelMessage) => {
    const stream = activeOf(message);
    if (stream === undefined) {
      note('a CONNECTION_START of a stream that is not active was ignored');
      return;
    }
    const id = connectionIdOf(message);
    const open = stream.connections.get(id);
    if (stream.version !== 3) {
      note(`a CONNECTION_START in a stream of version ${stream.version}, which has none: the stream was reset`);
      dropAll(stream);
      streams.delete(stream.service);
      resetStream(stream);
    } else if (open) {
      open.destroy();
      resetConnection(stream, id);
    } else {
      openIn(stream, id);
    }
  };

  const receiveData = (message: TunnelMessage) => {
    const stream = activeOf(message);
    const id = connectionIdOf(message);
    const connection = stream?.connections.get(id);
    if (stream === undefined || connection === undefined) {
      note('DATA for a connection that is not open was dropped');
      return;
    }
    counts.bytesIn += message.payload.length;
    if (!connection.write(message.payload)) {
      stall(stream, id, connection, 'the target does not read');
    } else if (brake.queuedBytes > limits.queueTotalBytes) {
      resetLongestQueue();
    }
  };

  const stall = (stream: Stream, id: number, connection: LocalConnection, why: string) => {
    note(`a connection was reset: ${why}`);
    connection.destroy();
    resetConnection(stream, id);
  };

  const resetLongestQueue = () => {
    const all = [...streams.values()].flatMap((stream) =>
      [...stream.connections].map(([id, connection]) => ({ stream, id, connection })),
    );
    const longest = all.toSorted((a, b) => b.connection.queuedBytes() - a.connection.queuedBytes())[0];
    if (longest !== undefined) stall(longest.stream, longest.id, longest.connection, 'the target reads too slowly');
  };

  const receiveServices = ({ availableServiceIds }: TunnelMessage): EngineEnd | null => {
    if (isSameSet(availableServiceIds, services)) {
      isReady = true;
      return null;
    }
    const named = availableServiceIds.length === 0 ? 'none' : shorten(availableServiceIds.join(', '), 400);
    return {
      kind: 'configuration',
      detail: `the service names other services: ${named} instead of ${services.join(', ')}`,
    };
  };

  const receiveUnknown = (message: TunnelMessage) => {
    if (message.ignorable) return;
    const stream = activeOf(message);
    note(`a message of the unknown type ${message.typeNumber}${stream ? ': its stream was reset' : ' was ignored'}`);
    if (stream === undefined) return;
    dropAll(stream);
    streams.delete(stream.service);
    resetStream(stream);
  };

  const receive = (message: TunnelMessage): EngineEnd | null => {
    if (!isReady && message.type !== 'service-ids' && !(message.type === 'unknown' && message.ignorable))
      return { kind: 'protocol', detail: `the first message is not SERVICE_IDS, but of type ${message.typeNumber}` };
    switch (message.type) {
      case 'service-ids':
        return receiveServices(message);
      case 'stream-start':
        startStream(message);
        return null;
      case 'connection-start':
        startConnection(message);
        return null;
      case 'data':
        receiveData(message);
        return null;
      case 'stream-reset': {
        const stream = activeOf(message);
        if (stream === undefined) return null;
        finishAll(stream);
        streams.delete(stream.service);
        return null;
      }
      case 'connection-reset': {
        const stream = activeOf(message);
        const id = connectionIdOf(message);
        stream?.connections.get(id)?.finish();
        stream?.connections.delete(id);
        return null;
      }
      case 'session-reset':
        for (const stream of streams.values()) finishAll(stream);
        streams.clear();
        return null;
      case 'unknown':
        receiveUnknown(message);
        return null;
    }
  };

  const destroy = () => {
    isOver = true;
    streams.clear();
    for (const open of sockets.values()) for (const connection of open) connection.destroy();
    if (counts.open === 0) onAllClosed();
    return allClosed;
  };

  return {
    receive,
    isReady: () => isReady,
    sent: () => turns.run(),
    shutDown() {
      const open = [...streams.values()];
      const closed = destroy();
      for (const stream of open) resetStream(stream);
      return closed;
    },
    destroy,
  };
}

/** Format of the messages of one stream. */
type ProtocolVersion = 1 | 2 | 3;

/** The stream that is active for one service. */
interface Stream {
  readonly service: string;
  readonly streamId: number;
  /** Learnt from its STREAM_START. */
  readonly version: ProtocolVersion;
  /** By connection id; always 1 in the versions 1 and 2, which have none. */
  readonly connections: Map<number, LocalConnection>;
}

/** The version whose format a STREAM_START has. @source vendor (HINWEIS) */
function versionOf({ serviceId, connectionId }: TunnelMessage): ProtocolVersion {
  if (connectionId > 0) return 3;
  return serviceId === '' ? 1 : 2;
}

/** The ids of a stream and one of its connections, in the format of its version. */
function idsOf(
  { streamId, service, version }: Pick<Stream, 'streamId' | 'service' | 'version'>,
  connectionId: number,
): Pick<TunnelMessage, 'streamId' | 'serviceId' | 'connectionId'> {
  return {
    streamId,
    serviceId: version === 1 ? '' : service,
    connectionId: version === 3 ? connectionId : 0,
  };
}

/** The own service that a message names; version 1 names none, which needs exactly one. */
function serviceOf({ serviceId }: TunnelMessage, services: readonly string[]): string | undefined {
  if (serviceId === '') return services.length === 1 ? services[0] : undefined;
  return services.includes(serviceId) ? serviceId : undefined;
}

/** A message without a connection id means the connection 1. @source vendor (HINWEIS) */
function connectionIdOf({ connectionId }: TunnelMessage): number {
  return connectionId === 0 ? 1 : connectionId;
}

function isSameSet(some: readonly string[], others: readonly string[]): boolean {
  const [a, b] = [new Set(some), new Set(others)];
  return a.size === b.size && [...a].every((each) => b.has(each));
}
