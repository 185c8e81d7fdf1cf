import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { GwError, systemReason } from '../../error/index.ts';
import { createBackoff, firstOf } from '../../lifecycle/index.ts';
import { openTunnelSocket, proxyLimits, type SocketResult, secretsOf, serveSocket } from '../link/index.ts';
import type { SourceEnd, SourceEvent, SourceListener, SourceOptions, SourceSettings } from './model.ts';
import { createSourceStreams } from './streams.ts';

/** The only address of local ports: what comes through the tunnel is for this machine. */
const LISTEN_HOST = '127.0.0.1';

/** Project decision: a person waits at the terminal. */
const DEFAULT_GIVE_UP_MS = 120_000;
const RETRY_MS = { firstMs: 1_000, maxMs: 15_000 } as const;
/** A WebSocket that lived so long begins the waits and the limit anew. */
const STABLE_MS = 30_000;

/** How one attempt ended that may be followed by another one. */
type Over = { readonly kind: 'closed' | 'lost'; readonly detail: string };

/**
 * The source mode of the tunnel: connects to the service, compares its services with the asked ones, then listens on
 * 127.0.0.1 and passes each TCP client through. A lost WebSocket is opened again with the same client token until
 * `giveUpMs` have passed without one that lasted 30 s or carried an answer of the robot's side. Resolves when the service
 * closes the tunnel or the signal is aborted. Throws TUNNEL_REFUSED, TUNNEL_NOT_REACHABLE, USAGE where the tunnel does not
 * have the asked services, PORT_IN_USE, PORT_UNUSABLE.
 * @source vendor (HINWEIS)
 */
export async function runSource(options: SourceOptions): Promise<SourceEnd> {
  const { settings, tokens, clock, giveUpMs = DEFAULT_GIVE_UP_MS, limits = proxyLimits } = options;
  /** Whether the robot's side has answered on this WebSocket. */
  let hasAnswered = false;
  const onEvent = (event: SourceEvent) => {
    if (event.event === 'answered') hasAnswered = true;
    options.onEvent(event);
  };
  const streams = createSourceStreams({
    services: settings.services.map(({ id }) => id),
    clock,
    limits,
    onEvent,
  });
  const backoff = createBackoff(RETRY_MS, clock);
  /** Aborted when the local ports cannot be opened. */
  const failing = new AbortController();
  const signal = firstOf(options.signal, failing.signal);
  let listening: Promise<Awaited<ReturnType<typeof openListeners>>> | undefined;
  let connects = 0;
  /** Since when there is no working connection. */
  let sinceMs = clock.monotonicMs();

  try {
    for (;;) {
      const over = await attempt().catch((error: unknown): 'stopped' => {
        if (signal.aborted) return 'stopped';
        throw error;
      });
      failing.signal.throwIfAborted();
      if (over === 'stopped' || signal.aborted) return ended('interrupted', 'Ended here.');
      if (over.kind === 'closed') return ended('closed-by-service', sentence(over.detail));
      const retryInMs = Math.round(backoff.nextMs());
      const forMs = Math.round(clock.monotonicMs() - sinceMs);
      if (forMs + retryInMs > giveUpMs) throw givenUp(over.detail, forMs);
      onEvent({ event: 'lost', detail: over.detail, retryInMs });
      await clock.sleep(retryInMs, signal).catch(() => {});
    }
  } finally {
    streams.closeAll();
    const open = await listening?.catch(() => undefined);
    await open?.[Symbol.asyncDispose]();
  }

  /** One WebSocket from its handshake to its end. */
  async function attempt(): Promise<Over | 'stopped'> {
    const opened = await openTunnelSocket({
      mode: 'source',
      settings,
      trusted: settings.caPem ?? 'system',
      tokens,
      clock,
      signal,
      onTcp() {},
    });
    if (opened.kind === 'refused') throw refusal(opened);
    if (opened.kind === 'failed') return { kind: 'lost', detail: opened.detail };
    hasAnswered = false;
    const { channelId } = opened.socket;
    const openedMs = clock.monotonicMs();
    const over = await serveSocket(opened.socket, {
      createEngine: streams.engine,
      limits,
      clock,
      secrets: secretsOf(tokens),
      signal,
      onServices() {
        connects += 1;
        onEvent({ event: 'connected', channelId, services: streams.offered() });
        listening ??= listen();
        listening.catch((error: unknown) => failing.abort(error));
      },
    });
    if (over.kind === 'stopped') return 'stopped';
    if (over.kind === 'configuration') throw otherServices(over.detail);
    if (!over.isReady) return { kind: 'lost', detail: `${place()}: ${over.detail}, before SERVICE_IDS` };
    const nowMs = clock.monotonicMs();
    const isStable = nowMs - openedMs >= STABLE_MS;
    if (isStable) backoff.reset();
    // One that is accepted and dropped at once does not work, however often it happens.
    if (isStable || hasAnswered) sinceMs = nowMs;
    return { kind: over.kind, detail: over.detail };
  }

  async function listen() {
    const open = await openListeners(settings.services, streams.accept);
    onEvent({ event: 'listening', listeners: open.listeners });
    return open;
  }

  function ended(reason: SourceEnd['reason'], detail: string): SourceEnd {
    return { reason, detail, ...streams.counts, reconnects: Math.max(0, connects - 1) };
  }

  function place(): string {
    return `${settings.host}:${settings.port}`;
  }

  function tried(forMs?: number) {
    const { host: address, port } = settings;
    return { address, port, action: 'WebSocket /tunnel as source', ...(forMs !== undefined && { forMs }) };
  }

  function givenUp(detail: string, forMs: number): GwError {
    const seconds = Math.round(forMs / 1_000);
    const what = connects === 0 ? 'No connection' : 'No working connection';
    return new GwError(
      'TUNNEL_NOT_REACHABLE',
      `${what} to the tunnel service for ${seconds} s. Last attempt: ${sentence(detail)}`,
      {
        tried: tried(forMs),
      },
    );
  }

  /** A status from 300 to 499 in words. @source vendor (HINWEIS) */
  function refusal({ status, reason }: Extract<SocketResult, { kind: 'refused' }>): GwError {
    const answer = `status ${status}${reason === '' ? '' : ` '${reason}'`}`;
    const refused = (message: string, remedy?: string) =>
      new GwError('TUNNEL_REFUSED', message, { tried: tried(), remedy, details: { status } });
    if (status === 429) {
      return refused(
        `Tunnel service refused the connection because of too many requests: ${answer}.`,
        'Wait some minutes, then run the command again with the same token.',
      );
    }
    if (connects > 0) {
      return refused(
        `Connection lost and not accepted again: the tunnel is probably closed. The service answered ${answer}.`,
        'Let the tunnel be opened again, and use the new source token.',
      );
    }
    if (status === 400 && /\bused\b|does not match/i.test(reason)) {
      return refused(
        `This token was used before, and a token works once. The service answered ${answer}.`,
        'Let the tokens of the tunnel be rotated, and use the new source token.',
      );
    }
    return refused(`Tunnel service refused the connection: ${answer}.`);
  }
}

