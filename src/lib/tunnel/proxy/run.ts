import { connect, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { GwError } from '../../error/index.ts';
import { type Clock, createBackoff, type Log, onAbort, readBounded, silentLog } from '../../lifecycle/index.ts';
import { readSiteCa } from '../../net/path/index.ts';
import {
  openTunnelSocket,
  type ProxyLimits,
  type ProxyTokens,
  proxyLimits,
  type SocketEnd,
  secretsOf,
  serveSocket,
  type TunnelSocket,
  withoutTokens,
} from '../link/index.ts';
import { MAX_SERVICES, PROXY_REPORT_MS, type ProxyExit, type ProxySettings, TUNNEL_TARGET } from '../model.ts';
import type { ProxyEvent } from '../proxy.result.ts';
import { createEngine } from './engine.ts';
import type { ProxyCounts } from './target-connections.ts';

/** How long the network must be gone. Project decision: the specification says only 'disconnected from the network'. */
const NETWORK_LOST_MS = 10_000;
const CHECK_MS = 1_000;

/** What the machine reports about its interfaces. */
interface NetworkReadings {
  /** Addresses by the name of the interface. */
  interfaces(): Readonly<Record<string, readonly { readonly address: string }[] | undefined>>;
  /** Content of `/sys/class/net/NAME/operstate`; null where it cannot be read. */
  operState(name: string): Promise<string | null>;
}

const systemNetwork: NetworkReadings = {
  interfaces: () => networkInterfaces(),
  async operState(name) {
    // An interface name has no slash; anything else is not looked up.
    if (!/^[^/\s]{1,15}$/.test(name) || name === '.' || name === '..') return null;
    const read = await readBounded(`/sys/class/net/${name}/operstate`, 64).catch(() => null);
    return read?.kind === 'bytes' ? Buffer.from(read.bytes).toString().trim() : null;
  },
};

/** Operational states in which nothing can be sent. @source Linux, Documentation/networking/operstates */
const downStates: ReadonlySet<string> = new Set(['down', 'lowerlayerdown', 'notpresent']);

interface NetworkWatch extends Disposable {
  /** Watches the interface that has this address; null: none at the moment. */
  follow(localAddress: string | null): void;
}

/** Waits between attempts. Project decision. */
const RETRY_MS = { firstMs: 500, maxMs: 30_000 } as const;
/** Longest wait while no TCP connection can be made, so that 10 s of it are never one attempt only. */
const DIAL_RETRY_MAX_MS = 2_000;
/** A WebSocket that lived so long after SERVICE_IDS begins the waits anew. */
const STABLE_MS = 10_000;
/** So many close frames before SERVICE_IDS, one after the other, are an end and no fault. Project decision. */
const MAX_EARLY_CLOSES = 3;
/** 1 to 4,096 characters without control characters. @source vendor (HINWEIS) */
const ACCESS_TOKEN = /^[\x20-\x7e]{1,4096}$/;
/** @source vendor (HINWEIS) */
const CLIENT_TOKEN = /^[a-zA-Z0-9-]{32,128}$/;

export interface RunProxyOptions {
  readonly tokens: ProxyTokens;
  readonly clock: Clock;
  /** Ends it in order. With a GwError INTERNAL as its reason: after an error of the process. */
  readonly signal: AbortSignal;
  readonly onEvent: (event: ProxyEvent) => void;
  /** In [0, 1), for the waits between attempts. */
  readonly random: () => number;
  /** Begins a TCP connection to the target; for tests. By default the constant target, which nothing else can change. */
  readonly connect?: () => Socket;
  readonly log?: Log;
  readonly network?: NetworkReadings;
  readonly limits?: ProxyLimits;
}

export interface ProxyResult {
  readonly exit: ProxyExit;
  readonly detail: string;
}

/**
 * The destination of one session: connects to the service and serves the technician's connections to the read-only
 * socket, until one of the ends. Never rejects; the last event is always `ended`.
 */
export async function runProxy(settings: ProxySettings, options: RunProxyOptions): Promise<ProxyResult> {
  const counts: ProxyCounts = { open: 0, connections: 0, bytesIn: 0, bytesOut: 0 };
  const secrets = secretsOf(options.tokens);
  const emit = (event: ProxyEvent) =>
    options.onEvent('detail' in event ? { ...event, detail: withoutTokens(event.detail, secrets) } : event);
  const emitCounts = () => emit({ event: 'counts', ...counts });
  let result: ProxyResult;
  try {
    using _counting = options.clock.every(PROXY_REPORT_MS, emitCounts);
    result = await run(settings, { ...options, counts, emit, secrets });
  } catch (error) {
    // The class only: the text of an unexpected error may contain anything.
    result = { exit: 'internal', detail: `internal error (${error instanceof Error ? error.name : typeof error})` };
    options.log?.error({ error: withoutTokens(String((error as Error)?.stack ?? error), secrets) }, 'internal error');
  }
  emitCounts();
  const { exit, detail } = { ...result, detail: withoutTokens(result.detail, secrets) };
  emit({ event: 'ended', exit, detail });
  return { exit, detail };
}

/**
 * Watches the interface that the tunnel uses. Lost: for 10 s without interruption no interface has the address, or the
 * one that has it is down. An unknown state (loopback, systems without /sys) is not down.
 */
function watchNetwork({
  clock,
  readings,
  onLost,
}: {
  readonly clock: Clock;
  readonly readings: NetworkReadings;
  readonly onLost: (detail: string) => void;
}): NetworkWatch {
  let address: string | null = null;
  let goneSinceMs: number | null = null;
  let isChecking = false;
  let isOver = false;

  const faultOf = async (local: string): Promise<string | null> => {
    const found = Object.entries(readings.interfaces()).find(([, entries]) =>
      entries?.some((entry) => entry.address === local),
    );
    if (found === undefined) return `no interface has the address ${local} of the tunnel any more`;
    const state = await readings.operState(found[0]);
    return state !== null && downStates.has(state) ? `the interface ${found[0]} of the tunnel is down` : null;
  };

  const check = async () => {
    const local = address;
    if (local === null || isChecking || isOver) return;
    isChecking = true;
    try {
      const fault = await faultOf(local);
      if (isOver || local !== address) return;
      if (fault === null) {
        goneSinceMs = null;
        return;
      }
      goneSinceMs ??= clock.monotonicMs();
      if (clock.monotonicMs() - goneSinceMs < NETWORK_LOST_MS) return;
      isOver = true;
      onLost(`${fault}, for ${NETWORK_LOST_MS / 1_000} s`);
    } finally {
      isChecking = false;
    }
  };
  const timer = clock.every(CHECK_MS, () => void check());

  return {
    follow(localAddress) {
      // The zone of a link-local address is no part of it in the list of interfaces.
      const next = localAddress === null ? null : localAddress.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '');
      if (next !== address) goneSinceMs = null;
      address = next;
    },
    [Symbol.dispose]() {
      isOver = true;
      timer[Symbol.dispose]();
    },
  };
}

