import type { Server } from 'node:net';
import { GwError } from '../error/index.ts';

/** Binds a server and returns its port. Throws PORT_IN_USE with the address. */
export function listenOn(server: Server, host: string, port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const onError = (error: NodeJS.ErrnoException) => {
    server.off('listening', onListening);
    const taken = error.code === 'EADDRINUSE' || error.code === 'EACCES';
    reject(
      taken
        ? new GwError('PORT_IN_USE', `${host}:${port} cannot be listened on (${error.code}).`, {
            tried: { address: host, port, action: 'listen' },
            cause: error,
          })
        : error,
    );
  };
  const onListening = () => {
    server.off('error', onError);
    const address = server.address();
    resolve(typeof address === 'object' && address ? address.port : port);
  };
  server.once('error', onError);
  server.once('listening', onListening);
  server.listen({ host, port, exclusive: true });
  return promise;
}

/** Closes a server and all its HTTP connections. */
export function closeServer(server: Server & { closeAllConnections?: () => void }): Promise<void> {
  return new Promise((resolve) => {
    if (!server.listening) resolve();
    server.close(() => resolve());
    server.closeAllConnections?.();
  });
}
