import { createServer, type Server, type Socket } from 'node:net';
import type { Clock } from '../../lifecycle/index.ts';
import { closeServer, listenOn } from '../listen.ts';

const HOST = '127.0.0.1';
const MOST_CONNECTIONS = 32;
/** Between an order and the moment when it is done, so that its answer is still heard. */
export const GOES_DOWN_MS = 100;

export interface BridgePortOptions {
  readonly clock: Pick<Clock, 'sleep'>;
  /** Aborted when the tablet ends. */
  readonly ending: AbortSignal;
  /** Where the bridge listens if it starts now; 0 for nowhere. */
  readonly wantedPort: () => number;
  /** It only says that it closes. */
  readonly staysOpen: () => boolean;
  /** The tablet is about to restart, which starts the bridge too. */
  readonly isGoingDown: () => boolean;
  readonly serve: (socket: Socket) => void;
  /** The port was opened or closed, or could not be opened. */
  readonly onPort: (port: number | null, problem?: string) => void;
}

/**
 * The TCP port of the debug bridge. Whatever changes it waits for its turn, and looks at that moment at what is wanted:
 * so the last of several orders wins, however quickly they came.
 */
export function createBridgePort(options: BridgePortOptions) {
  const { clock, ending, wantedPort, staysOpen, isGoingDown, serve, onPort } = options;
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  let openPort: number | null = null;
  /** How many orders there were, and how many of them the last start has heeded. */
  let ordered = 0;
  let heeded = 0;
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
    fresh.maxConnections = MOST_CONNECTIONS;
    const opened = await listenOn(fresh, HOST, port);
    // A connection that could not be taken is lost, and nothing else.
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

  /** Starts the bridge as things stand. A port that cannot be had stays closed, and is told. */
  async function start(): Promise<void> {
    heeded = ordered;
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

  /** Does what was ordered and not heeded yet, in a moment. */
  async function heed(order = ordered): Promise<void> {
    if (order <= heeded || isGoingDown()) return;
    await clock.sleep(GOES_DOWN_MS, ending).catch(() => {});
    if (ending.aborted || isGoingDown()) return;
    if (staysOpen() && openPort !== null && wantedPort() !== openPort) {
      heeded = ordered;
      drop();
    } else await start();
  }

  return {
    host: HOST,
    /** Where it listens now. */
    port: (): number | null => openPort,
    connections: (): number => sockets.size,
    inTurn,
    listen,
    start,
    heed,
    drop,
    close,
    /** What is wanted has changed: the bridge starts anew. */
    order(): void {
      ordered += 1;
      const order = ordered;
      void inTurn(() => heed(order));
    },
    /** What is wanted has changed, and whoever did it needs no answer; a bridge that listens there already goes on. */
    orderAtOnce(): Promise<void> {
      ordered += 1;
      const order = ordered;
      return inTurn(async () => {
        // A later order decides with its own turn.
        if (order === ordered && openPort !== wantedPort()) await start();
      });
    },
    /** Resolves when nothing waits for its turn any more, or nothing but what `isEnough` does not mind. */
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