interface RunTools extends RunProxyOptions {
  readonly counts: ProxyCounts;
  readonly secrets: readonly string[];
  readonly emit: (event: ProxyEvent) => void;
}

async function run(settings: ProxySettings, tools: RunTools): Promise<ProxyResult> {
  const { clock, tokens } = tools;
  const ending = new AbortController();
  let ended: ProxyResult | null = null;
  const end = (exit: ProxyExit, detail: string) => {
    ended ??= { exit, detail };
    ending.abort(new GwError('INTERRUPTED', detail));
  };
  // Armed before anything that may take time.
  using _deadline = clock.after(settings.maxS * 1_000, () => end('own-clock', `${settings.maxS} s are over`));
  using _stopped = onAbort(tools.signal, () => {
    const { reason } = tools.signal;
    if (reason instanceof GwError && reason.code === 'INTERNAL') end('internal', reason.message);
    else end('terminated', 'ended by the gateway');
  });
  const unusable = settingsFault(settings, tokens);
  if (unusable !== null) return { exit: 'configuration', detail: unusable };
  let trusted: string | undefined;
  try {
    trusted = (await readSiteCa(settings.caFile ?? undefined, 'cloud.caFile'))?.pem;
  } catch (error) {
    if (error instanceof GwError) return { exit: 'configuration', detail: error.message };
    throw error;
  }

  using dialing = dialTimer(clock, (detail) => end('network-lost', detail));
  using network = watchNetwork({
    clock,
    readings: tools.network ?? systemNetwork,
    onLost: (detail) => end('network-lost', detail),
  });
  const backoff = createBackoff(RETRY_MS, tools);
  let earlyCloses = 0;
  while (ended === null) {
    dialing.begin();
    try {
      const attempt = await openTunnelSocket({
        mode: 'destination',
        settings,
        trusted: trusted ?? 'system',
        tokens,
        clock,
        signal: ending.signal,
        onTcp() {
          dialing.succeeded();
          // The network stands, perhaps with another address than that of the connection before.
          network.follow(null);
        },
      });
      if (attempt.kind === 'refused') return { exit: 'refused', detail: attempt.detail };
      if (attempt.kind === 'failed') {
        dialing.failed(attempt.detail);
        tools.emit({ event: 'lost', detail: attempt.detail });
      } else {
        network.follow(attempt.socket.localAddress);
        const openedMs = clock.monotonicMs();
        const over = await serveOne(attempt.socket, settings, { ...tools, signal: ending.signal });
        if (over.kind === 'stopped') break;
        if (over.kind === 'configuration') return { exit: 'configuration', detail: over.detail };
        if (over.kind === 'closed' && over.isReady) return { exit: 'closed', detail: over.detail };
        earlyCloses = over.kind === 'closed' ? earlyCloses + 1 : 0;
        if (earlyCloses === MAX_EARLY_CLOSES)
          return { exit: 'closed', detail: `${over.detail}, ${earlyCloses} times before SERVICE_IDS` };
        tools.emit({ event: 'lost', detail: over.detail });
        if (over.isReady && clock.monotonicMs() - openedMs >= STABLE_MS) backoff.reset();
      }
      const waitMs = backoff.nextMs();
      await clock.sleep(dialing.isFailing() ? Math.min(waitMs, DIAL_RETRY_MAX_MS) : waitMs, ending.signal);
    } catch (error) {
      if (!ending.signal.aborted) throw error;
    }
  }
  // Set by the listener that ended the loop.
  return ended ?? { exit: 'internal', detail: 'ended without a reason' };
}

