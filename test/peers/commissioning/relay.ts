import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

export interface Relay {
  open(): Promise<void>;
  /** Refuses new connections, and closes open ones. */
  close(): void;
}

/** Forwards connections to an address of a namespace to a port of its loopback, where a simulator listens. */
export function createRelay(
  from: { readonly host: string; readonly port: number },
  toPort: number,
  onEnded: () => void = () => {},
): Relay {
  let server: Server | undefined;
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  };

  function relay(near: Socket): void {
    const far = connect({ host: '127.0.0.1', port: toPort, noDelay: true, allowHalfOpen: true });
    keep(near);
    keep(far);
    near.once('close', () => far.destroy());
    far.once('close', () => {
      near.destroy();
      onEnded();
    });
    near.pipe(far);
    far.pipe(near);
  }

  return {
    async open() {
      if (server !== undefined) return;
      server = createServer({ noDelay: true, allowHalfOpen: true }, relay);
      server.listen({ ...from, exclusive: true });
      await once(server, 'listening');
    },
    close() {
      server?.close();
      server = undefined;
      for (const socket of sockets) socket.destroy();
    },
  };
}
