import type { Socket } from 'node:net';
import type { Clock } from '../../lifecycle/index.ts';
import { type Brake, type createTurns, type LocalConnection, openConnection, type ProxyLimits } from '../link/index.ts';
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

/** Counts of the whole run. */
export interface SourceCounts {
  connections: number;
  bytesUp: number;
  bytesDown: number;
}

/** What all services of a run share. */
export interface LineOptions {
  readonly clock: Clock;
  readonly limits: ProxyLimits;
  readonly onEvent: (event: SourceEvent) => void;
  readonly counts: SourceCounts;
  /** Local connections that are not closed yet, including those that write their rest. */
  readonly unclosed: Set<LocalConnection>;
  /** Sends through the WebSocket that is open at that time; without one, nothing. */
  readonly send: (message: PartialMessage) => void;
}

/** One service over the WebSockets of a run: its stream and the connections on it. */
export interface Line {
  readonly clients: ReadonlyMap<number, { readonly local: LocalConnection }>;
  /** Whether the message belongs to the stream that the other side has. */
  isCurrent(message: TunnelMessage): boolean;
  /** Takes over a local client, whose connection shares the WebSocket with the others. */
  accept(socket: Socket, link: { readonly turns: ReturnType<typeof createTurns>; readonly brake: Brake }): void;
  /** Passes DATA on. False: there is no such connection, or it was reset because its client does not read. */
  receiveData(message: TunnelMessage): boolean;
  /** Resets a connection whose client does not read. */
  stall(connection: number): void;
  /** The other side has closed a connection: what waits for its client is written. */
  finish(connection: number): void;
  /** Ends the stream and all connections here; nothing is sent. */
  drop(reason: ConnectionEndReason): void;
  /** Reports the end of the stream to the other side; nothing where that has none. */
  reset(): void;
  /** A new WebSocket, where the other side knows no stream yet. */
  renew(): void;
}

/** A service that has no stream and no connection yet. */
export function createLine(service: string, options: LineOptions): Line {
  const { clock, limits, onEvent, counts, unclosed, send } = options;
  const clients = new Map<number, Client>();
  /** Raised before each STREAM_START; counts over the WebSockets of this run. */
  let streamId = 0;
  /** Whether the other side has the stream, so that a further client is a CONNECTION_START. */
  let isStarted = false;
  /** Counts for the whole run, so that a late message never meets a new connection. */
  let nextConnectionId = 1;
  let hasAnswered = false;
  let hasWarned = false;

  /** Takes a client out of the table, so that nothing is sent for it any more. */
  function forget(connection: number, reason: ConnectionEndReason): Client | undefined {
    const client = clients.get(connection);
    if (client === undefined) return undefined;
    clients.delete(connection);
    client.noAnswer[Symbol.dispose]();
    const { bytesUp, bytesDown } = client;
    onEvent({ event: 'closed', service, connection, open: clients.size, reason, bytesUp, bytesDown });
    return client;
  }

  function resetConnection(connectionId: number): void {
    send({ type: 'connection-reset', streamId, serviceId: service, connectionId });
  }

  function stall(connection: number): void {
    forget(connection, 'stalled')?.local.destroy();
    resetConnection(connection);
  }

  return {
    clients,
    stall,
    isCurrent: (message) => isStarted && streamId === message.streamId,
    finish: (connection) => forget(connection, 'remote')?.local.finish(),

    accept(socket, { turns, brake }) {
      const connectionId = nextConnectionId;
      nextConnectionId += 1;
      counts.connections += 1;
      const type = isStarted ? 'connection-start' : 'stream-start';
      if (!isStarted) streamId += 1;
      isStarted = true;
      const ids = { streamId, serviceId: service, connectionId };
      // In a WebSocket message of its own: some destinations leave out what follows a start in the same one.
      send({ type, ...ids });
      const client: Client = {
        local: openConnection({
          connect: () => socket,
          limits,
          clock,
          brake,
          onStalled() {
            if (clients.get(connectionId) === client) stall(connectionId);
          },
          onReady: (sender) => turns.add(sender),
          send(payload) {
            client.bytesUp += payload.length;
            counts.bytesUp += payload.length;
            send({ type: 'data', ...ids, payload });
          },
          onEnded() {
            forget(connectionId, 'local');
            resetConnection(connectionId);
          },
          onClosed: () => void unclosed.delete(client.local),
        }),
        noAnswer: clock.after(NO_ANSWER_MS, () => {
          if (hasAnswered || hasWarned) return;
          hasWarned = true;
          onEvent({ event: 'no-answer', service, forMs: NO_ANSWER_MS });
        }),
        bytesUp: 0,
        bytesDown: 0,
      };
      clients.set(connectionId, client);
      unclosed.add(client.local);
      onEvent({ event: 'opened', service, connection: connectionId, open: clients.size });
    },

    receiveData({ connectionId, payload }) {
      const client = clients.get(connectionId);
      if (client === undefined) return false;
      client.noAnswer[Symbol.dispose]();
      if (!hasAnswered) {
        hasAnswered = true;
        onEvent({ event: 'answered', service });
      }
      client.bytesDown += payload.length;
      counts.bytesDown += payload.length;
      const isQueued = client.local.write(payload);
      if (!isQueued) stall(connectionId);
      return isQueued;
    },

    drop(reason) {
      isStarted = false;
      for (const connection of [...clients.keys()]) {
        const client = forget(connection, reason);
        if (reason === 'lost') client?.local.destroy();
        else client?.local.finish();
      }
    },

    reset() {
      if (isStarted) send({ type: 'stream-reset', streamId, serviceId: service });
    },

    renew() {
      isStarted = false;
      hasAnswered = false;
      hasWarned = false;
    },
  };
}
