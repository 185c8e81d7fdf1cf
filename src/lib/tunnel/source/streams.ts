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
  type ProxyLimits,
  reset,
  type TunnelWire,
} from '../link/index.ts';
import type { TunnelMessage } from '../wire.ts';
import { createLine, type Line, type LineOptions, type SourceCounts } from './line.ts';
import type { SourceEvent } from './model.ts';

export interface SourceStreamsOptions {
  readonly services: readonly string[];
  readonly clock: Clock;
  readonly limits: ProxyLimits;
  readonly onEvent: (event: SourceEvent) => void;
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
  const counts: SourceCounts = { connections: 0, bytesUp: 0, bytesDown: 0 };
  let link: Link | null = null;
  const unclosed = new Set<LocalConnection>();
  const ofLines: LineOptions = {
    ...{ clock, limits, onEvent, counts, unclosed },
    send: (message) => link?.wire.send(message),
  };
  const lines = new Map<string, Line>(services.map((service) => [service, createLine(service, ofLines)]));

  /** The client that reads least, where too much waits for all of them together. */
  function stallLongest(): void {
    const all = [...lines.values()].flatMap((line) => [...line.clients].map(([id, client]) => ({ line, id, client })));
    const [longest] = all.toSorted((a, b) => b.client.local.queuedBytes() - a.client.local.queuedBytes());
    longest?.line.stall(longest.id);
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
        if (!line?.isCurrent(message) || !line.receiveData(message)) return;
        if ((link?.brake.queuedBytes ?? 0) > limits.queueTotalBytes) stallLongest();
        return;
      case 'connection-reset':
        if (line?.isCurrent(message)) line.finish(message.connectionId);
        return;
      case 'stream-reset':
        if (line?.isCurrent(message)) line.drop('reset');
        return;
      case 'session-reset':
        for (const each of lines.values()) each.drop('reset');
        return;
      case 'unknown':
        if (message.ignorable || !line?.isCurrent(message)) return;
        // What it means for the stream is unknown, so the stream cannot go on.
        line.reset();
        line.drop('reset');
        return;
      case 'stream-start':
      case 'connection-start':
      case 'service-ids':
        // No message of a destination; the caller compares the services.
        return;
    }
  }

  return {
    counts: counts as Readonly<SourceCounts>,

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
      for (const line of lines.values()) line.renew();
      // Connections that ended before write their rest: it came through completely.
      const leave = async () => {
        for (const line of lines.values()) line.drop('lost');
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
          for (const line of lines.values()) line.reset();
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
      line.accept(socket, link);
    },
  };
}

function listOf(services: readonly string[]): string {
  return services.length === 0 ? 'none' : shorten(services.map(quote).join(', '), 400);
}
