import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Clock } from '../../lifecycle/index.ts';
import { isLoopback } from '../connections/ip-address.ts';
import type { Scope } from '../connections/listener.ts';
import { isOwnForward } from '../peer.ts';
import type { Route } from '../routes.ts';
import { isForm } from './answer.ts';
import { isBodiless, MAX_BODY_BYTES } from './body-limits.ts';
import { type Refusal, refuse } from './refusal.ts';

export interface Policy {
  /**
   * The refusal of this request; null when it is allowed. `route` is the matched route, never the path as written, so
   * that no spelling of a path is judged differently from how it is routed.
   */
  judge(request: IncomingMessage, scope: Scope, route: Route | undefined): Refusal | null;
}

export interface PolicyOptions {
  /** Allowed host names, besides addresses and localhost. */
  readonly names: readonly string[];
  readonly isSignedIn: (request: IncomingMessage, scope: Scope) => boolean;
}

export function createPolicy({ names, isSignedIn }: PolicyOptions): Policy {
  const allowedNames = new Set(['localhost', ...names.map((name) => name.toLowerCase())]);
  /** Cache of valid Host headers as written; bounded. */
  const goodHosts = new Set<string>();

  function isOurs(host: string): boolean {
    if (goodHosts.has(host)) return true;
    const name = hostName(host);
    if (name === null || !(allowedNames.has(name) || isIP(name) !== 0)) return false;
    if (goodHosts.size < 64) goodHosts.add(host);
    return true;
  }

  return {
    judge(request, scope, route) {
      const { headers } = request;
      if (isOwnForward(headers)) return refuse('LOOP_DETECTED');
      if (headers.host === undefined || !isOurs(headers.host)) return refuse('WRONG_HOST');
      if (scope === 'read-only' && route?.readOnly !== true) return refuse('READ_ONLY');
      if (route === undefined) return null;
      if (route.onGateway && !isOnGateway(request, scope)) return refuse('ON_GATEWAY_ONLY');
      if (isCrossSite(request, route)) return refuse('CROSS_SITE');
      if (route.signedIn && !isSignedIn(request, scope)) return refuse('NOT_SIGNED_IN');
      return null;
    },
  };
}

/** Whether a program on this machine asks: by the socket that only it can reach, or by the addresses that the kernel gives. */
function isOnGateway({ socket }: IncomingMessage, scope: Scope): boolean {
  if (scope === 'local') return true;
  return [socket.remoteAddress, socket.localAddress].every((address) => isLoopback(address ?? ''));
}

/**
 * Whether a browser sent the request from a page of another site. Browsers send Origin with every change, and
 * Sec-Fetch-Site to trustworthy addresses; a client that sends neither is not a browser.
 */
function isCrossSite({ headers }: IncomingMessage, route: Route): boolean {
  const site = headers['sec-fetch-site'];
  const { origin } = headers;
  if (site === undefined && origin === undefined) return false;
  const isChange = route.method !== 'GET';
  if (!isChange && !route.path.startsWith('/api')) return false;
  if (site !== undefined && site !== 'same-origin' && !(site === 'none' && !isChange)) return true;
  return origin !== undefined && !isOwnOrigin(origin, headers.host ?? '');
}

function isOwnOrigin(origin: string, host: string): boolean {
  return origin.toLowerCase() === `http://${host.toLowerCase()}`;
}

/** The name of a Host header, in lower case and without port and brackets; null when it is malformed. */
function hostName(host: string): string | null {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:[\]/?#@\s]+))(?::\d{1,5})?$/i.exec(host);
  return (match?.[1] ?? match?.[2])?.toLowerCase() ?? null;
}

/** The refusal of a body in chunks; null for a route that ignores it. */
export function refuseChunks({ method, headers }: FastifyRequest, row: Route | undefined): Refusal | null {
  if (isBodiless(method) || headers['transfer-encoding'] === undefined || row?.anyBody) return null;
  return refuse('LENGTH_REQUIRED');
}

export function formFields(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

/** How long a stop waits for its body, which holds only the reason. */
const STOP_BODY_WAIT_MS = 50;

/** Reads a body that arrives at once and ignores any other, so that a stop is never refused for its body. */
export function acceptAnyBody(inner: FastifyInstance, clock: Pick<Clock, 'after'>): FastifyInstance {
  inner.removeAllContentTypeParsers();
  inner.addHook('onRequest', (request, _reply, done) => {
    // A malformed content type would be refused before any parser runs.
    if (!isForm(request)) delete request.raw.headers['content-type'];
    done();
  });
  inner.addHook('onSend', (request, reply, _payload, done) => {
    // The rest of an incomplete body is not awaited after the answer either.
    if (!request.raw.complete) reply.header('connection', 'close');
    done();
  });
  inner.addContentTypeParser('*', async (request: FastifyRequest, payload: IncomingMessage) => {
    const text = await readAtOnce(payload, clock);
    if (text === null) return undefined;
    if (isForm(request)) return formFields(text);
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  });
  return inner;
}

/** Null when the body is too long, breaks off, or is not whole within STOP_BODY_WAIT_MS. */
async function readAtOnce(payload: Readable, clock: Pick<Clock, 'after'>): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  const take = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) resolve(null);
    else chunks.push(chunk);
  };
  // Later data is discarded.
  payload.on('data', take);
  payload.once('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
  payload.on('error', () => resolve(null));
  payload.once('close', () => resolve(null));
  using _limit = clock.after(STOP_BODY_WAIT_MS, () => resolve(null));
  const text = await promise;
  payload.off('data', take);
  payload.resume();
  return text;
}
