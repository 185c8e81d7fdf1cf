import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { GwError } from '../../error/index.ts';
import { type Clock, systemClock } from '../../lifecycle/index.ts';
import { CA_FILE } from '../cloud/certificates.ts';
import { readIfThere } from '../files.ts';
import { askCloud, type SimTarget } from './cloud-commands.ts';
import type {
  SimTunnel,
  SimTunnelBrowse,
  SimTunnelClose,
  SimTunnelList,
  SimTunnelOpen,
  SimTunnelPage,
  SimTunnelRotate,
} from './control.result.ts';

const POLL_MS = 200;

export interface SimTunnelOpenOptions {
  readonly services: readonly string[];
  readonly minutes: number;
  readonly serial?: string | undefined;
  readonly region?: string | undefined;
}

/** Opens a tunnel and notifies the device. All throw SIM_NOT_RUNNING, and USAGE when the simulator has no cloud. */
export async function simTunnelOpen(target: SimTarget, options: SimTunnelOpenOptions): Promise<SimTunnelOpen> {
  const { services, minutes, serial, region } = options;
  const opened = await askCloud<Omit<SimTunnelOpen, 'caFile'>>(target, {
    action: 'tunnel-open',
    services: [...services],
    lifetimeMs: minutes * 60_000,
    serial,
    region,
  });
  return { ...opened, caFile: join(opened.dir, CA_FILE) };
}

/** Without an id: the only open tunnel. Throws USAGE when there is none or more. */
export async function simTunnelRotate(
  target: SimTarget,
  { tunnelId, side }: { readonly tunnelId?: string | undefined; readonly side: 'source' | 'destination' | 'all' },
): Promise<SimTunnelRotate> {
  const id = tunnelId ?? (await onlyOpen(target)).tunnelId;
  const rotated = await askCloud<Omit<SimTunnelRotate, 'caFile'>>(target, {
    action: 'tunnel-rotate',
    tunnelId: id,
    side,
  });
  return { ...rotated, caFile: join(rotated.dir, CA_FILE) };
}

/** As `simTunnelRotate`. */
export async function simTunnelClose(
  target: SimTarget,
  { tunnelId }: { readonly tunnelId?: string | undefined },
): Promise<SimTunnelClose> {
  const id = tunnelId ?? (await onlyOpen(target)).tunnelId;
  return askCloud<SimTunnelClose>(target, { action: 'tunnel-close', tunnelId: id });
}

export function simTunnelList(target: SimTarget): Promise<SimTunnelList> {
  return askCloud<SimTunnelList>(target, { action: 'tunnel-list' });
}

async function onlyOpen(target: SimTarget): Promise<SimTunnel> {
  const open = (await simTunnelList(target)).tunnels.filter(({ status }) => status === 'OPEN');
  const [only] = open;
  if (only !== undefined && open.length === 1) return only;
  throw new GwError('USAGE', open.length === 0 ? 'No tunnel is open.' : `${open.length} tunnels are open.`, {
    remedy: open.length === 0 ? 'Open one: gw sim tunnel open' : 'Name one of `gw sim tunnel list`.',
  });
}

