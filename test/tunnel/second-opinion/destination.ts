import { connect, type Socket } from 'node:net';
import { kinds } from './codec.ts';
import { type LinkOptions, openLink, type PeerLink } from './peer-link.ts';

/** A destination of version 3 by the description of the wire, in as few words as possible. */
export async function startDestination(options: LinkOptions & { readonly targets: Readonly<Record<string, number>> }) {
  interface Stream {
    readonly id: number;
    readonly service: string;
    readonly sockets: Map<number, Socket>;
  }
  const streams = new Map<string, Stream>();

  const link: PeerLink = await openLink(
    'destination',
    options,
    ({ type, service, stream: id, connection, payload }) => {
      if (type === kinds.streamStart) {
        const before = streams.get(service);
        if (before) closeAll(before);
        const opened: Stream = { id, service, sockets: new Map() };
        streams.set(service, opened);
        open(opened, connection);
      } else if (type === kinds.sessionReset) {
        for (const one of streams.values()) closeAll(one);
        streams.clear();
      }
      const stream = streams.get(service);
      if (stream?.id !== id) return;
      if (type === kinds.connectionStart) open(stream, connection);
      else if (type === kinds.data) stream.sockets.get(connection)?.write(payload);
      else if (type === kinds.connectionReset) {
        const socket = stream.sockets.get(connection);
        stream.sockets.delete(connection);
        socket?.end(() => socket.destroy());
      } else if (type === kinds.streamReset) {
        streams.delete(service);
        closeAll(stream);
      }
    },
  );

  function closeAll(stream: Stream): void {
    for (const socket of stream.sockets.values()) socket.end(() => socket.destroy());
    stream.sockets.clear();
  }

  function open({ id: stream, service, sockets }: Stream, connection: number): void {
    const port = options.targets[service];
    if (port === undefined) return void link.send({ type: kinds.streamReset, stream, service });
    // node:net keeps what is written before the connection is established.
    const socket = connect({ host: '127.0.0.1', port });
    sockets.set(connection, socket);
    const head = { stream, service, connection };
    socket.on('data', (bytes: Buffer) => link.sendData(socket, bytes, head));
    socket.on('error', () => {});
    socket.on('close', () => {
      if (sockets.get(connection) !== socket) return;
      sockets.delete(connection);
      link.send({ type: kinds.connectionReset, ...head });
    });
  }

  return {
    /** Local connections that are open. */
    open: () => [...streams.values()].reduce((sum, { sockets }) => sum + sockets.size, 0),
    resetStream(service: string) {
      const stream = streams.get(service);
      if (!stream) return;
      link.send({ type: kinds.streamReset, stream: stream.id, service });
      streams.delete(service);
      closeAll(stream);
    },
    close() {
      for (const stream of streams.values()) closeAll(stream);
      link.web.terminate();
    },
  };
}
