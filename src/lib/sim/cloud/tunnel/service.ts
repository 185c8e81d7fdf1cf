import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { TunnelNotificationWire } from '../../../cloud/wire.ts';
import { GwError } from '../../../error/index.ts';
import { type Clock, systemClock } from '../../../lifecycle/index.ts';
import type { FaultName, Faults } from '../../faults.ts';
import { type CertificateAuthority, createCa } from '../certificates.ts';
import { CLOUD_HOST, createHttpsHandler, startListener } from '../listener.ts';
import { answerPlain, type ReadHandshake, readHandshake } from './handshake.ts';
import type { Handshake, TunnelControl, TunnelView } from './model.ts';
import { type ClosedBy, createRegistry, createServiceTime, type Tunnel } from './registry.ts';
import { createRelay, type Relay } from './relay.ts';
import { MAX_MESSAGE_BYTES, type Side } from './rules.ts';

export interface TunnelServiceOptions {
  /** CA of the server certificate; a new one by default. */
  readonly ca?: CertificateAuthority;
  /** CA of an inspecting proxy, for the fault `cloud-inspected`. */
  readonly inspector?: CertificateAuthority;
  readonly faults?: Pick<Faults, 'is'>;
  readonly clock?: Clock;
  /** Milliseconds since 1970 by the clock of the cloud, for records. */
  readonly now?: () => number;
  /** The device that a tunnel without a serial number is for. */
  readonly serial?: string;
  readonly region?: string;
  /** Publishes a notification to a device; an error reaches the caller of `open` or `rotate`. */
  readonly notify?: (serial: string, notification: TunnelNotificationWire) => Promise<void>;
  /** A client was disconnected for a message that it must not send. */
  readonly onViolation?: (side: Side, reason: string) => void;
}

export interface TunnelService extends AsyncDisposable, TunnelControl {
  /** Certificate of the CA. */
  readonly caPem: string;
  /** Must be called on every change of a fault. */
  applyFault(name: FaultName, on: boolean): void;
}

interface Refusal {
  readonly status: number;
  readonly body: string;
  readonly tunnel?: Tunnel | null;
}

interface Accepted {
  readonly tunnel: Tunnel;
  readonly side: Side;
  readonly subprotocol: string;
  use(): void;
}

const DEFAULT_REGION = 'eu-central-1';
/** In notifications with the fault `cloud-tunnel-wrong-region`. */
const WRONG_REGION = 'xx-nowhere-1';
/** @source vendor (HINWEIS) */
const MAX_REQUEST_BYTES = 4 * 1024;
const MAX_SERVICES = 3;
const MAX_LIFETIME_MS = 720 * 60_000;
const SERVICE = /^[A-Za-z0-9:_-]{1,128}$/;
const MAX_HANDSHAKES_PER_S = 20;
const MAX_KEPT = 1_000;
/** Of the fault `cloud-tunnel-drops`. */
const DROP_AFTER_MS = 2_000;

/** Answers of faults, the first one counts. */
const refusals = [
  ['cloud-tunnel-refused', 403, 'Forbidden'],
  ['cloud-tunnel-not-found', 404, 'Not found'],
  ['cloud-tunnel-rate-limited', 429, 'Too many requests'],
  ['cloud-tunnel-error', 503, 'Service unavailable'],
] as const satisfies readonly (readonly [FaultName, number, string])[];

/**
 * The tunnel service of the simulated cloud on 127.0.0.1, over TLS, with both modes of the protocol of a common vendor
 * (HINWEIS). It shares no code with the client. Throws PORT_IN_USE.
 */