export interface SimTunnelBrowseOptions extends Omit<SimTunnelOpenOptions, 'services'> {
  /** null: a tunnel is opened, and closed at the end. */
  readonly tunnelId: string | null;
  /** By default the first one of the tunnel, or `web`. */
  readonly service?: string | undefined;
  /** Each begins with a slash. */
  readonly paths: readonly string[];
  /** Limit for the connection of the destination, and for each page. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onProgress?: (text: string) => void;
  readonly clock?: Clock;
}

/**
 * Plays the technician: connects the source side with a client of the simulator and requests pages through the tunnel. A
 * tunnel that was given gets a new token of the source. Throws INTERRUPTED as reason of the signal.
 */
export async function simTunnelBrowse(target: SimTarget, options: SimTunnelBrowseOptions): Promise<SimTunnelBrowse> {
  const { tunnelId, minutes, serial, region, paths, signal, onProgress = () => {} } = options;
  for (const path of paths) {
    if (/^\/[\x21-\x7e]{0,2000}$/.test(path)) continue;
    throw new GwError('USAGE', `'${path}' is not a path of a page: it begins with / and has no spaces.`);
  }
  if (tunnelId !== null) {
    const given = (await simTunnelList(target)).tunnels.find((tunnel) => tunnel.tunnelId === tunnelId);
    if (given !== undefined) assertService(given, options.service);
    const rotated = await simTunnelRotate(target, { tunnelId, side: 'source' });
    return browse({ ...rotated, opened: false }, options);
  }
  const services = [options.service ?? 'web'];
  const opened = await simTunnelOpen(target, { services, minutes, serial, region });
  const own = { dir: opened.dir };
  try {
    onProgress(`Tunnel ${opened.tunnel.tunnelId} is open`);
    signal.throwIfAborted();
    return await browse({ ...opened, opened: true }, options);
  } finally {
    // It may have reached the end of its lifetime, and the simulator may have ended.
    await simTunnelClose(own, { tunnelId: opened.tunnel.tunnelId }).catch(() => {});
  }
}

function assertService({ services }: SimTunnel, service: string | undefined): void {
  if (service === undefined || services.includes(service)) return;
  throw new GwError('USAGE', `The tunnel has no service '${service}'; it has ${services.join(', ')}.`);
}

/** The tunnel to browse through, and where it is. */
interface Browsed extends Omit<SimTunnelOpen, 'sourceToken' | 'connected'> {
  readonly sourceToken: string | null;
  readonly opened: boolean;
}

async function browse(browsed: Browsed, options: SimTunnelBrowseOptions): Promise<SimTunnelBrowse> {
  const { dir, tunnel, sourceToken, opened, host, port, caFile } = browsed;
  const { timeoutMs, signal, onProgress = () => {}, clock = systemClock } = options;
  const service = options.service ?? tunnel.services[0] ?? '';
  const about = { dir, tunnelId: tunnel.tunnelId, service, opened };
  onProgress('Waiting for the destination');
  const missing = await untilDestination(about, timeoutMs, signal, clock);
  if (missing !== null) return { ...about, problem: missing, pages: [] };
  const { connectSource } = await import('../cloud/tunnel/browse/source-client.ts');
  let source: Awaited<ReturnType<typeof connectSource>>;
  try {
    const caPem = (await readIfThere(caFile)) ?? '';
    source = await connectSource({ host, port, caPem, accessToken: sourceToken ?? '', timeoutMs });
  } catch (error) {
    return { ...about, problem: (error as Error).message, pages: [] };
  }
  try {
    const pages: SimTunnelPage[] = [];
    for (const path of options.paths) {
      signal.throwIfAborted();
      onProgress(`GET ${path}`);
      const began = clock.monotonicMs();
      const page = await fetchPage(source.open(service), path, timeoutMs);
      pages.push({ path, ...page, lines: [...page.lines], tookMs: clock.monotonicMs() - began });
    }
    return { ...about, problem: null, pages };
  } finally {
    source[Symbol.dispose]();
  }
}

/** Why there is no destination; null: it is connected. */
async function untilDestination(
  { dir, tunnelId }: { readonly dir: string; readonly tunnelId: string },
  timeoutMs: number,
  signal: AbortSignal,
  clock: Clock,
): Promise<string | null> {
  const endMs = clock.monotonicMs() + timeoutMs;
  for (;;) {
    const { tunnels, handshakes } = await simTunnelList({ dir });
    const found = tunnels.find((tunnel) => tunnel.tunnelId === tunnelId);
    if (found?.status !== 'OPEN') return 'the tunnel was closed before the destination connected';
    if (found.destination.connected) return null;
    if (clock.monotonicMs() >= endMs) {
      const last = handshakes.findLast(({ mode }) => mode === 'destination');
      const refused =
        last === undefined || last.status === 101 ? '' : `; its last handshake: ${last.status} ${last.reason}`;
      return `no destination connected within ${Math.round(timeoutMs / 1_000)} s${refused}`;
    }
    await clock.sleep(POLL_MS, signal);
  }
}

interface FetchedPage {
  /** null: no answer. */
  readonly status: number | null;
  /** null: the answer is complete. */
  readonly problem: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: number;
  readonly title: string | null;
  readonly lines: readonly string[];
}

const SHOWN_HEADERS = ['content-type', 'content-length', 'location', 'cache-control'];
const MAX_TEXT_BYTES = 256 * 1024;
const MAX_BODY_BYTES = 64 * 1024 * 1024;
const MAX_LINES = 5;
const MAX_LINE_CHARACTERS = 200;

/** One GET over a given connection; redirects are not followed. `path` begins with a slash. Never rejects. */
function fetchPage(connection: Duplex, path: string, timeoutMs: number): Promise<FetchedPage> {
  const { promise, resolve } = Promise.withResolvers<FetchedPage>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  let response: IncomingMessage | null = null;
  const sending = request({
    createConnection: () => connection,
    path,
    headers: { Host: 'localhost', Connection: 'close', 'User-Agent': 'gw-sim-tunnel-browse' },
  });
  const timer = setTimeout(() => sending.destroy(new Error(`no complete answer within ${timeoutMs} ms`)), timeoutMs);
  function end(problem: string | null): void {
    clearTimeout(timer);
    connection.destroy();
    const { statusCode = null, headers = {} } = response ?? {};
    const shown = SHOWN_HEADERS.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : []));
    const text = isText(headers['content-type']) ? Buffer.concat(chunks).toString('utf8') : '';
    resolve({
      status: statusCode,
      problem,
      headers: Object.fromEntries(shown),
      bytes,
      title: /<title[^>]*>([^<]*)</i.exec(text)?.[1]?.trim() ?? null,
      lines: firstLines(text),
    });
  }
  sending.on('error', (error) => end(error.message));
  sending.on('response', (answer) => {
    response = answer;
    answer.on('data', (chunk: Buffer) => {
      if (bytes < MAX_TEXT_BYTES) chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES) sending.destroy(new Error(`the body is longer than ${MAX_BODY_BYTES} bytes`));
    });
    answer.on('error', (error) => end(error.message));
    answer.on('end', () => end(null));
  });
  sending.end();
  return promise;
}

function isText(type: string | undefined): boolean {
  return /^(?:text\/|application\/(?:json|xml|javascript))/.test(type ?? '');
}

function firstLines(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(0, MAX_LINES)
    .map((line) => line.slice(0, MAX_LINE_CHARACTERS));
}
