import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { GwError } from '../../error/index.ts';
import type { SourceListener, SourceSettings } from './model.ts';

/** The only address of local ports: what comes through the tunnel is for this machine. */
const LISTEN_HOST = '127.0.0.1';

/**
 * Opens a port on 127.0.0.1 for each service. `onSocket` gets every connection. Throws PORT_IN_USE or PORT_UNUSABLE, and
 * then no port is left open. Disposing closes the ports; the connections belong to the caller.
 */
export async function openListeners(
  services: SourceSettings['services'],
  onSocket: (service: string, socket: Socket) => void,
): Promise<{ readonly listeners: readonly SourceListener[] } & AsyncDisposable> {
  const servers: Server[] = [];
  const close = async () => {
    for (const server of servers) await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  const listeners: SourceListener[] = [];
  try {
    for (const { id, port } of services) {
      const server = createServer((socket) => onSocket(id, socket));
      await listenOn(server, id, port);
      servers.push(server);
      listeners.push({ service: id, host: LISTEN_HOST, port: (server.address() as AddressInfo).port });
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { listeners, [Symbol.asyncDispose]: close };
}

function listenOn(server: Server, id: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', (cause: NodeJS.ErrnoException) => {
    const inUse = cause.code === 'EADDRINUSE';
    reject(
      new GwError(
        inUse ? 'PORT_IN_USE' : 'PORT_UNUSABLE',
        inUse
          ? `Port ${port} of 127.0.0.1, for the service ${id}, is in use.`
          : `Port ${port} of 127.0.0.1, for the service ${id}, cannot be opened (${cause.code ?? 'unknown reason'}).`,
        {
          tried: { address: LISTEN_HOST, port, action: 'listen' },
          remedy: `Name another port: --listen ${id}=PORT; without it, any free port is used.`,
          cause,
        },
      ),
    );
  });
  server.listen({ host: LISTEN_HOST, port }, () => {
    server.removeAllListeners('error');
    // A client that is reset before it is accepted is no fault of the port.
    server.on('error', () => {});
    resolve();
  });
  return promise;
}
