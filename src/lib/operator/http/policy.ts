import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Scope } from '../connections/listener.ts';
import { isOwnForward } from '../peer.ts';
import type { Route } from '../routes.ts';
import { type Refusal, refuse } from './refusal.ts';

export interface Policy {
  /**
   * Whether this request is refused; null when it may go on. `route` is what the router matched, never the path
   * as it was written, so that no spelling of a path can be judged differently from how it is routed.
   */
  judge(request: IncomingMessage, scope: Scope, route: Route | undefined): Refusal | null;
}

export interface PolicyOptions {
  /** Names by which this gateway may be called, beside addresses and localhost. */
  readonly names: readonly string[];
  readonly isSignedIn: (request: IncomingMessage, scope: Scope) => boolean;
}

export function createPolicy({ names, isSignedIn }: PolicyOptions): Policy {
  const allowedNames = new Set(['localhost', ...names.map((name) => name.toLowerCase())]);
  /** Host headers that were found good, as written; bounded, since addresses and ports are many. */
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
      if (isFromElsewhere(request, route)) return refuse('CROSS_SITE');
      if (route.signedIn && !isSignedIn(request, scope)) return refuse('NOT_SIGNED_IN');
      return null;
    },
  };
}

/**
 * A browser says where a request comes from: always by Origin when it changes something, and by Sec-Fetch-Site
 * where it trusts the address. A client that says neither is no browser.
 */
function isFromElsewhere({ headers }: IncomingMessage, route: Route): boolean {
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

/** The name out of a Host header, in lower case and without port and brackets; null when it is none. */
function hostName(host: string): string | null {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:[\]/?#@\s]+))(?::\d{1,5})?$/i.exec(host);
  return (match?.[1] ?? match?.[2])?.toLowerCase() ?? null;
}
