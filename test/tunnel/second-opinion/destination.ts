import { connect, type Socket } from 'node:net';
import { kinds } from './codec.ts';
import { type LinkOptions, openLink, type PeerLink } from './peer-link.ts';

/** A destination by the description of the wire, in as few words as possible; a stream has the form of its start. */
export async function startDestination(options: LinkOptions & { readonly targets: Readonly<Record<string, number>> }) {
  interface Stream {
    readonly id: number;
    readonly version: 1 | 2 | 3;
    readonly service: string;
    readonly sockets: Map<number, Socket>;
  }
  const streams = new Map<string, Stream>();
  const names = Object.keys(options.targets);

  const link: PeerLink = await openLink('destination', options, (frame) => {
    const name = frame.service === '' && names.length === 1 ? (names[0] as string) : frame.service;
    const stream = streams.get(name);
    const isOfStream = stream !== undefined && stream.id === frame.stream;
    // Without a connection id there is one connection, which counts as the first.
    const connection = frame.connection === 0 ? 1 : frame.connection;
    switch (frame.type) {
      case kinds.streamStart: {
        if (stream) closeAll(stream);
        const version = frame.connection > 0 ? 3 : frame.service !== '' ? 2 : 1;
        const opened: Stream = { id: frame.stream, version, service: frame.service, sockets: new Map() };
        streams.set(name, opened);
        open(opened, name, connection);
        return;
      }
      case kinds.connectionStart:
        if (stream && isOfStream) open(stream, name, connection);
        return;
      case kinds.data:
        if (stream && isOfStream) stream.sockets.get(connection)?.write(frame.payload);
        return;
      case kinds.connectionReset:
        if (stream && isOfStream) {
          const socket = stream.sockets.get(connection);
          stream.sockets.delete(connection);
          socket?.end(() => socket.destroy());
        }
        return;
      case kinds.streamReset:
        if (stream && isOfStream) {
          streams.delete(name);
          closeAll(stream);
        }
        return;
      case kinds.sessionReset:
        for (const one of streams.values()) closeAll(one);
        streams.clear();
        return;
    }
  });

  function closeAll(stream: Stream): void {
    for (const socket of stream.sockets.values()) socket.end(() => socket.destroy());
    stream.sockets.clear();
  }

  function open(stream: Stream, name: string, connection: number): void {
    const port = options.targets[name];
    if (port === undefined) {
      link.send({ type: kinds.streamReset, stream: stream.id, service: stream.service });
      return;
    }
    // node:net keeps what is written before the connection is established.
    const socket = connect({ host: '127.0.0.1', port });
    stream.sockets.set(connection, socket);
    const common = { stream: stream.id, ...(stream.version > 1 && { service: stream.service }) };
    const head = { ...common, ...(stream.version === 3 && { connection }) };
    socket.on('data', (bytes: Buffer) => link.sendData(socket, bytes, head));
    socket.on('error', () => {});
    socket.on('close', () => {
      if (stream.sockets.get(connection) !== socket) return;
      stream.sockets.delete(connection);
      if (stream.version === 3) link.send({ type: kinds.connectionReset, ...common, connection });
      else {
        if (streams.get(name) === stream) streams.delete(name);
        link.send({ type: kinds.streamReset, ...common });
      }
    });
  }

  return {
    /** Local connections that are open. */
    open: () => [...streams.values()].reduce((sum, { sockets }) => sum + sockets.size, 0),
    resetStream(service: string) {
      const stream = streams.get(service);
      if (!stream) return;
      link.send({ type: kinds.streamReset, stream: stream.id, ...(stream.version > 1 && { service: stream.service }) });
      streams.delete(service);
      closeAll(stream);
    },
    close() {
      for (const stream of streams.values()) closeAll(stream);
      link.web.terminate();
    },
  };
}
