import type { Duplex } from 'node:stream';
import type ssh2 from 'ssh2';
import { GwError, type Tried } from '../../error/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import type { RoundTrips } from '../dialer.ts';
import { measureRoundTrips } from './round-trips.ts';
import { createSessions, type Sessions } from './sessions.ts';

/** Project decision: a connection without data for MAX_SILENCE_MS, despite keepalive requests, is lost. */
const KEEPALIVE_MS = 500;
const MAX_SILENCE_MS = 6_000;
/** A responsive server has answered one of two keepalive requests by then. */
const MAX_RESPONSIVE_GAP_MS = 2 * KEEPALIVE_MS;
/** How long an orderly close may take. */
const CLOSE_MS = 1_000;

/** One authenticated SSH connection of a route. */
export interface Hop {
  readonly client: ssh2.Client;
  readonly sessions: Sessions;
  readonly clock: Clock;
  /** Aborted with SSH_LOST when the connection is lost. */
  readonly lost: AbortSignal;
  /** Time since the last data was received. */
  quietMs(): number;
  /** Over the whole route to this host. */
  roundTrips(): RoundTrips | null;
  /** Total time in which the server was responsive: a silence adds a second at most, however long it lasts. */
  responsiveMs(): number;
  end(): void;
}

export interface HopParts {
  readonly client: ssh2.Client;
  /** What the client runs on. */
  readonly socket: Duplex;
  readonly clock: Clock;
  /** `technician@192.0.2.2:22`. */
  readonly where: string;
  readonly tried: () => Tried;
  /** Called once, when the link to this host has turned out slow. */
  readonly onSlow?: ((roundTrips: RoundTrips) => void) | undefined;
}

/** A connection whose login is under way. It is lost at most once, and never after it was ended here. */
export function createHop({ client, socket, clock, where, tried, onSlow }: HopParts) {
  const lost = new AbortController();
  let watch: LinkWatch | undefined;
  let isEnded = false;

  function lose(why: string, before?: GwError): void {
    watch?.[Symbol.dispose]();
    if (!lost.signal.aborted && !isEnded) {
      lost.abort(before ?? new GwError('SSH_LOST', `SSH connection to ${where} lost: ${why}.`, { tried: tried() }));
    }
    client.destroy();
  }

  return {
    /** The login is complete: the connection is watched from now on. */
    open(): Hop {
      const mine = watchLink({ client, socket, clock, onSlow, onSilent: lose });
      watch = mine;
      return {
        client,
        sessions: createSessions(client),
        clock,
        lost: lost.signal,
        quietMs: mine.quietMs,
        roundTrips: mine.roundTrips,
        responsiveMs: mine.responsiveMs,
        end() {
          isEnded = true;
          mine[Symbol.dispose]();
          client.end();
          // A silent peer would keep the socket, and with it the process, open for minutes.
          clock.after(CLOSE_MS, () => socket.destroy());
        },
      };
    },

    /** The connection has failed after its login. `before`: the loss of an earlier hop, which is the cause of this one. */
    lose,

    /** The login has failed, which is no loss. */
    abandon(): void {
      isEnded = true;
      client.destroy();
      socket.destroy();
    },
  };
}

interface LinkWatch extends Pick<Hop, 'quietMs' | 'roundTrips' | 'responsiveMs'>, Disposable {}

interface LinkWatchOptions extends Pick<HopParts, 'client' | 'socket' | 'clock' | 'onSlow'> {
  readonly onSilent: (why: string) => void;
}

/** Sends keepalive requests, measures their answers, and watches whether any data arrives. */
function watchLink({ client, socket, clock, onSlow, onSilent }: LinkWatchOptions): LinkWatch {
  let receivedAtMs = clock.monotonicMs();
  let responsiveMs = 0;
  const sinceReceivedMs = () => Math.min(clock.monotonicMs() - receivedAtMs, MAX_RESPONSIVE_GAP_MS);
  // Ticks are counted, because a blocked event loop on this side is not silence of the server.
  let silentTicks = 0;
  socket.on('data', () => {
    responsiveMs += sinceReceivedMs();
    receivedAtMs = clock.monotonicMs();
    silentTicks = 0;
  });
  // A loaded slow connection answers late, so for its loss any received data counts, not these answers.
  const trips = measureRoundTrips({
    clock,
    intervalMs: KEEPALIVE_MS,
    ask: (onAnswer) => askNothing(client, onAnswer),
    onSlow: (found) => onSlow?.(found),
  });
  const ticks = clock.every(KEEPALIVE_MS, () => {
    silentTicks += 1;
    if (silentTicks * KEEPALIVE_MS > MAX_SILENCE_MS) onSilent(`no data received for ${MAX_SILENCE_MS / 1000} s`);
  });
  return {
    quietMs: () => clock.monotonicMs() - receivedAtMs,
    roundTrips: trips.current,
    responsiveMs: () => responsiveMs + sinceReceivedMs(),
    [Symbol.dispose]() {
      ticks[Symbol.dispose]();
      trips[Symbol.dispose]();
    },
  };
}

/**
 * A request that every server answers and that changes nothing: to cancel a forwarding that does not exist. The library
 * sends keepalive requests too, but does not report when they are answered.
 * @source RFC 4254, 4 and 7.1
 */
function askNothing(client: ssh2.Client, onAnswer: () => void): void {
  try {
    client.unforwardIn('127.0.0.1', 0, () => onAnswer());
  } catch {
    // Not connected any more, which the connection itself reports.
  }
}