export async function startTunnelService(options: TunnelServiceOptions = {}): Promise<TunnelService> {
  const { clock = systemClock, faults = { is: () => false }, serial: ownSerial = 'SIM-0001' } = options;
  const { now = () => clock.wall().getTime(), region: ownRegion = DEFAULT_REGION, notify = async () => {} } = options;
  const { onViolation = () => {} } = options;
  const ca = options.ca ?? (await createCa());
  const registry = createRegistry();
  const time = createServiceTime(clock);
  const relays = new Map<string, Relay>();
  const log: Handshake[] = [];
  /** Times of the handshakes of the last second, by access token. */
  const recent = new Map<string, number[]>();
  const timers = new Set<Disposable>();
  let lifetimeTimer: Disposable | null = null;
  function relayOf(tunnel: Tunnel): Relay {
    const known = relays.get(tunnel.tunnelId);
    if (known !== undefined) return known;
    const relay = createRelay({ services: tunnel.services, clock, onViolation });
    relays.set(tunnel.tunnelId, relay);
    return relay;
  }

  function after(ms: number, fn: () => void): void {
    const timer = clock.after(ms, () => {
      timers.delete(timer);
      fn();
    });
    timers.add(timer);
  }

  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => {});
    if (faults.is('cloud-tunnel-silent')) return;
    const read = readHandshake(request);
    const judged = judge(read);
    if ('status' in judged) {
      note(read, judged.tunnel ?? null, judged.status, judged.body);
      answerPlain(socket, judged.status, judged.body);
      return;
    }
    const { tunnel, side, subprotocol, use } = judged;
    const channelId = randomUUID();
    // Was judged above; the library would refuse a list of names with duplicates.
    request.headers['sec-websocket-protocol'] = subprotocol;
    // One per handshake, for its own headers.
    const server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: MAX_MESSAGE_BYTES,
    });
    server.on('headers', (lines) => void lines.push(`channel-id: ${channelId}`));
    server.handleUpgrade(request, socket, head, (ws) => {
      use();
      note(read, tunnel, 101, '');
      relayOf(tunnel).connect(side, ws, channelId);
      if (!faults.is('cloud-tunnel-drops')) return;
      after(DROP_AFTER_MS, () => {
        if (faults.is('cloud-tunnel-drops')) ws.terminate();
      });
    });
  }

  /** The answer that refuses a handshake, or the tunnel that it may connect to. */
  function judge(read: ReadHandshake): Refusal | Accepted {
    const fault = refusals.find(([name]) => faults.is(name));
    if (fault !== undefined) return { status: fault[1], body: fault[2] };
    if (read.kind === 'invalid') return { status: 400, body: read.reason };
    if (isTooOften(read.accessToken)) return { status: 429, body: 'Too many requests' };
    const check = registry.check(read.accessToken, read.side, read.clientToken);
    if ('reason' in check) return { status: 400, body: check.reason, tunnel: check.tunnel };
    return { ...check, side: read.side, subprotocol: read.subprotocol };
  }

  function note(read: ReadHandshake, tunnel: Tunnel | null, status: number, reason: string): void {
    const hasClientToken = read.kind === 'valid' && read.clientToken !== null;
    const tunnelId = tunnel?.tunnelId ?? null;
    log.push({ at: new Date(now()).toISOString(), mode: read.side, tunnelId, status, reason, hasClientToken });
    if (log.length > MAX_KEPT) log.shift();
  }

  function isTooOften(accessToken: string): boolean {
    const nowMs = clock.monotonicMs();
    const times = (recent.get(accessToken) ?? []).filter((ms) => nowMs - ms < 1_000);
    times.push(nowMs);
    recent.delete(accessToken);
    recent.set(accessToken, times.slice(-MAX_HANDSHAKES_PER_S - 1));
    const [oldest] = recent.keys();
    if (recent.size > MAX_KEPT && oldest !== undefined) recent.delete(oldest);
    return times.length > MAX_HANDSHAKES_PER_S;
  }

  /** One timer, for the tunnel that ends next. */
  function arm(): void {
    lifetimeTimer?.[Symbol.dispose]();
    lifetimeTimer = null;
    if (time.isStopped()) return;
    const open = registry.all().filter(({ closedBy }) => closedBy === null);
    for (const tunnel of open) if (tunnel.endsMs <= time.ms()) closeTunnel(tunnel, 'lifetime');
    const ends = open.filter(({ closedBy }) => closedBy === null).map(({ endsMs }) => endsMs);
    if (ends.length > 0) lifetimeTimer = clock.after(Math.min(...ends) - time.ms(), arm);
  }

  function closeTunnel(tunnel: Tunnel, by: ClosedBy): void {
    tunnel.closedBy = by;
    relays.get(tunnel.tunnelId)?.close(by === 'person' ? 'tunnel closed' : 'tunnel lifetime expired');
  }

  function viewOf(tunnel: Tunnel): TunnelView {
    const { tunnelId, serial, services, region, closedBy, openedAt, endsMs } = tunnel;
    const isOpen = closedBy === null;
    const relay = relayOf(tunnel);
    return {
      tunnelId,
      serial,
      services: [...services],
      region,
      status: isOpen ? 'OPEN' : 'CLOSED',
      closedBy,
      openedAt,
      leftMs: isOpen ? Math.max(0, endsMs - time.ms()) : 0,
      source: relay.view('source'),
      destination: relay.view('destination'),
    };
  }

  function find(tunnelId: string): Tunnel {
    const tunnel = registry.get(tunnelId);
    if (tunnel !== undefined) return tunnel;
    throw new GwError('USAGE', `There is no tunnel '${tunnelId}'.`, { remedy: 'List them with `gw sim tunnel list`.' });
  }

  function findOpen(tunnelId: string): Tunnel {
    const tunnel = find(tunnelId);
    if (tunnel.closedBy === null) return tunnel;
    throw new GwError('USAGE', `The tunnel ${tunnelId} is closed.`, { remedy: 'Open another one: gw sim tunnel open' });
  }

  /** A new token of the destination, in a notification. */
  async function notifyDestination(tunnel: Tunnel): Promise<string> {
    const clientAccessToken = registry.newToken(tunnel, 'destination');
    const region = faults.is('cloud-tunnel-wrong-region') ? WRONG_REGION : tunnel.region;
    const services = [...tunnel.services];
    await notify(tunnel.serial, { clientAccessToken, clientMode: 'destination', region, services });
    return clientAccessToken;
  }

  const handlerOf = async (signer: CertificateAuthority) =>
    createHttpsHandler(
      signer,
      (request, response) => {
        request.resume();
        const body = 'Not a WebSocket handshake';
        response.writeHead(400, { 'Content-Type': 'text/plain', 'Content-Length': body.length, Connection: 'close' });
        response.end(body);
      },
      {},
      { onUpgrade: upgrade, maxRequestBytes: MAX_REQUEST_BYTES },
    );
  const handler = await handlerOf(ca);
  const inspected = options.inspector === undefined ? handler : await handlerOf(options.inspector);
  const listener = await startListener(() =>
    faults.is('cloud-silent') ? undefined : faults.is('cloud-inspected') ? inspected : handler,
  );

  return {
    caPem: ca.caPem,
    place: { host: CLOUD_HOST, port: listener.port },
    async open({ services, lifetimeMs, serial = ownSerial, region = ownRegion }) {
      assertServices(services);
      if (!(lifetimeMs > 0 && lifetimeMs <= MAX_LIFETIME_MS)) {
        throw new GwError('USAGE', 'A tunnel is open for more than 0 and at most 720 minutes.');
      }
      const openedAt = new Date(now()).toISOString();
      const endsMs = time.ms() + lifetimeMs;
      const tunnel = registry.add({ serial, services: [...services], region, openedAt, endsMs });
      for (const tunnelId of relays.keys()) if (registry.get(tunnelId) === undefined) relays.delete(tunnelId);
      const sourceToken = registry.newToken(tunnel, 'source');
      try {
        const destinationToken = await notifyDestination(tunnel);
        arm();
        return { tunnel: viewOf(tunnel), sourceToken, destinationToken };
      } catch (error) {
        closeTunnel(tunnel, 'person');
        throw error;
      }
    },
    async rotate(tunnelId, sides) {
      const tunnel = findOpen(tunnelId);
      const sourceToken = sides === 'destination' ? null : registry.newToken(tunnel, 'source');
      const destinationToken = sides === 'source' ? null : await notifyDestination(tunnel);
      return { tunnel: viewOf(tunnel), sourceToken, destinationToken };
    },
    close(tunnelId) {
      const tunnel = findOpen(tunnelId);
      closeTunnel(tunnel, 'person');
      arm();
      return viewOf(tunnel);
    },
    list: () => registry.all().map(viewOf),
    handshakes: () => [...log],
    applyFault(name, on) {
      if (name === 'cloud-tunnel-silent') for (const relay of relays.values()) relay.setSilent(on);
      if (name === 'cloud-tunnel-clock-stopped') {
        time.setStopped(on);
        arm();
      }
      if (name === 'cloud-tunnel-drops' && on) {
        for (const relay of relays.values()) relay.cut();
      }
    },
    async [Symbol.asyncDispose]() {
      lifetimeTimer?.[Symbol.dispose]();
      for (const timer of timers) timer[Symbol.dispose]();
      for (const relay of relays.values()) relay.cut();
      await listener[Symbol.asyncDispose]();
    },
  };
}

function assertServices(services: readonly string[]): void {
  const isValid = services.length >= 1 && services.length <= MAX_SERVICES && services.every((id) => SERVICE.test(id));
  if (isValid && new Set(services).size === services.length) return;
  throw new GwError('USAGE', 'A tunnel has one to three different services of letters, digits, ":", "_" or "-".', {
    remedy: 'For example: gw sim tunnel open --service web',
  });
}
