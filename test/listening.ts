import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';

/** A server of a test on a port of this machine, whose connections end with it. */
export async function listening(server: Server, port = 0, host = '127.0.0.1') {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(port, host);
  await once(server, 'listening');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    host,
    port: (server.address() as AddressInfo).port,
    sockets: sockets as ReadonlySet<Socket>,
    /** Ends every connection. */
    cut,
    async [Symbol.asyncDispose]() {
      cut();
      if (!server.listening) return;
      server.close();
      await once(server, 'close');
    },
  };
}
