import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { closeServer, listenOn } from '../../listen.ts';

export interface PortOptions {
  readonly serve: RequestListener;
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** The port closes; called before its connections are destroyed. */
  readonly onClose: () => void;
}

const HOST = '127.0.0.1';
const MAX_CONNECTIONS = 512;

/** The port of the chassis and its HTTP connections. The fault `cut` closes it and opens the same one again. */
export function createPort({ serve, upgrade, onClose }: PortOptions) {
  const sockets = new Set<Socket>();
  const server = createServer(
    {
      requestTimeout: 30_000,
      headersTimeout: 10_000,
      // Upgrades to other protocols (h2c) are served as ordinary requests.
      shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
    },
    serve,
  );
  server.maxConnections = MAX_CONNECTIONS;
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
  });
  server.on('upgrade', upgrade);
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    else socket.destroy();
  });
  let port = 0;
  let isClosing = false;
  let settling: Promise<unknown> = Promise.resolve();

  function destroyConnections(): void {
    for (const socket of sockets) socket.destroy();
  }

  async function closeAll(): Promise<void> {
    const closed = closeServer(server);
    onClose();
    destroyConnections();
    await closed;
  }

  return {
    host: HOST,
    /** Binds the port, 0 for a free one, and returns its number. Throws PORT_IN_USE. */
    async listen(wanted: number): Promise<number> {
      port = await listenOn(server, HOST, wanted);
      return port;
    },
    /** `http://host:port`, once it is bound. */
    url: () => `http://${HOST}:${port}`,
    destroyConnections,
    setCut(isCut: boolean): void {
      settling = settling.then(async () => {
        if (isClosing || server.listening === !isCut) return;
        if (!isCut) await listenOn(server, HOST, port);
        else await closeAll();
      });
      // `settled` reports a failure; it must not become an unhandled rejection.
      settling.catch(() => {});
      if (isCut) {
        server.close();
        destroyConnections();
      }
    },
    /** Resolves when the last cut is in effect; rejects when the port could not be bound again. */
    settled: async (): Promise<void> => {
      await settling;
    },
    /** From now on the port is not opened again; resolves when the last cut is in effect. */
    async retire(): Promise<void> {
      isClosing = true;
      await settling.catch(() => {});
    },
    isClosing: () => isClosing,
    /** Closes the port, which must have been retired, and all its connections. */
    close: closeAll,
  };
}
