import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import type { Clock, Log } from '../lifecycle/index.ts';
import { HEARTBEAT_PORT } from '../site/index.ts';
import { BROADCAST_ADDRESS, PERIOD_MS } from './wire.ts';

export interface BeaconOptions {
  /** Whether every interface broadcasts. */
  readonly broadcast: boolean;
  /** Addresses that get each beat of their own. */
  readonly unicast: readonly string[];
  /** Sends to these, and stays open at the end; absent: a socket of its own, on a further port. */
  readonly unicastBy?: Socket;
  /** The datagram of a beat: asked for once a beat, and sent everywhere. */
  readonly datagram: (sequence: number) => Uint8Array;
  /** After the beat with this sequence no more is sent, and `onUsedUp` is called. */
  readonly lastSequence: number;
  readonly onUsedUp: () => void;
  /** Where the beats go; tests alone choose another than that of the heartbeat. */
  readonly port?: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** One way of the heartbeat: an address, and for a broadcast the address of the interface that it leaves by. */
interface SendingWay {
  readonly to: string;
  readonly from: string | null;
  /** Datagrams that the operating system accepted; that one left the machine or arrived is not in it. */
  readonly accepted: number;
  /** Why it refused the last one; null when it accepted it. */
  readonly failure: string | null;
}

export interface SendingView {
  /** Heartbeats since the start, whatever became of them. */
  readonly heartbeats: number;
  /** Since the last one; null before the first. */
  readonly lastAgeMs: number | null;
  readonly ways: readonly SendingWay[];
}

export interface Beacon extends AsyncDisposable {
  /** The counters of this sender. */
  view(): SendingView;
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
      // Never the same period twice: a timer may fire a little early.
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
      void forget(new Set([...sources, ANY]));
      for (const source of sources) sendTo(source, BROADCAST_ADDRESS, bytes);
      for (const address of options.unicast) sendTo(ANY, address, bytes);
      told('any way', null);
    } catch (error) {
      told('any way', error);
    }
  }

  function sendTo(source: string, address: string, bytes: Uint8Array): void {
    const way = wayOf(source, address);
    const counted = accepted.get(way) ?? { to: address, from: source === ANY ? null : source, count: 0 };
    accepted.set(way, counted);
    const done = (error: Error | null) => {
      if (error === null) counted.count += 1;
      told(way, error);
    };
    try {
      if (source === ANY) (options.unicastBy ?? socketFrom(ANY).socket).send(bytes, port, address, done);
      else {
        const { socket, connected } = socketFrom(source);
        connected.then(() => socket.send(bytes, done)).catch(done);
      }
    } catch (error) {
      told(way, error);
    }
  }

  /**
   * A broadcast leaves by the interface whose address its socket is bound to. That socket is connected: nobody can speak
   * to its port, which the platform does not know as an open one.
   */
  function socketFrom(source: string): Sender {
    const open = sockets.get(source);
    if (open !== undefined) return open;
    const socket = createSocket('udp4');
    socket.unref();
    // Without a listener an interface that went away would end the daemon.
    socket.on('error', (error) => {
      for (const address of source === ANY ? options.unicast : [BROADCAST_ADDRESS]) told(wayOf(source, address), error);
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

  /** Says what changed, and only that: a cable that is out is out for many beats. */
  function told(way: string, error: unknown): void {
    if (isEnded) return;
    if (error === null) {
      if (failed.delete(way)) log.info({ way }, 'heartbeat sent again');
      return;
    }
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    if (failed.get(way) !== reason) log.warn({ way, reason }, 'heartbeat not sent');
    failed.set(way, reason);
  }

  function forget(still: ReadonlySet<string>): Promise<unknown> {
    const gone = [...sockets].filter(([source]) => !still.has(source));
    for (const [source] of gone) {
      sockets.delete(source);
      failed.delete(wayOf(source, BROADCAST_ADDRESS));
      // A way that is gone is not shown with the counts that it had.
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
      await forget(new Set());
    },
  };
}

const ANY = '0.0.0.0';

interface Sender {
  readonly socket: Socket;
  /** Resolves where it sends broadcasts. */
  readonly connected: Promise<unknown>;
}

/** One IPv4 address of every interface but the loopback. */
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
      // It was closed before.
      resolve();
    }
  });
}
