import type { Socket } from 'node:net';
import { quote } from '../../json/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import { shorten } from '../../text/index.ts';
import {
  type Brake,
  createBrake,
  createTurns,
  type Engine,
  type EngineEnd,
  type LocalConnection,
  openConnection,
  type ProxyLimits,
  reset,
  type TunnelWire,
} from '../link/index.ts';
import type { PartialMessage } from '../wire/codec.ts';
import type { TunnelMessage } from '../wire.ts';
import type { ConnectionEndReason, SourceEvent } from './model.ts';

/** A browser shows nothing for so long before the command says that there is no answer. Project decision. */
const NO_ANSWER_MS = 10_000;

/** A local client and its bytes. */
interface Client {
  readonly local: LocalConnection;
  readonly noAnswer: Disposable;
  bytesUp: number;
  bytesDown: number;
}

/** One service: its stream and the connections on it. */
interface Line {
  readonly service: string;
  /** Raised before each STREAM_START; counts over the WebSockets of this run. */
  streamId: number;
  /** Whether the other side has the stream, so that a further client is a CONNECTION_START. */
  isStarted: boolean;
  /** Counts for the whole run, so that a late message never meets a new connection. */
  nextConnectionId: number;
  readonly clients: Map<number, Client>;
  hasAnswered: boolean;
  hasWarned: boolean;
}

export interface SourceStreamsOptions {
  readonly services: readonly string[];
  readonly clock: Clock;
  readonly limits: ProxyLimits;
  readonly onEvent: (event: SourceEvent) => void;
}

/** Counts of the whole run. */
interface SourceCounts {
  readonly connections: number;
  readonly bytesUp: number;
  readonly bytesDown: number;
}

/** What belongs to one WebSocket. */
interface Link {
  readonly wire: TunnelWire;
  readonly turns: ReturnType<typeof createTurns>;
  readonly brake: Brake;
  /** SERVICE_IDS; null before. */
  offered: readonly string[] | null;
}

/**
 * The streams of the source mode: ids, starts and resets, over the WebSockets of one run. The first client of a service is
 * a STREAM_START, every further one a CONNECTION_START on the same stream, also when no connection is open any more.
 * @source vendor (HINWEIS)
 */
