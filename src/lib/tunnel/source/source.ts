import { GwError } from '../../error/index.ts';
import { quote } from '../../json/index.ts';
import { createBackoff, onAbort } from '../../lifecycle/index.ts';
import { openTunnelSocket, proxyLimits, type TunnelSocket } from '../link/index.ts';
import type { TunnelMessage } from '../wire.ts';
import { openListeners } from './listeners.ts';
import type { SourceEnd, SourceOptions } from './model.ts';
import { createSourceStreams } from './streams.ts';

/** Project decision: a person waits at the terminal. */
export const DEFAULT_GIVE_UP_MS = 120_000;
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 15_000;
/** The service announces its services at once; without them a connection is of no use. */
const SERVICES_MS = 10_000;
/** A connection that lasted so long was a success: the next loss is retried soon. */
const STABLE_MS = 30_000;
/** For the resets and the close frame at the end. */
const CLOSE_MS = 2_000;

/** How one WebSocket ended; `lost`: the tunnel may still exist. */
type WebSocketEnd =
  | { readonly kind: 'closed' | 'lost'; readonly detail: string; readonly error?: GwError }
  | { readonly kind: 'interrupted' };

/**
 * The source mode of the tunnel: connects to the service, compares its services with the asked ones, then listens on
 * 127.0.0.1 and passes each TCP client through. A lost WebSocket is opened again with the same client token until
 * `giveUpMs` have passed without one. Resolves when the service closes the tunnel or the signal is aborted. Throws
 * TUNNEL_REFUSED, TUNNEL_NOT_REACHABLE, USAGE where the tunnel does not have the asked services, TUNNEL_PROTOCOL where
 * it changes them, PORT_IN_USE, PORT_UNUSABLE.
 * @source vendor (HINWEIS)
 */
export async function runSource(options: SourceOptions): Promise<SourceEnd> {
  const { settings, clock, signal, onEvent, giveUpMs = DEFAULT_GIVE_UP_MS } = options;
  const asked = settings.services.map(({ id }) => id);
  const streams = createSourceStreams({ services: asked, clock, limits: proxyLimits, onEvent });
  const backoff = createBackoff({ firstMs: FIRST_RETRY_MS, maxMs: MAX_RETRY_MS }, clock);
  let listening: Awaited<ReturnType<typeof openListeners>> | undefined;
  let connects = 0;
  /** Since when there is no working connection. */
  let sinceMs = clock.monotonicMs();

  try {
    for (;;) {
      const end = await oneWebSocket().catch(orThrow);
      if (end.kind === 'interrupted' || signal.aborted) return ended('interrupted', 'Ended here.');
      if (end.kind === 'closed') {
        return ended('closed-by-service', `The tunnel service closed the tunnel (${end.detail}).`);
      }
      const retryInMs = Math.round(backoff.nextMs());
      const forMs = clock.monotonicMs() - sinceMs;
      if (forMs + retryInMs > giveUpMs) throw givenUp(end.detail, end.error, forMs);
      onEvent({ event: 'lost', detail: end.detail, retryInMs });
      await clock.sleep(retryInMs, signal).catch(() => {});
    }
  } finally {
    streams.detach();
    await listening?.[Symbol.asyncDispose]();
  }

  /** One WebSocket from its handshake to its end. */
  async function oneWebSocket(): Promise<WebSocketEnd> {
    if (signal.aborted) return { kind: 'interrupted' };
    const announced = createAnnouncement();
    const socket = await openTunnelSocket({
      ...settings,
      mode: 'source',
      tokens: options.tokens,
      clock,
      signal,
      onMessage(message) {
        if (message.type === 'service-ids') announced.receive(message);
        else announced.assertReceived(message);
        streams.handle(message);
      },
      onSent: streams.sent,
    });
    try {
      using _aborted = onAbort(signal, () => {
        streams.resetAll();
        socket.close();
      });
      using _late = clock.after(SERVICES_MS, () => announced.fail(`no services received for ${SERVICES_MS / 1_000} s`));
      void socket.ended.then(({ detail }) => announced.fail(`it ended before its services were received: ${detail}`));
      const offered = await announced.services;
      const missing = asked.filter((id) => !offered.includes(id));
      if (missing.length > 0) throw notOffered(missing, offered);
      streams.attach(socket);
      connects += 1;
      const openedMs = clock.monotonicMs();
      onEvent({ event: 'connected', channelId: socket.channelId, services: offered });
      if (listening === undefined) {
        listening = await openListeners(settings.services, (service, local) => streams.accept(service, local));
        onEvent({ event: 'listening', listeners: listening.listeners });
      }
      const { kind, detail } = await socket.ended;
      sinceMs = clock.monotonicMs();
      if (sinceMs - openedMs >= STABLE_MS) backoff.reset();
      announced.assertUnchanged();
      return kind === 'closed'
        ? { kind, detail }
        : { kind, detail: `Connection to the tunnel service lost: ${detail}.` };
    } finally {
      streams.detach();
      await endOf(socket);
    }
  }

  /** Waits a moment for the close frame of an orderly end. */
  async function endOf(socket: TunnelSocket): Promise<void> {
    socket.close();
    using _late = clock.after(CLOSE_MS, () => socket.terminate());
    await socket.ended;
  }

  /** A failure that a later attempt may not have. */
  function orThrow(error: unknown): WebSocketEnd {
    if (signal.aborted) return { kind: 'interrupted' };
    if (!(error instanceof GwError)) throw error;
    if (error.code === 'TUNNEL_NOT_REACHABLE') return { kind: 'lost', detail: error.message, error };
    if (error.code === 'TUNNEL_REFUSED' && connects > 0) throw notAgain(error);
    throw error;
  }

  function ended(reason: SourceEnd['reason'], detail: string): SourceEnd {
    return { reason, detail, ...streams.counts, reconnects: Math.max(0, connects - 1) };
  }

  function givenUp(detail: string, error: GwError | undefined, forMs: number): GwError {
    const seconds = Math.round(forMs / 1_000);
    const what = connects === 0 ? 'No connection to the tunnel service' : 'Connection to the tunnel service lost';
    return new GwError('TUNNEL_NOT_REACHABLE', `${what} for ${seconds} s. Last attempt: ${detail}`, {
      tried: {
        address: settings.host,
        port: settings.port,
        action: 'WebSocket /tunnel as source',
        forMs: Math.round(forMs),
      },
      remedy: error?.remedy,
      cause: error,
    });
  }
}

