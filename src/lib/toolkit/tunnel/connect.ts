import { randomUUID } from 'node:crypto';
import { GwError } from '../../error/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import { formatEndpoint } from '../../net/index.ts';
import { readSiteCa } from '../../net/path/index.ts';
import type { Site } from '../../site/index.ts';
import { runSource, type SourceEvent, type SourceListener } from '../../tunnel/index.ts';
import { tryPort } from '../free-port.ts';
import type { CheckContext } from '../toolkit.ts';
import type { TunnelConnectEvent } from './connect.result.ts';
import { checkedToken, compareRegions, type PlaceOptions, placeOfTunnel, servicesOf } from './connect-options.ts';

export interface TunnelConnectOptions extends PlaceOptions {
  readonly services: readonly string[];
  /** `SERVICE=PORT`; a service without one gets any free port. */
  readonly listen: readonly string[];
  /** Region in which the tunnel was opened. */
  readonly region?: string | undefined;
  /** Called last, when nothing else is wrong: a token works once. */
  readonly readToken: () => Promise<string>;
}

export interface TunnelConnectTools {
  /** null: no site file was read. */
  readonly site: Site | null;
  readonly clock: Clock;
}

/**
 * The technician's side of a tunnel: ports on 127.0.0.1 through which programs of this machine reach the robot's read-only
 * socket. Runs until the signal is aborted or the service closes the tunnel, which are its two normal ends. Throws USAGE,
 * SITE_FILE_INVALID, PORT_IN_USE, PORT_UNUSABLE, TUNNEL_REFUSED, TUNNEL_NOT_REACHABLE.
 */
export async function connectTunnel(
  { site, clock }: TunnelConnectTools,
  options: TunnelConnectOptions,
  { signal, onProgress }: CheckContext,
  onEvent: (event: TunnelConnectEvent) => void,
): Promise<TunnelConnectEvent> {
  const services = servicesOf(options.services, options.listen);
  const place = placeOfTunnel(site, options);
  const region = compareRegions(site, options.region, place.host);
  const caPem = await readSiteCa(
    place.caFile ?? undefined,
    options.caFile === undefined ? 'cloud.caFile' : '--ca-file',
  );
  // Before the token is used, which works once.
  for (const { id, port } of services) await assertFree(id, port);
  const access = checkedToken(await options.readToken());

  const now = () => clock.wall().toISOString();
  let connected: Extract<SourceEvent, { event: 'connected' }> | undefined;
  let isReady = false;
  const settings = { ...place, services, caPem };
  onProgress(`connecting to ${formatEndpoint(place)}`);
  const end = await runSource({
    settings,
    tokens: { access, client: randomUUID() },
    clock,
    signal,
    onEvent(event) {
      switch (event.event) {
        case 'connected':
          if (isReady) onEvent({ event: 'reconnected', at: now(), channelId: event.channelId });
          connected = event;
          return;
        case 'listening':
          isReady = true;
          onEvent({
            event: 'ready',
            at: now(),
            host: place.host,
            port: place.port,
            channelId: connected?.channelId ?? null,
            services: [...(connected?.services ?? [])],
            listeners: event.listeners.map(withUrl),
            region,
            robotSide: 'not-checked',
          });
          return;
        case 'lost':
          onEvent({ ...event, at: now(), wasReady: isReady });
          return;
        default:
          onEvent({ ...event, at: now() });
      }
    },
  });
  return { event: 'ended', at: now(), ...end };
}

function withUrl({ service, host, port }: SourceListener) {
  return { service, host, port, url: `http://${host}:${port}/` };
}

/** Another process may take the port before it is opened; then the token is used, and the error says which port. */
async function assertFree(id: string, port: number): Promise<void> {
  if (port === 0 || (await tryPort('127.0.0.1', port)) !== undefined) return;
  throw new GwError('PORT_IN_USE', `Port ${port} of 127.0.0.1, for the service ${id}, cannot be opened.`, {
    tried: { address: '127.0.0.1', port, action: 'listen' },
    remedy: `Name another port: --listen ${id}=PORT; without it, any free port is used. The token was not used.`,
  });
}
