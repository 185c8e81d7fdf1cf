import { createSocket, type Socket } from 'node:dgram';
import { networkInterfaces } from 'node:os';
import type { Clock, Log } from '../lifecycle/index.ts';
import { BROADCAST_ADDRESS, HEARTBEAT_PORT, PERIOD_MS } from './wire.ts';

export interface BeaconOptions {
  /** Whether every interface broadcasts. */
  readonly broadcast: boolean;
  /** Addresses that get each beat of their own. */
  readonly unicast: readonly string[];
  /** The datagram of a beat: asked for once a beat, and sent everywhere. */
  readonly datagram: (sequence: number) => Uint8Array;
  /** After the beat with this sequence no more is sent, and `onUsedUp` is called. */
  readonly lastSequence: number;
  readonly onUsedUp: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Beacon extends AsyncDisposable {
  /** The ways that the last beat could not take, each with the reason of the operating system. */
  failures(): readonly string[];
}

/**
 * Sends a beat every 2 s: the n-th is due n periods after the first, however late the one before was, and what a
 * sleeping machine missed is left out. The first comes after a part of a period that chance decides, so that robots
 * that start together do not speak together. Interfaces are looked up for every beat, so that they may come and go. No
 * error of sending ends it: each is kept in sight until the way works again.
 */
export function startBeacon(options: BeaconOptions): Beacon {
  const { clock, log } = options;
  const ways = new Map<string, Socket>();
  const failed = new Map<string, string>();
  const firstAtMs = clock.monotonicMs() + clock.random() * PERIOD_MS;
  let sequence = 0;
  let timer: Disposable;

  function wait(): void {
    const beat = Math.max(0, Math.ceil((clock.monotonicMs() - firstAtMs) / PERIOD_MS));
    timer = clock.after(Math.max(0, firstAtMs + beat * PERIOD_MS - clock.monotonicMs()), () => {
      send();
      if (sequence > options.lastSequence) options.onUsedUp();
      else wait();
    });
  }

  function send(): void {
    const bytes = options.datagram(sequence);
    sequence += 1;
    const sources = options.broadcast ? broadcastSources() : [];
    forget(new Set([...sources, ANY]));
    for (const source of sources) sendTo(source, BROADCAST_ADDRESS, bytes);
    for (const address of options.unicast) sendTo(ANY, address, bytes);
  }

  function sendTo(source: string, address: string, bytes: Uint8Array): void {
    const way = source === ANY ? address : `${address} from ${source}`;
    socketFrom(source).send(bytes, HEARTBEAT_PORT, address, (error) => told(way, error));
  }

  /** A broadcast leaves by the interface whose address its socket is bound to. */
  function socketFrom(source: string): Socket {
    const open = ways.get(source);
    if (open !== undefined) return open;
    const socket = createSocket('udp4');
    socket.unref();
    // Without a listener an interface that went away would end the daemon.
    socket.on('error', (error) => {
      told(`from ${source}`, error);
      ways.delete(source);
      socket.close();
    });
    socket.bind({ address: source, port: 0, exclusive: true }, () => socket.setBroadcast(true));
    ways.set(source, socket);
    return socket;
  }

  /** Says what changed, and only that: a cable that is out is out for many beats. */
  function told(way: string, error: Error | null): void {
    if (error === null) {
      if (failed.delete(way)) log.info({ way }, 'heartbeat sent again');
      return;
    }
    const reason = (error as NodeJS.ErrnoException).code ?? error.message;
    if (failed.get(way) !== reason) log.warn({ way, reason }, 'heartbeat not sent');
    failed.set(way, reason);
  }

  function forget(still: ReadonlySet<string>): void {
    for (const [source, socket] of ways) {
      if (still.has(source)) continue;
      ways.delete(source);
      failed.delete(`${BROADCAST_ADDRESS} from ${source}`);
      socket.close();
    }
  }

  wait();
  return {
    failures: () => [...failed].map(([way, reason]) => `${way}: ${reason}`),
    async [Symbol.asyncDispose]() {
      timer[Symbol.dispose]();
      forget(new Set());
    },
  };
}

const ANY = '0.0.0.0';

/** One IPv4 address of every interface but the loopback. */
function broadcastSources(): string[] {
  return Object.values(networkInterfaces()).flatMap((addresses) => {
    const source = addresses?.find(({ family, internal }) => family === 'IPv4' && !internal);
    return source === undefined ? [] : [source.address];
  });
}
