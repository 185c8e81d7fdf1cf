import type { LocalConnection } from '../link/index.ts';
import type { PartialMessage } from '../wire/codec.ts';
import type { TunnelMessage } from '../wire.ts';
import type { ProxyCounts, TargetConnections } from './target-connections.ts';

/** Format of the messages of one stream. */
type ProtocolVersion = 1 | 2 | 3;

/** The stream that is active for one service. Connections that it has left are silent: nothing is sent for them. */
export interface Stream {
  readonly service: string;
  readonly streamId: number;
  /** Learnt from its STREAM_START. */
  readonly version: ProtocolVersion;
  /** By connection id; always 1 in the versions 1 and 2, which have none. */
  readonly connections: ReadonlyMap<number, LocalConnection>;
  /** Opens a connection to the target, or reports to the peer that too many are open. */
  open(id: number): void;
  /** The technician has closed a connection. */
  finishConnection(id: number): void;
  /** Closes a connection at once and reports its end to the peer. */
  resetConnection(id: number): void;
  /** Resets a connection because of the target. */
  stall(id: number, why: string): void;
  /** The technician has closed the stream: what waits for its connections is written. */
  finish(): void;
  /** Closes all connections at once. */
  drop(): void;
  /** Reports the end of the stream to the peer. */
  reset(): void;
}

/** What the streams of one WebSocket share. */
export interface StreamOptions {
  readonly target: TargetConnections;
  readonly counts: ProxyCounts;
  readonly send: (message: PartialMessage) => void;
  readonly note: (text: string) => void;
  /** The stream ends with its only connection, since its version cannot report the end of that alone. */
  readonly onReset: (stream: Stream) => void;
}

/** A stream without connections, by the message that starts it. */
export function createStream(service: string, start: TunnelMessage, options: StreamOptions): Stream {
  const { target, counts, send, note, onReset } = options;
  const { streamId } = start;
  const version = versionOf(start);
  const connections = new Map<number, LocalConnection>();

  /** The ids of the stream and one of its connections, in the format of its version. */
  const idsOf = (connectionId: number): Pick<TunnelMessage, 'streamId' | 'serviceId' | 'connectionId'> => ({
    streamId,
    serviceId: version === 1 ? '' : service,
    connectionId: version === 3 ? connectionId : 0,
  });

  /** Reports the end of a connection to the peer: versions 1 and 2 can only reset the whole stream. */
  const reportEnd = (id: number) => {
    connections.delete(id);
    if (version === 3) {
      send({ ...idsOf(id), type: 'connection-reset' });
      return;
    }
    onReset(stream);
    stream.reset();
  };

  const stream: Stream = {
    service,
    streamId,
    version,
    connections,
    open(id) {
      if (target.isFull(service)) {
        note('a connection was refused: too many are open');
        reportEnd(id);
        return;
      }
      const connection: LocalConnection = target.open(service, {
        onStalled() {
          if (connections.get(id) === connection) stream.stall(id, 'the target does not read');
        },
        send(payload) {
          counts.bytesOut += payload.length;
          send({ ...idsOf(id), type: 'data', payload });
        },
        onEnded(isConnected) {
          if (!isConnected) note('a connection to the target could not be established');
          reportEnd(id);
        },
      });
      connections.set(id, connection);
    },
    finishConnection(id) {
      connections.get(id)?.finish();
      connections.delete(id);
    },
    resetConnection(id) {
      connections.get(id)?.destroy();
      reportEnd(id);
    },
    stall(id, why) {
      note(`a connection was reset: ${why}`);
      stream.resetConnection(id);
    },
    finish() {
      for (const connection of connections.values()) connection.finish();
      connections.clear();
    },
    drop() {
      for (const connection of connections.values()) connection.destroy();
      connections.clear();
    },
    reset: () => send({ ...idsOf(0), type: 'stream-reset', connectionId: 0 }),
  };
  return stream;
}

/** The version whose format a STREAM_START has. @source vendor (HINWEIS) */
function versionOf({ serviceId, connectionId }: TunnelMessage): ProtocolVersion {
  if (connectionId > 0) return 3;
  return serviceId === '' ? 1 : 2;
}