async function serveOne(socket: TunnelSocket, settings: ProxySettings, tools: RunTools): Promise<SocketEnd> {
  const { channelId, localAddress } = socket;
  tools.emit({ event: 'connected', channelId, localAddress });
  const { log = silentLog, clock, counts, limits = proxyLimits } = tools;
  return await serveSocket(socket, {
    createEngine: (wire) =>
      createEngine({
        services: settings.services,
        wire,
        connect: tools.connect ?? connectTarget,
        limits,
        clock,
        counts,
        onNote: (text) => log.warn({}, withoutTokens(text, tools.secrets)),
      }),
    limits,
    clock,
    secrets: tools.secrets,
    signal: tools.signal,
    onServices: () => tools.emit({ event: 'services', services: settings.services }),
  });
}

/** Why the proxy cannot work with these settings; null: it can. Never contains a token. */
function settingsFault({ services }: ProxySettings, { access, client }: ProxyTokens): string | null {
  if (services.length === 0 || services.length > MAX_SERVICES) return `one to ${MAX_SERVICES} services are needed`;
  if (new Set(services).size !== services.length) return 'a service is named twice';
  if (!ACCESS_TOKEN.test(access)) return 'the access token is missing or has characters that a header cannot have';
  if (client !== null && !CLIENT_TOKEN.test(client)) return 'the client token is not 32 to 128 letters, digits and -';
  return null;
}

/**
 * Ends the session when no TCP connection could be made for 10 s: from the first attempt that fails on. An answer of
 * whatever kind, also a refused certificate, shows that the network stands.
 */
function dialTimer(clock: Clock, onLost: (detail: string) => void) {
  let timer: Disposable | null = null;
  let last = '';
  const stop = () => {
    timer?.[Symbol.dispose]();
    timer = null;
  };
  return {
    begin() {
      timer ??= clock.after(NETWORK_LOST_MS, () =>
        onLost(`no connection for ${NETWORK_LOST_MS / 1_000} s${last === '' ? '' : `: ${last}`}`),
      );
    },
    succeeded() {
      stop();
      last = '';
    },
    failed(detail: string) {
      last = detail;
    },
    /** Whether the last attempt made no TCP connection. */
    isFailing: () => timer !== null,
    [Symbol.dispose]: stop,
  };
}

/** Begins a TCP connection to the read-only socket: the only place that a tunnel leads to. */
export function connectTarget(): Socket {
  return connect(TUNNEL_TARGET);
}