/** SERVICE_IDS of one WebSocket: the first message, and never another one. */
function createAnnouncement() {
  const { promise: services, resolve, reject } = Promise.withResolvers<readonly string[]>();
  // Also rejected where nobody waits any more.
  services.catch(() => {});
  let received: readonly string[] | undefined;
  let changed: GwError | undefined;
  return {
    services,
    receive({ availableServiceIds: now }: TunnelMessage): void {
      if (received === undefined) {
        received = now;
        resolve(now);
      } else if (received.length !== now.length || !received.every((id) => now.includes(id))) {
        changed = new GwError(
          'TUNNEL_PROTOCOL',
          `The tunnel service changed its services during the session, from ${listOf(received)} to ${listOf(now)}.`,
        );
        throw changed;
      }
    },
    assertReceived({ type }: TunnelMessage): void {
      if (received === undefined) throw new GwError('TUNNEL_PROTOCOL', `${type} received before the services`);
    },
    assertUnchanged(): void {
      if (changed !== undefined) throw changed;
    },
    fail(why: string): void {
      reject(new GwError('TUNNEL_NOT_REACHABLE', `Connection to the tunnel service of no use: ${why}.`));
    },
  };
}

function listOf(services: readonly string[]): string {
  return services.length === 0 ? 'none' : services.map((id) => quote(id)).join(', ');
}

function notOffered(missing: readonly string[], offered: readonly string[]): GwError {
  return new GwError(
    'USAGE',
    `The services of the tunnel are ${listOf(offered)}; ${listOf(missing)} is not among them.`,
    {
      remedy:
        'Name the services of the tunnel with --service. This token is used now and works only once: let the tokens of the tunnel be rotated.',
    },
  );
}

/** The connection was accepted before with the same tokens. */
function notAgain(refused: GwError): GwError {
  return new GwError(
    'TUNNEL_REFUSED',
    `Connection lost and not accepted again: the tunnel is probably closed. ${refused.message}`,
    {
      tried: refused.tried,
      details: refused.details,
      remedy: 'Let the tunnel be opened again, and use the new source token.',
      cause: refused,
    },
  );
}
