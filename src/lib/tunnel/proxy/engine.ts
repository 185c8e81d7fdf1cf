import type { Socket } from 'node:net';
import type { Clock } from '../../lifecycle/index.ts';
import { shorten } from '../../text/index.ts';
import {
  createBrake,
  createTurns,
  type Engine,
  type EngineEnd,
  type ProxyLimits,
  type TunnelWire,
} from '../link/index.ts';
import type { TunnelMessage } from '../wire.ts';
import { createStream, type Stream, type StreamOptions } from './stream.ts';
import { createTargetConnections, type ProxyCounts } from './target-connections.ts';

/** Different notes of one WebSocket: some contain what the peer sent. */
const MAX_NOTES = 20;

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
  const brake = createBrake({ limits, clock, setHeld: wire.setHeld, onTotalLate: () => resetLongestQueue() });
  const target = createTargetConnections({ services, connect: options.connect, limits, clock, counts, turns, brake });
  const note = createNotes(options.onNote);
  const ofStreams: StreamOptions = {
    target,
    counts,
    note,
    send: (message) => wire.send(message),
    onReset(stream) {
      if (streams.get(stream.service) === stream) streams.delete(stream.service);
    },
  };
  let isReady = false;

  /** Ends a stream that cannot go on, and reports that to the peer. */
  const abort = (stream: Stream) => {
    stream.drop();
    streams.delete(stream.service);
    stream.reset();
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
      wire.send({ type: 'stream-reset', streamId, serviceId });
      return;
    }
    // Its source is gone, also where the id is the same: a source that starts again counts from 1.
    streams.get(service)?.drop();
    const stream = createStream(service, message, ofStreams);
    streams.set(service, stream);
    stream.open(connectionIdOf(message));
  };

  const startConnection = (message: TunnelMessage) => {
    const stream = activeOf(message);
    if (stream === undefined) {
      note('a CONNECTION_START of a stream that is not active was ignored');
      return;
    }
    const id = connectionIdOf(message);
    if (stream.version !== 3) {
      note(`a CONNECTION_START in a stream of version ${stream.version}, which has none: the stream was reset`);
      abort(stream);
    } else if (stream.connections.has(id)) {
      stream.resetConnection(id);
    } else {
      stream.open(id);
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
      stream.stall(id, 'the target does not read');
    } else if (brake.queuedBytes > limits.queueTotalBytes) {
      resetLongestQueue();
    }
  };

  const resetLongestQueue = () => {
    const all = [...streams.values()].flatMap((stream) =>
      [...stream.connections].map(([id, connection]) => ({ stream, id, connection })),
    );
    const longest = all.toSorted((a, b) => b.connection.queuedBytes() - a.connection.queuedBytes())[0];
    if (longest !== undefined) longest.stream.stall(longest.id, 'the target reads too slowly');
  };

  const receiveServices = (message: TunnelMessage): EngineEnd | null => {
    const fault = servicesFault(message, services);
    if (fault === null) isReady = true;
    return fault;
  };

  const receiveUnknown = (message: TunnelMessage) => {
    if (message.ignorable) return;
    const stream = activeOf(message);
    note(`a message of the unknown type ${message.typeNumber}${stream ? ': its stream was reset' : ' was ignored'}`);
    if (stream !== undefined) abort(stream);
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
        stream.finish();
        streams.delete(stream.service);
        return null;
      }
      case 'connection-reset':
        activeOf(message)?.finishConnection(connectionIdOf(message));
        return null;
      case 'session-reset':
        for (const stream of streams.values()) stream.finish();
        streams.clear();
        return null;
      case 'unknown':
        receiveUnknown(message);
        return null;
    }
  };

  const destroy = () => {
    streams.clear();
    return target.destroy();
  };

  return {
    receive,
    isReady: () => isReady,
    sent: () => turns.run(),
    shutDown() {
      const open = [...streams.values()];
      const closed = destroy();
      for (const stream of open) stream.reset();
      return closed;
    },
    destroy,
  };
}

/** Passes each text on once, and only a number of them. */
function createNotes(onNote: (text: string) => void): (text: string) => void {
  const noted = new Set<string>();
  return (text) => {
    if (noted.has(text) || noted.size >= MAX_NOTES) return;
    noted.add(text);
    onNote(text);
  };
}

/** Why SERVICE_IDS does not fit the own services; null: it does. */
function servicesFault({ availableServiceIds }: TunnelMessage, services: readonly string[]): EngineEnd | null {
  if (isSameSet(availableServiceIds, services)) return null;
  const named = availableServiceIds.length === 0 ? 'none' : shorten(availableServiceIds.join(', '), 400);
  return {
    kind: 'configuration',
    detail: `the service names other services: ${named} instead of ${services.join(', ')}`,
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
