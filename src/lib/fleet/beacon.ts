import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import type { Clock, Log } from '../lifecycle/index.ts';
import { HEARTBEAT_PORT } from '../site/index.ts';
import { BROADCAST_ADDRESS, PERIOD_MS } from './wire.ts';

export interface BeaconOptions {
  /** Whether every interface broadcasts. */
  readonly broadcast: boolean;
  /** Addresses that each heartbeat is also sent to. */
  readonly unicast: readonly string[];
  /** The socket for unicast, not closed by the beacon; absent: a socket of its own, on another port. */
  readonly unicastBy?: Socket;
  /** Encodes the datagram, once per heartbeat for all destinations. */
  readonly datagram: (sequence: number) => Uint8Array;
  /** The last sequence number; after it sending stops and `onUsedUp` is called. */
  readonly lastSequence: number;
  readonly onUsedUp: () => void;
  /** Destination port; only tests use another one than the heartbeat port. */
  readonly port?: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** One destination: an address, and for a broadcast the address of the outgoing interface. */
interface SendingWay {
  readonly to: string;
  readonly from: string | null;
  /** Datagrams accepted by the operating system; not a proof of transmission or arrival. */
  readonly accepted: number;
  /** Why the last one was not accepted; null when it was. */
  readonly failure: string | null;
}

export interface SendingView {
  /** Heartbeats since the start, sent or not. */
  readonly heartbeats: number;
  /** Since the last one; null before the first. */
  readonly lastAgeMs: number | null;
  readonly ways: readonly SendingWay[];
}

export interface Beacon extends AsyncDisposable {
  /** The counters of this sender. */
  view(): SendingView;
  /** The failed destinations of the last heartbeat, each with the error of the operating system. */
  failures(): readonly string[];
}

/**
 * Sends a heartbeat every 2 s: the n-th is due n periods after the first, without drift, and periods missed during sleep
 * are skipped. The first one comes after a random part of a period, so that robots that start together do not send at the
 * same time. Interfaces are read for every heartbeat. A send error is kept in `failures` until the destination works again.
 */
export function startBeacon(options: BeaconOptions): Beacon {
  const { clock, log, port = HEARTBEAT_PORT } = options;
  const sockets = new Map<string, Sender>();
  const failed = new Map<string, string>();
  const accepted = new Map<string, { readonly to: string; readonly from: string | null; count: number }>();
  let lastAtMs: number | null = null;
  const firstAtMs = clock.monotonicMs() + clock.random() * PERIOD_MS;
  let sequence = 0;
  let isEnded = false;
  let timer = wait(0);

  function wait(period: number): Disposable {
    return clock.after(Math.max(0, firstAtMs + period * PERIOD_MS - clock.monotonicMs()), () => {
      send();
      // A timer may fire early, and no period may be used twice.
      const reached = Math.floor((clock.monotonicMs() - firstAtMs) / PERIOD_MS);
      if (sequence > options.lastSequence) options.onUsedUp();
      else timer = wait(Math.max(period, reached) + 1);
    });
  }

  function send(): void {
    const next = sequence;
    sequence += 1;
    lastAtMs = clock.monotonicMs();
    try {
      const bytes = options.datagram(next);
      const sources = options.broadcast ? broadcastSources() : [];
      void closeExcept(new Set([...sources, ANY]));
      for (const source of sources) sendTo(source, BROADCAST_ADDRESS, bytes);
      for (const address of options.unicast) sendTo(ANY, address, bytes);
      report('any way', null);
    } catch (error) {
      report('any way', error);
    }
  }

  function sendTo(source: string, address: string, bytes: Uint8Array): void {
    const way = wayOf(source, address);
    const counted = accepted.get(way) ?? { to: address, from: source === ANY ? null : source, count: 0 };
    accepted.set(way, counted);
    const done = (error: Error | null) => {
      if (error === null) counted.count += 1;
      report(way, error);
    };
    try {
      if (source === ANY) (options.unicastBy ?? socketFrom(ANY).socket).send(bytes, port, address, done);
      else {
        const { socket, connected } = socketFrom(source);
        connected.then(() => socket.send(bytes, done)).catch(done);
      }
    } catch (error) {
      report(way, error);
    }
  }

  /**
   * A broadcast leaves by the interface whose address its socket is bound to. The socket is connected, so that its port,
   * which is not in the platform's list of open ports, receives no datagrams.
   */
  function socketFrom(source: string): Sender {
    const open = sockets.get(source);
    if (open !== undefined) return open;
    const socket = createSocket('udp4');
    socket.unref();
    // Without a listener a removed interface would end the daemon.
    socket.on('error', (error) => {
      for (const address of source === ANY ? options.unicast : [BROADCAST_ADDRESS])
        report(wayOf(source, address), error);
      if (sockets.get(source) === sender) sockets.delete(source);
      void closed(socket);
    });
    const sender: Sender = { socket, connected: once(socket, 'connect') };
    sender.connected.catch(() => {});
    socket.bind({ address: source, port: 0, exclusive: true }, () => {
      if (source === ANY) return;
      socket.setBroadcast(true);
      socket.connect(port, BROADCAST_ADDRESS);
    });
    sockets.set(source, sender);
    return sender;
  }

  /** Logs changes only, because a failure usually lasts for many heartbeats. */
  function report(way: string, error: unknown): void {
    if (isEnded) return;
    if (error === null) {
      if (failed.delete(way)) log.info({ way }, 'heartbeat sent again');
      return;
    }
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    if (failed.get(way) !== reason) log.warn({ way, reason }, 'heartbeat not sent');
    failed.set(way, reason);
  }

  function closeExcept(still: ReadonlySet<string>): Promise<unknown> {
    const gone = [...sockets].filter(([source]) => !still.has(source));
    for (const [source] of gone) {
      sockets.delete(source);
      failed.delete(wayOf(source, BROADCAST_ADDRESS));
      // Counts of a removed destination are not shown.
      if (source !== ANY) accepted.delete(wayOf(source, BROADCAST_ADDRESS));
    }
    return Promise.all(gone.map(([, { socket }]) => closed(socket)));
  }

  return {
    view: () => ({
      heartbeats: sequence,
      lastAgeMs: lastAtMs === null ? null : clock.monotonicMs() - lastAtMs,
      ways: [...accepted].map(([way, { to, from, count }]) => ({
        to,
        from,
        accepted: count,
        failure: failed.get(way) ?? null,
      })),
    }),
    failures: () => [...failed].map(([way, reason]) => `${way}: ${reason}`),
    async [Symbol.asyncDispose]() {
      isEnded = true;
      timer[Symbol.dispose]();
      await closeExcept(new Set());
    },
  };
}

const ANY = '0.0.0.0';

interface Sender {
  readonly socket: Socket;
  /** Resolves once connected; for broadcast sockets only. */
  readonly connected: Promise<unknown>;
}

/** One IPv4 address of every interface except loopback. */
export function broadcastSources(): string[] {
  return Object.values(networkInterfaces()).flatMap((addresses) => {
    const source = addresses?.find(({ family, internal }) => family === 'IPv4' && !internal);
    return source === undefined ? [] : [source.address];
  });
}

function wayOf(source: string, address: string): string {
  return source === ANY ? address : `${address} from ${source}`;
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    try {
      socket.close(() => resolve());
    } catch {
      // Already closed.
      resolve();
    }
  });
}
