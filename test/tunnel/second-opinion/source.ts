import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { kinds } from './codec.ts';
import { type LinkOptions, openLink, type PeerLink } from './peer-link.ts';

/** A source by the description of the wire, in the form of version 1, 2 or 3. */
export async function startSource(
  options: LinkOptions & { readonly services: readonly string[]; readonly version?: 1 | 2 | 3 },
) {
  const { version = 3 } = options;
  interface Line {
    readonly service: string;
    readonly server: Server;
    stream: number;
    isStarted: boolean;
    nextConnection: number;
    readonly sockets: Map<number, Socket>;
  }
  const lines = new Map<string, Line>();
  const announced = Promise.withResolvers<void>();

  const link: PeerLink = await openLink('source', options, (frame) => {
    const name =
      frame.service === '' && options.services.length === 1 ? (options.services[0] as string) : frame.service;
    const line = lines.get(name);
    const isOfStream = line?.isStarted === true && line.stream === frame.stream;
    switch (frame.type) {
      case kinds.serviceIds:
        announced.resolve();
        return;
      case kinds.data:
        if (line && isOfStream) line.sockets.get(frame.connection === 0 ? 1 : frame.connection)?.write(frame.payload);
        return;
      case kinds.connectionReset: {
        if (!line || !isOfStream) return;
        const socket = line.sockets.get(frame.connection);
        line.sockets.delete(frame.connection);
        socket?.end(() => socket.destroy());
        return;
      }
      case kinds.streamReset:
        if (line && isOfStream) drop(line);
        return;
      case kinds.sessionReset:
        for (const one of lines.values()) drop(one);
        return;
    }
  });
  await announced.promise;

  function drop(line: Line): void {
    line.isStarted = false;
    for (const socket of line.sockets.values()) socket.end(() => socket.destroy());
    line.sockets.clear();
  }

  const common = (line: Line) => ({ stream: line.stream, ...(version > 1 && { service: line.service }) });

  function accept(line: Line, socket: Socket): void {
    const connection = version === 3 ? line.nextConnection++ : 1;
    if (version < 3) {
      for (const other of line.sockets.values()) other.destroy();
      line.sockets.clear();
      line.isStarted = false;
    }
    line.sockets.set(connection, socket);
    const type = line.isStarted ? kinds.connectionStart : kinds.streamStart;
    if (!line.isStarted) line.stream += 1;
    line.isStarted = true;
    link.send({ type, ...common(line), ...(version === 3 && { connection }) });
    const { stream } = line;
    const isMine = () => line.sockets.get(connection) === socket && line.stream === stream;
    socket.on('data', (bytes: Buffer) => {
      if (isMine()) link.sendData(socket, bytes, { ...common(line), ...(version === 3 && { connection }) });
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      if (!isMine()) return;
      line.sockets.delete(connection);
      if (version === 3) link.send({ type: kinds.connectionReset, ...common(line), connection });
      else {
        link.send({ type: kinds.streamReset, ...common(line) });
        line.isStarted = false;
      }
    });
  }

  const ports: Record<string, number> = {};
  for (const service of options.services) {
    const server = createServer();
    const line: Line = { service, server, stream: 0, isStarted: false, nextConnection: 1, sockets: new Map() };
    server.on('connection', (socket) => accept(line, socket));
    lines.set(service, line);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ports[service] = (server.address() as AddressInfo).port;
  }

  return {
    ports,
    link,
    /** Ends the WebSocket and all local connections, as a program does that is killed. */
    async close() {
      link.web.terminate();
      for (const line of lines.values()) {
        for (const socket of line.sockets.values()) socket.destroy();
        await new Promise<void>((resolve) => line.server.close(() => resolve()));
      }
    },
  };
}
