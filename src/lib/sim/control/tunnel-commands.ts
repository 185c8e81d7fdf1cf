import { type IncomingMessage, request } from 'node:http';
import type { Duplex } from 'node:stream';
import { GwError } from '../../error/index.ts';
import { type Clock, systemClock } from '../../lifecycle/index.ts';
import { readIfThere } from '../files.ts';
import { askCloud, type SimTarget } from './cloud-commands.ts';
import type { SimTunnel, SimTunnelBrowse, SimTunnelOpen, SimTunnelPage } from './control.result.ts';

const POLL_MS = 200;

export interface SimTunnelBrowseOptions {
  /** Lifetime of an opened tunnel. */
  readonly lifetimeMs: number;
  readonly serial?: string | undefined;
  readonly region?: string | undefined;
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
  const { tunnelId, lifetimeMs, serial, region, paths, signal, onProgress = () => {} } = options;
  for (const path of paths) {
    if (/^\/[\x21-\x7e]{0,2000}$/.test(path)) continue;
    throw new GwError('USAGE', `'${path}' is not a path of a page: it begins with / and has no spaces.`);
  }
  if (tunnelId !== null) {
    const { tunnels } = await askCloud(target, { action: 'tunnel-list' });
    const given = tunnels.find((tunnel) => tunnel.tunnelId === tunnelId);
    if (given !== undefined) assertService(given, options.service);
    const rotated = await askCloud(target, { action: 'tunnel-rotate', tunnelId, side: 'source' });
    return browse({ ...rotated, opened: false }, options);
  }
  const services = [options.service ?? 'web'];
  const opened = await askCloud(target, { action: 'tunnel-open', services, lifetimeMs, serial, region });
  const own = { dir: opened.dir };
  try {
    onProgress(`Tunnel ${opened.tunnel.tunnelId} is open`);
    signal.throwIfAborted();
    return await browse({ ...opened, opened: true }, options);
  } finally {
    // It may have reached the end of its lifetime, and the simulator may have ended.
    await askCloud(own, { action: 'tunnel-close', tunnelId: opened.tunnel.tunnelId }).catch(() => {});
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
    source = await connectSource({ host, port, caPem, accessToken: sourceToken ?? '', timeoutMs, clock });
  } catch (error) {
    return { ...about, problem: (error as Error).message, pages: [] };
  }
  try {
    const pages: SimTunnelPage[] = [];
    for (const path of options.paths) {
      signal.throwIfAborted();
      onProgress(`GET ${path}`);
      const began = clock.monotonicMs();
      const page = await fetchPage(source.open(service), path, timeoutMs, clock);
      pages.push({ path, ...page, tookMs: clock.monotonicMs() - began });
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
    const { tunnels, handshakes } = await askCloud({ dir }, { action: 'tunnel-list' });
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

type FetchedPage = Omit<SimTunnelPage, 'path' | 'tookMs'>;

const SHOWN_HEADERS = ['content-type', 'content-length', 'location', 'cache-control'];
const MAX_TEXT_BYTES = 256 * 1024;
const MAX_BODY_BYTES = 64 * 1024 * 1024;
const MAX_LINES = 5;
const MAX_LINE_CHARACTERS = 200;

/** One GET over a given connection; redirects are not followed. `path` begins with a slash. Never rejects. */
function fetchPage(connection: Duplex, path: string, timeoutMs: number, clock: Clock): Promise<FetchedPage> {
  const { promise, resolve } = Promise.withResolvers<FetchedPage>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  let response: IncomingMessage | null = null;
  const sending = request({
    createConnection: () => connection,
    path,
    headers: { Host: 'localhost', Connection: 'close', 'User-Agent': 'gw-sim-tunnel-browse' },
  });
  const timer = clock.after(timeoutMs, () => sending.destroy(new Error(`no complete answer within ${timeoutMs} ms`)));
  function end(problem: string | null): void {
    timer[Symbol.dispose]();
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

function firstLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(0, MAX_LINES)
    .map((line) => line.slice(0, MAX_LINE_CHARACTERS));
}