export function createSourceStreams({ services, clock, limits, onEvent }: SourceStreamsOptions) {
  const counts = { connections: 0, bytesUp: 0, bytesDown: 0 };
  const lines = new Map<string, Line>(
    services.map((service) => [
      service,
      {
        service,
        streamId: 0,
        isStarted: false,
        nextConnectionId: 1,
        clients: new Map(),
        hasAnswered: false,
        hasWarned: false,
      },
    ]),
  );
  let link: Link | null = null;
  /** Local connections that are not closed yet, including those that write their rest. */
  const unclosed = new Set<LocalConnection>();

  function send(message: PartialMessage): void {
    link?.wire.send(message);
  }

  /** Takes a client out of the table, so that nothing is sent for it any more. */
  function forget(line: Line, connection: number, reason: ConnectionEndReason): Client | undefined {
    const client = line.clients.get(connection);
    if (client === undefined) return undefined;
    line.clients.delete(connection);
    client.noAnswer[Symbol.dispose]();
    const { bytesUp, bytesDown } = client;
    const { service, clients } = line;
    onEvent({ event: 'closed', service, connection, open: clients.size, reason, bytesUp, bytesDown });
    return client;
  }

  function drop(line: Line, reason: ConnectionEndReason): void {
    line.isStarted = false;
    for (const connection of [...line.clients.keys()]) {
      const client = forget(line, connection, reason);
      if (reason === 'lost') client?.local.destroy();
      else client?.local.finish();
    }
  }

  function resetStream({ service, streamId }: Line): void {
    send({ type: 'stream-reset', streamId, serviceId: service });
  }

  function resetConnection({ service, streamId }: Line, connectionId: number): void {
    send({ type: 'connection-reset', streamId, serviceId: service, connectionId });
  }

  function stall(line: Line, connection: number): void {
    forget(line, connection, 'stalled')?.local.destroy();
    resetConnection(line, connection);
  }

  /** The client that reads least, where too much waits for all of them together. */
  function stallLongest(): void {
    const all = [...lines.values()].flatMap((line) => [...line.clients].map(([id, client]) => ({ line, id, client })));
    const [longest] = all.toSorted((a, b) => b.client.local.queuedBytes() - a.client.local.queuedBytes());
    if (longest !== undefined) stall(longest.line, longest.id);
  }

  function isCurrent(line: Line | undefined, { streamId }: TunnelMessage): line is Line {
    return line?.isStarted === true && line.streamId === streamId;
  }

  function receiveData(line: Line, { connectionId, payload }: TunnelMessage): void {
    const client = line.clients.get(connectionId);
    if (client === undefined) return;
    client.noAnswer[Symbol.dispose]();
    if (!line.hasAnswered) {
      line.hasAnswered = true;
      onEvent({ event: 'answered', service: line.service });
    }
    client.bytesDown += payload.length;
    counts.bytesDown += payload.length;
    if (!client.local.write(payload)) stall(line, connectionId);
    else if ((link?.brake.queuedBytes ?? 0) > limits.queueTotalBytes) stallLongest();
  }

  function receiveServices(mine: Link, { availableServiceIds: now }: TunnelMessage): EngineEnd | null {
    const before = mine.offered;
    if (before !== null) {
      if (before.length === now.length && before.every((id) => now.includes(id))) return null;
      const detail = `the tunnel changed its services during the session, from ${listOf(before)} to ${listOf(now)}`;
      return { kind: 'configuration', detail };
    }
    const missing = services.filter((id) => !now.includes(id));
    if (missing.length > 0) {
      return { kind: 'configuration', detail: `the tunnel has the services ${listOf(now)}, not ${listOf(missing)}` };
    }
    mine.offered = now;
    return null;
  }

  /** A message of the other side or of the service. Messages of unknown streams and connections are left out. */
  function receive(message: TunnelMessage): void {
    const line = lines.get(message.serviceId);
    switch (message.type) {
      case 'data':
        if (isCurrent(line, message)) receiveData(line, message);
        return;
      case 'connection-reset':
        if (isCurrent(line, message)) forget(line, message.connectionId, 'remote')?.local.finish();
        return;
      case 'stream-reset':
        if (isCurrent(line, message)) drop(line, 'reset');
        return;
      case 'session-reset':
        for (const each of lines.values()) drop(each, 'reset');
        return;
      case 'unknown':
        if (message.ignorable || !isCurrent(line, message)) return;
        // What it means for the stream is unknown, so the stream cannot go on.
        resetStream(line);
        drop(line, 'reset');
        return;
      case 'stream-start':
      case 'connection-start':
      case 'service-ids':
        // No message of a destination; the caller compares the services.
        return;
    }
  }

  return {
    counts: counts as SourceCounts,

    /** The source on a new WebSocket: the other side knows no stream of an earlier one. */
    engine(wire: TunnelWire): Engine {
      const mine: Link = {
        wire,
        turns: createTurns({
          unsentBytes: wire.unsentBytes,
          pauseBytes: limits.unsentPauseBytes,
          creditBytes: limits.creditBytes,
        }),
        brake: createBrake({ limits, clock, setHeld: wire.setHeld, onTotalLate: stallLongest }),
        offered: null,
      };
      link = mine;
      for (const line of lines.values()) {
        line.isStarted = false;
        line.hasAnswered = false;
        line.hasWarned = false;
      }
      // Connections that ended before write their rest: it came through completely.
      const leave = async () => {
        for (const line of lines.values()) drop(line, 'lost');
        link = null;
      };
      return {
        receive(message) {
          if (message.type === 'service-ids') return receiveServices(mine, message);
          if (mine.offered !== null) receive(message);
          else if (!message.ignorable) {
            return {
              kind: 'protocol',
              detail: `the first message is not SERVICE_IDS, but of type ${message.typeNumber}`,
            };
          }
          return null;
        },
        isReady: () => mine.offered !== null,
        sent: () => mine.turns.run(),
        shutDown() {
          for (const line of lines.values()) if (line.isStarted) resetStream(line);
          return leave();
        },
        destroy: leave,
      };
    },

    /** The end of the run: also those that still write their rest. */
    closeAll(): void {
      for (const local of unclosed) local.destroy();
    },

    /** Services of the tunnel by the last SERVICE_IDS; empty before. */
    offered: (): readonly string[] => link?.offered ?? [],

    /** A local client of a service. Without a WebSocket its connection is reset. */
    accept(service: string, socket: Socket): void {
      const line = lines.get(service);
      if (line === undefined || !link?.offered || line.clients.size >= limits.connectionsPerService) {
        socket.on('error', () => {});
        reset(socket);
        return;
      }
      const connectionId = line.nextConnectionId;
      line.nextConnectionId += 1;
      counts.connections += 1;
      const type = line.isStarted ? 'connection-start' : 'stream-start';
      if (!line.isStarted) line.streamId += 1;
      line.isStarted = true;
      const ids = { streamId: line.streamId, serviceId: service, connectionId };
      const { turns, brake } = link;
      // In a WebSocket message of its own: some destinations leave out what follows a start in the same one.
      send({ type, ...ids });
      const client: Client = {
        local: openConnection({
          connect: () => socket,
          limits,
          clock,
          brake,
          onStalled() {
            if (line.clients.get(connectionId) === client) stall(line, connectionId);
          },
          onReady: (sender) => turns.add(sender),
          send(payload) {
            client.bytesUp += payload.length;
            counts.bytesUp += payload.length;
            send({ type: 'data', ...ids, payload });
          },
          onEnded() {
            forget(line, connectionId, 'local');
            resetConnection(line, connectionId);
          },
          onClosed: () => void unclosed.delete(client.local),
        }),
        noAnswer: clock.after(NO_ANSWER_MS, () => {
          if (line.hasAnswered || line.hasWarned) return;
          line.hasWarned = true;
          onEvent({ event: 'no-answer', service, forMs: NO_ANSWER_MS });
        }),
        bytesUp: 0,
        bytesDown: 0,
      };
      line.clients.set(connectionId, client);
      unclosed.add(client.local);
      onEvent({ event: 'opened', service, connection: connectionId, open: line.clients.size });
    },
  };
}

function listOf(services: readonly string[]): string {
  return services.length === 0 ? 'none' : shorten(services.map(quote).join(', '), 400);
}
