import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { plainAddress } from '../connections/ip-address.ts';
import { scopeOf } from '../connections/listener.ts';
import { type Refusal, refuse } from '../http/refusal.ts';
import { sessionRules } from './session-store.ts';
import type { SignIn } from './sign-in.ts';

/** Sessions of browsers, in a cookie that is inaccessible to scripts and not sent by other sites. */
export interface Sessions {
  /** Whether a device password is configured, readable or not. */
  readonly configured: boolean;
  /** A device password is configured, but its file cannot be read. */
  readonly unreadable: boolean;
  /** Always true on the socket for local commands; always false on the read-only socket, with any cookie. */
  has(request: IncomingMessage): boolean;
  /** null: signed in. */
  open(password: string, request: FastifyRequest, reply: FastifyReply): Promise<Refusal | null>;
  close(request: FastifyRequest, reply: FastifyReply): void;
  /** Ends all sessions, including this one. Returns their number. */
  closeAll(reply: FastifyReply): number;
}

export const SESSION_COOKIE = 'gw_session';
/** Outlives the session and grants no access; see `DeviceMarks`. */
const DEVICE_COOKIE = 'gw_device';
/** Project decision: longer than a tablet is unused between two seasons. */
const DEVICE_COOKIE_S = 400 * 24 * 60 * 60;
// Not `secure`: the robot segment uses plain HTTP, and the cookie would never be sent.
const cookieOptions = { path: '/', httpOnly: true, sameSite: 'strict' } as const;

/** `given` is that of the present password; `refresh` reads its file again, so that a changed one counts at once. */
export function createSessions(
  given: () => SignIn | 'unreadable' | null,
  refresh: () => Promise<void>,
  parseCookie: (header: string) => Readonly<Record<string, string | undefined>>,
): Sessions {
  const signInNow = (): SignIn | null => {
    const now = given();
    return now === 'unreadable' ? null : now;
  };
  function cookieOf(request: IncomingMessage, name: string): string | undefined {
    const { cookie } = request.headers;
    return cookie === undefined ? undefined : parseCookie(cookie)[name];
  }

  const tokenOf = (request: IncomingMessage) => cookieOf(request, SESSION_COOKIE);

  /** Ends the session that the request came with, if any. */
  function endSession(request: IncomingMessage): void {
    const token = tokenOf(request);
    if (token !== undefined) signInNow()?.signOut(token);
  }

  return {
    get configured() {
      return given() !== null;
    },
    get unreadable() {
      return given() === 'unreadable';
    },
    has(request) {
      const scope = scopeOf(request);
      if (scope === 'local') return true;
      const signIn = signInNow();
      if (signIn === null || scope !== 'full') return false;
      const token = tokenOf(request);
      return token !== undefined && signIn.isSignedIn(token);
    },
    async open(password, request, reply) {
      await refresh();
      const signIn = signInNow();
      if (signIn === null) return refuse(given() === null ? 'NOT_CONFIGURED' : 'SIGN_IN_UNAVAILABLE');
      const { raw } = request;
      const outcome = await signIn.try(password, {
        address: scopeOf(raw) === 'local' ? null : plainAddress(raw.socket.remoteAddress ?? 'unknown'),
        deviceMark: cookieOf(raw, DEVICE_COOKIE),
        signal: goneSignal(reply.raw),
      });
      switch (outcome.kind) {
        case 'signed-in':
          endSession(raw);
          // The session cookie first, for clients that keep only one cookie.
          reply.setCookie(SESSION_COOKIE, outcome.token, { ...cookieOptions, maxAge: sessionRules.maxMs / 1000 });
          reply.setCookie(DEVICE_COOKIE, outcome.deviceMark, { ...cookieOptions, maxAge: DEVICE_COOKIE_S });
          return null;
        case 'wrong':
          return refuse('SIGN_IN_FAILED');
        case 'too-many-tries':
          return refuse('TOO_MANY_TRIES', { headers: { 'retry-after': String(outcome.retryAfterS) } });
        case 'busy':
          return refuse('SIGN_IN_BUSY', { headers: { 'retry-after': String(outcome.retryAfterS) } });
      }
    },
    close(request, reply) {
      endSession(request.raw);
      reply.clearCookie(SESSION_COOKIE, cookieOptions);
    },
    closeAll(reply) {
      reply.clearCookie(SESSION_COOKIE, cookieOptions);
      return signInNow()?.signOutAll() ?? 0;
    },
  };
}

/** Aborted when the connection ends before the answer, so that the attempt leaves the queue. */
function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  return gone.signal;
}