/**
 * Opens a port on 127.0.0.1 for each service. `onSocket` gets every connection. Throws PORT_IN_USE or PORT_UNUSABLE, and
 * then no port is left open. Disposing closes the ports; the connections belong to the caller.
 */
async function openListeners(
  services: SourceSettings['services'],
  onSocket: (service: string, socket: Socket) => void,
): Promise<{ readonly listeners: readonly SourceListener[] } & AsyncDisposable> {
  const servers: Server[] = [];
  const close = async () => {
    for (const server of servers) await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  const listeners: SourceListener[] = [];
  try {
    for (const { id, port } of services) {
      const server = createServer((socket) => onSocket(id, socket));
      await listenOn(server, id, port);
      servers.push(server);
      listeners.push({ service: id, host: LISTEN_HOST, port: (server.address() as AddressInfo).port });
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { listeners, [Symbol.asyncDispose]: close };
}

function listenOn(server: Server, id: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', (cause: NodeJS.ErrnoException) => {
    const inUse = cause.code === 'EADDRINUSE';
    reject(
      new GwError(
        inUse ? 'PORT_IN_USE' : 'PORT_UNUSABLE',
        inUse
          ? `Port ${port} of 127.0.0.1, for the service ${id}, is in use.`
          : `Port ${port} of 127.0.0.1, for the service ${id}, cannot be opened (${systemReason(cause)}).`,
        {
          tried: { address: LISTEN_HOST, port, action: 'listen' },
          remedy: `Name another port: --listen ${id}=PORT; without it, any free port is used.`,
          cause,
        },
      ),
    );
  });
  server.listen({ host: LISTEN_HOST, port }, () => {
    server.removeAllListeners('error');
    // A client that is reset before it is accepted is no fault of the port.
    server.on('error', () => {});
    resolve();
  });
  return promise;
}

function otherServices(detail: string): GwError {
  return new GwError('USAGE', sentence(detail), {
    remedy:
      'Name the services of the tunnel with --service. This token is used now and works once: let the tokens of the tunnel be rotated.',
  });
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
