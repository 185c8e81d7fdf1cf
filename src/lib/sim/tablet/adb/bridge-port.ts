import { createServer, type Server, type Socket } from 'node:net';
import { closeServer, listenOn } from '../../listen.ts';

const HOST = '127.0.0.1';
const MAX_CONNECTIONS = 32;

export interface BridgePortOptions {
  /** The port that the bridge should listen on; 0 for none. */
  readonly wantedPort: () => number;
  readonly serve: (socket: Socket) => void;
  /** The port was opened or closed, or could not be opened. */
  readonly onPort: (port: number | null, problem?: string) => void;
}

/**
 * The TCP port of the debug bridge. Changes are queued, and each reads the wanted port when it runs; all but the last of
 * several pending ones are skipped.
 */
export function createBridgePort({ wantedPort, serve, onPort }: BridgePortOptions) {
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  let openPort: number | null = null;
  let lastChange = 0;
  let queue: Promise<void> = Promise.resolve();

  function drop(): void {
    for (const socket of sockets) socket.destroy();
  }

  /** Throws PORT_IN_USE. */
  async function listen(port: number): Promise<number> {
    const fresh = createServer({ noDelay: true }, (socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      serve(socket);
    });
    fresh.maxConnections = MAX_CONNECTIONS;
    openPort = await listenOn(fresh, HOST, port);
    // A failed accept affects that connection only.
    fresh.on('error', () => {});
    server = fresh;
    return openPort;
  }

  async function close(): Promise<void> {
    const closed = server && closeServer(server);
    server = undefined;
    openPort = null;
    drop();
    await closed;
  }

  /** Restarts the bridge on the wanted port. A port that cannot be bound stays closed and is reported. */
  async function restart(): Promise<void> {
    const port = wantedPort();
    await close();
    try {
      onPort(port === 0 ? null : await listen(port));
    } catch (error) {
      onPort(null, error instanceof Error ? error.message : String(error));
    }
  }

  return {
    host: HOST,
    /** The open port; null while closed. */
    port: (): number | null => openPort,
    connections: (): number => sockets.size,
    listen,
    drop,
    close,
    /** Restarts the bridge after `delay`, unless a later change replaces this one or the bridge is as wanted. */
    change(delay: () => Promise<void>, isWanted = () => false): Promise<void> {
      lastChange += 1;
      const own = lastChange;
      queue = queue.then(async () => {
        if (own === lastChange) await delay();
        if (own === lastChange && !isWanted()) await restart();
      });
      return queue;
    },
    /** Resolves when no change is pending. */
    async settled(): Promise<void> {
      for (let last: unknown; last !== queue; ) {
        last = queue;
        await last;
      }
    },
  };
}
