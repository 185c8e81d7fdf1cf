import { createServer, type Server, type Socket } from 'node:net';
import type { Clock } from '../../../lifecycle/index.ts';
import { closeServer, listenOn } from '../../listen.ts';

const HOST = '127.0.0.1';
const MAX_CONNECTIONS = 32;
/** Delay before a change takes effect, so that its answer is still delivered. */
export const RESTART_DELAY_MS = 100;

export interface BridgePortOptions {
  readonly clock: Pick<Clock, 'sleep'>;
  /** Aborted when the tablet ends. */
  readonly ending: AbortSignal;
  /** The port that the bridge should listen on; 0 for none. */
  readonly wantedPort: () => number;
  /** Whether the port stays open although closing was confirmed. */
  readonly staysOpen: () => boolean;
  /** Whether the tablet is about to restart, which also restarts the bridge. */
  readonly isGoingDown: () => boolean;
  readonly serve: (socket: Socket) => void;
  /** The port was opened or closed, or could not be opened. */
  readonly onPort: (port: number | null, problem?: string) => void;
}

/**
 * The TCP port of the debug bridge. Changes are queued, and each reads the wanted port when it runs, so the last of
 * several changes wins.
 */
export function createBridgePort(options: BridgePortOptions) {
  const { clock, ending, wantedPort, staysOpen, isGoingDown, serve, onPort } = options;
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  let openPort: number | null = null;
  /** Number of requested changes, and how many of them the last start has applied. */
  let requested = 0;
  let applied = 0;
  let turn: Promise<unknown> = Promise.resolve();

  function inTurn(work: () => Promise<void>): Promise<void> {
    const done = turn.then(() => (ending.aborted ? undefined : work()));
    turn = done.catch(() => {});
    return done;
  }

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
    const opened = await listenOn(fresh, HOST, port);
    // A failed accept affects that connection only.
    fresh.on('error', () => {});
    openPort = opened;
    server = fresh;
    return opened;
  }

  async function close(): Promise<void> {
    const was = server;
    server = undefined;
    openPort = null;
    const closed = was && closeServer(was);
    drop();
    await closed;
  }

  /** Starts the bridge on the wanted port. A port that cannot be bound stays closed and is reported. */
  async function start(): Promise<void> {
    applied = requested;
    const port = wantedPort();
    if (server) await close();
    if (port === 0) {
      onPort(null);
      return;
    }
    try {
      onPort(await listen(port));
    } catch (error) {
      onPort(null, error instanceof Error ? error.message : String(error));
    }
  }

  /** Applies a pending change after a short delay. */
  async function apply(change = requested): Promise<void> {
    if (change <= applied || isGoingDown()) return;
    await clock.sleep(RESTART_DELAY_MS, ending).catch(() => {});
    if (ending.aborted || isGoingDown()) return;
    if (staysOpen() && openPort !== null && wantedPort() !== openPort) {
      applied = requested;
      drop();
    } else await start();
  }

  return {
    host: HOST,
    /** The open port; null while closed. */
    port: (): number | null => openPort,
    connections: (): number => sockets.size,
    inTurn,
    listen,
    start,
    apply,
    drop,
    close,
    /** The wanted port has changed: restarts the bridge. */
    request(): void {
      requested += 1;
      const change = requested;
      void inTurn(() => apply(change));
    },
    /** The wanted port has changed by hand, without an answer to deliver; a bridge on that port continues. */
    requestAtOnce(): Promise<void> {
      requested += 1;
      const change = requested;
      return inTurn(async () => {
        // A later change takes precedence.
        if (change === requested && openPort !== wantedPort()) await start();
      });
    },
    /** Resolves when the queue is empty, or earlier when `isEnough` returns true. */
    async settled(isEnough = () => false): Promise<void> {
      for (let last: unknown; last !== turn && !isEnough(); ) {
        last = turn;
        await last;
      }
    },
    /** After `ending`: resolves when the port is closed. */
    async end(): Promise<void> {
      await turn;
      await close();
    },
  };
}
