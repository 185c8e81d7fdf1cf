import type { TunnelNotificationWire } from '../../../cloud/wire.ts';
import { GwError } from '../../../error/index.ts';
import { type Clock, systemClock } from '../../../lifecycle/index.ts';
import type { FaultName, Faults } from '../../faults.ts';
import { type CertificateAuthority, createCa } from '../certificates.ts';
import { CLOUD_HOST, createHttpsHandler, startListener } from '../listener.ts';
import { createLifetimes } from './lifetimes.ts';
import type { TunnelControl, TunnelView } from './model.ts';
import { createRegistry, type Tunnel } from './registry.ts';
import { createRelays } from './relays.ts';
import type { Side } from './rules.ts';
import { createUpgrades } from './upgrades.ts';

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

const DEFAULT_REGION = 'eu-central-1';
/** In notifications with the fault `cloud-tunnel-wrong-region`. */
const WRONG_REGION = 'xx-nowhere-1';
/** @source vendor (HINWEIS) */
const MAX_REQUEST_BYTES = 4 * 1024;
const MAX_SERVICES = 3;
const MAX_LIFETIME_MS = 720 * 60_000;
const SERVICE = /^[A-Za-z0-9:_-]{1,128}$/;

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
  const relays = createRelays({ clock, onViolation });
  const lifetimes = createLifetimes({ registry, relays, clock });
  const upgrades = createUpgrades({ registry, relays, faults, clock, now });

  function closeTunnel(tunnel: Tunnel): void {
    tunnel.closedBy = 'person';
    relays.close(tunnel, 'tunnel closed');
  }

  function viewOf(tunnel: Tunnel): TunnelView {
    const { tunnelId, serial, services, region, closedBy, openedAt } = tunnel;
    const relay = relays.of(tunnel);
    return {
      tunnelId,
      serial,
      services: [...services],
      region,
      status: closedBy === null ? 'OPEN' : 'CLOSED',
      closedBy,
      openedAt,
      leftMs: lifetimes.leftMs(tunnel),
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
      { onUpgrade: upgrades.upgrade, maxRequestBytes: MAX_REQUEST_BYTES },
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
      const endsMs = lifetimes.endsMs(lifetimeMs);
      const tunnel = registry.add({ serial, services: [...services], region, openedAt, endsMs });
      relays.prune((tunnelId) => registry.get(tunnelId) !== undefined);
      const sourceToken = registry.newToken(tunnel, 'source');
      try {
        const destinationToken = await notifyDestination(tunnel);
        lifetimes.arm();
        return { tunnel: viewOf(tunnel), sourceToken, destinationToken };
      } catch (error) {
        closeTunnel(tunnel);
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
      closeTunnel(tunnel);
      lifetimes.arm();
      return viewOf(tunnel);
    },
    list: () => registry.all().map(viewOf),
    handshakes: upgrades.handshakes,
    applyFault(name, on) {
      if (name === 'cloud-tunnel-silent') relays.setSilent(on);
      if (name === 'cloud-tunnel-clock-stopped') lifetimes.setStopped(on);
      if (name === 'cloud-tunnel-drops' && on) relays.cut();
    },
    async [Symbol.asyncDispose]() {
      lifetimes[Symbol.dispose]();
      upgrades[Symbol.dispose]();
      relays.cut();
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
