import { createServer, type Server } from 'node:net';

/** `path`: of a socket in the file system. */
export type ListenAddress = { readonly host: string; readonly port: number } | { readonly path: string };

/**
 * Project decision, measured: among connections that are refused and come back, a stop is accepted a quarter sooner than with
 * one. With sixteen it was accepted sooner still, but then waited longer among hundreds of pipelined stops.
 */
const ACCEPTORS = 4;
/**
 * Accept queue of the kernel. While it is full every new connection waits for a second; the limit of the kernel
 * (net.core.somaxconn) may be lower.
 */
const BACKLOG = 4_096;

/**
 * Opens the listening sockets of this server and returns them, itself first. The event loop accepts one connection a round
 * for each, so a port has several, among which Linux distributes its connections. The host '::' means IPv4 and IPv6, and
 * IPv4 only where IPv6 is disabled. Rejects with the error of the system, and leaves nothing open then.
 */
export async function openAcceptors(server: Server, address: ListenAddress): Promise<readonly Server[]> {
  try {
    return await open(server, address);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!('host' in address) || address.host !== '::' || (code !== 'EAFNOSUPPORT' && code !== 'EADDRNOTAVAIL'))
      throw error;
    return await open(server, { ...address, host: '0.0.0.0' });
  }
}

/** Resolves when they accept no more and their connections have ended. */
export async function closeAll(servers: readonly Server[]): Promise<void> {
  await Promise.all(
    servers.map(async (server) => {
      if (!server.listening) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      await promise;
    }),
  );
}

async function open(server: Server, address: ListenAddress): Promise<readonly Server[]> {
  if ('path' in address || process.platform !== 'linux') {
    await bind(server, address);
    return [server];
  }
  const opened: Server[] = [];
  try {
    // Sockets that share a port are no conflict for the kernel where both belong to one user.
    if (address.port !== 0) opened.push(await reserved(address));
    await bind(server, { ...address, reusePort: true });
    opened.unshift(server);
    const bound = server.address();
    const port = bound !== null && typeof bound === 'object' ? bound.port : address.port;
    for (let more = 1; more < ACCEPTORS; more += 1) {
      // As the server of Node for HTTP sets them.
      const acceptor = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
        server.emit('connection', socket);
      });
      await bind(acceptor, { ...address, port, reusePort: true });
      opened.push(acceptor);
    }
    return opened;
  } catch (error) {
    await closeAll(opened);
    throw error;
  }
}

/**
 * A name in the network namespace that only one process can hold, and that goes with it: held, the port is that of no other
 * gateway. Rejects with EADDRINUSE where it is, or where another program has the port. A later program of the same user that
 * sets SO_REUSEPORT is not kept out: it could end this one as well.
 */
async function reserved({ host, port }: { readonly host: string; readonly port: number }): Promise<Server> {
  const name = createServer((socket) => socket.destroy());
  await bind(name, { path: `\0gw ${host} ${port}` });
  const alone = createServer();
  try {
    await bind(alone, { host, port });
    await closeAll([alone]);
    return name;
  } catch (error) {
    await closeAll([name]);
    throw error;
  }
}

function bind(server: Server, address: ListenAddress & { readonly reusePort?: boolean }): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen({ ...address, ipv6Only: false, backlog: BACKLOG }, () => {
    server.off('error', reject);
    resolve();
  });
  return promise;
}
