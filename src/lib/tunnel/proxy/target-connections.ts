import type { Socket } from 'node:net';
import type { Clock } from '../../lifecycle/index.ts';
import { type Brake, type createTurns, type LocalConnection, openConnection, type ProxyLimits } from '../link/index.ts';

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

export interface TargetConnectionsOptions {
  readonly services: readonly string[];
  /** Begins a TCP connection to the target. */
  readonly connect: () => Socket;
  readonly limits: ProxyLimits;
  readonly clock: Clock;
  readonly counts: ProxyCounts;
  /** Of the WebSocket. */
  readonly turns: ReturnType<typeof createTurns>;
  readonly brake: Brake;
}

/** What one connection does, for its stream. */
type ConnectionEvents = Pick<Parameters<typeof openConnection>[0], 'onStalled' | 'send' | 'onEnded'>;

/** The TCP connections to the target that were opened on one WebSocket, until their sockets are closed. */
export function createTargetConnections(options: TargetConnectionsOptions) {
  const { services, connect, limits, clock, counts, turns, brake } = options;
  /** Sockets that are not closed yet, including those that write their rest. */
  const sockets = new Map<string, Set<LocalConnection>>(services.map((service) => [service, new Set()]));
  const { promise: allClosed, resolve: onAllClosed } = Promise.withResolvers<void>();
  let isOver = false;

  const openOf = (service: string) => sockets.get(service) ?? new Set();

  return {
    /** Whether no further connection may be opened for this service. */
    isFull: (service: string): boolean =>
      openOf(service).size >= limits.connectionsPerService || counts.open >= limits.connectionsTotal,

    open(service: string, events: ConnectionEvents): LocalConnection {
      const open = openOf(service);
      counts.open += 1;
      counts.connections += 1;
      const connection: LocalConnection = openConnection({
        ...events,
        connect,
        limits,
        clock,
        brake,
        onReady: (sender) => turns.add(sender),
        onClosed() {
          open.delete(connection);
          counts.open -= 1;
          if (isOver && counts.open === 0) onAllClosed();
        },
      });
      open.add(connection);
      return connection;
    },

    /** Resets all of them at once; resolves when none is open any more, also of earlier WebSockets. */
    destroy(): Promise<void> {
      isOver = true;
      for (const open of sockets.values()) for (const connection of open) connection.destroy();
      if (counts.open === 0) onAllClosed();
      return allClosed;
    },
  };
}

export type TargetConnections = ReturnType<typeof createTargetConnections>;
