import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Scope } from '../connections/listener.ts';
import { isOwnForward } from '../peer.ts';
import type { Route } from '../routes.ts';
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
      if (isCrossSite(request, route)) return refuse('CROSS_SITE');
      if (route.signedIn && !isSignedIn(request, scope)) return refuse('NOT_SIGNED_IN');
      return null;
    },
  };
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
