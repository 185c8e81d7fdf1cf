import { randomUUID } from 'node:crypto';
import { GwError } from '../../error/index.ts';
import { quote } from '../../json/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import { formatEndpoint } from '../../net/index.ts';
import { readSiteCa } from '../../net/path/index.ts';
import { regionOfHost, type Site } from '../../site/index.ts';
import { MAX_SERVICES, runSource, type SourceEvent, type SourceListener } from '../../tunnel/index.ts';
import { tryPort } from '../free-port.ts';
import type { CheckContext } from '../toolkit.ts';
import type { TunnelConnectEvent } from './tunnel.result.ts';

/** @source vendor (HINWEIS) */
const SERVICE = /^[A-Za-z0-9:_-]{1,128}$/;
/** @source vendor (HINWEIS) */
const ACCESS_TOKEN = /^[\x21-\x7e]{1,4096}$/;

interface TunnelPlace {
  readonly host: string;
  readonly port: number;
  readonly subprotocol: string;
  /** Path of a PEM file; null: the CA certificates of Node and the operating system. */
  readonly caFile: string | null;
}

interface PlaceOptions {
  /** Instead of the site file. */
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly subprotocol?: string | undefined;
  readonly caFile?: string | undefined;
}

type Region = Extract<TunnelConnectEvent, { event: 'ready' }>['region'];

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
  const ca = await readSiteCa(place.caFile ?? undefined, options.caFile === undefined ? 'cloud.caFile' : '--ca-file');
  // Before the token is used, which works once.
  for (const { id, port } of services) await assertFree(id, port);
  const access = checkedToken(await options.readToken());

  const now = () => clock.wall().toISOString();
  let connected: Extract<SourceEvent, { event: 'connected' }> | undefined;
  let isReady = false;
  const settings = { ...place, services, caPem: ca?.pem ?? null };
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

/** Where the tunnel service is: by the options or the site file, never by a region. Throws USAGE. */
export function placeOfTunnel(site: Site | null, options: PlaceOptions): TunnelPlace {
  const caFile = options.caFile ?? site?.cloud?.caFile ?? null;
  if (options.host !== undefined) {
    const { host, port = 443, subprotocol = 'securetunneling-3.0' } = options;
    return { host, port, subprotocol, caFile };
  }
  const tunnel = site?.cloud?.tunnel;
  if (tunnel === undefined) {
    throw new GwError('USAGE', 'The site file names no tunnel service (cloud.tunnel).', {
      remedy: 'Add cloud.tunnel to the site file, or name the service with --tunnel-host HOST.',
    });
  }
  return { host: tunnel.host, port: tunnel.port, subprotocol: tunnel.subprotocol, caFile };
}

/**
 * Compares the asked region with that of the site file, and with the one in the host name. Throws USAGE where they differ:
 * then the token belongs to another place, or the host does.
 */
export function compareRegions(site: Site | null, asked: string | undefined, host: string): Region {
  const configured = site?.cloud?.region;
  const differs = (a: string, b: string) =>
    new GwError('USAGE', `Other region: ${a}, but ${b}.`, {
      remedy:
        'Compare the region in which the tunnel was opened with cloud.region and cloud.tunnel.host of the site file.',
    });
  if (asked !== undefined && configured !== undefined && asked !== configured) {
    throw differs(`--region is ${quote(asked)}`, `cloud.region of the site file is ${quote(configured)}`);
  }
  const expected = asked ?? configured ?? null;
  const named = regionOfHost(host);
  if (expected !== null && named.kind === 'named' && named.region !== expected) {
    throw differs(`the host ${host} is in ${named.region}`, `the expected region is ${quote(expected)}`);
  }
  const notChecked = (detail: string): Region => ({ expected, status: 'not-checked', detail });
  if (expected === null) return notChecked('no region to compare with');
  if (named.kind === 'address') return notChecked(`${host} is an address or this machine`);
  if (named.kind === 'none') return notChecked(`${host} has no region in its name`);
  if (named.isProviders) return { expected, status: 'ok', detail: `${host} is in ${named.region}` };
  return notChecked(`${host} has ${named.region} in a name that its owner chose, which proves nothing`);
}

/** Services with their local ports from `--service` and `--listen SERVICE=PORT`. Throws USAGE. */
export function servicesOf(services: readonly string[], listen: readonly string[]): { id: string; port: number }[] {
  const usage = (message: string, remedy?: string) => new GwError('USAGE', message, { remedy });
  if (services.length === 0 || services.length > MAX_SERVICES) {
    throw usage(`One to ${MAX_SERVICES} services are needed.`, 'Name those of the tunnel: --service web.');
  }
  const ports = new Map<string, number>();
  for (const id of services) {
    if (!SERVICE.test(id)) throw usage(`${quote(id)} is no name of a service: letters, digits, :, _ and -.`);
    if (ports.has(id)) throw usage(`The service ${id} is named twice.`);
    ports.set(id, 0);
  }
  const taken = new Set<number>();
  for (const text of listen) {
    const [, id = '', digits = ''] = /^([^=]*)=(\d{1,5})$/.exec(text) ?? [];
    const port = Number(digits);
    if (id === '' || port < 1 || port > 65_535) {
      throw usage(
        `--listen ${quote(text)} is not SERVICE=PORT with a port from 1 to 65535.`,
        'Example: --listen web=8080.',
      );
    }
    if (!ports.has(id)) throw usage(`--listen names the service ${quote(id)}, which --service does not.`);
    if (ports.get(id) !== 0) throw usage(`--listen names the service ${id} twice.`);
    if (taken.has(port)) throw usage(`--listen names the port ${port} twice.`);
    taken.add(port);
    ports.set(id, port);
  }
  return [...ports].map(([id, port]) => ({ id, port }));
}

/** The token without blanks around it. Throws USAGE; no text repeats it. */
export function checkedToken(text: string): string {
  const token = text.trim();
  if (ACCESS_TOKEN.test(token)) return token;
  throw new GwError(
    'USAGE',
    token === '' ? 'No access token was given.' : 'The access token has characters that a token cannot have.',
    { remedy: 'Copy the source access token of the opened tunnel as it is; it is one line without blanks.' },
  );
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
