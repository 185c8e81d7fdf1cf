import type { Socket } from 'node:dgram';
import type { Clock, Log } from '../lifecycle/index.ts';
import { HEARTBEAT_PORT } from '../site/index.ts';
import { type Destination, destinations, sendBy, sendDatagram } from './socket.ts';
import { PERIOD_MS } from './wire.ts';

export interface BeaconOptions {
  /** Whether every interface broadcasts. */
  readonly broadcast: boolean;
  /** Addresses that each heartbeat is also sent to. */
  readonly unicast: readonly string[];
  /** The socket for unicast, not closed by the beacon. */
  readonly unicastBy: Socket;
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

interface SendingWay extends Destination {
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
  const failed = new Map<string, string>();
  const accepted = new Map<string, Destination & { count: number }>();
  const sending = new Set<Promise<void>>();
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
      const targets = destinations(options);
      // A removed interface is no failure, and its count is not shown.
      for (const [way, { from }] of accepted) {
        if (from === null || targets.some((target) => target.from === from)) continue;
        accepted.delete(way);
        failed.delete(way);
      }
      for (const target of targets) {
        const sent = sendTo(target, bytes).finally(() => sending.delete(sent));
        sending.add(sent);
      }
      report('any way', null);
    } catch (error) {
      report('any way', error);
    }
  }

  async function sendTo({ to, from }: Destination, bytes: Uint8Array): Promise<void> {
    const way = from === null ? to : `${to} from ${from}`;
    const counted = accepted.get(way) ?? { to, from, count: 0 };
    accepted.set(way, counted);
    try {
      if (from !== null) await sendDatagram(bytes, { to, from }, port);
      else await sendBy(options.unicastBy, bytes, to, port);
      counted.count += 1;
      report(way, null);
    } catch (error) {
      report(way, error);
    }
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
      await Promise.all(sending);
    },
  };
}
