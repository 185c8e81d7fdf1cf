import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { plainAddress } from '../connections/ip-address.ts';
import { scopeOf } from '../connections/listener.ts';
import { type Refusal, refuse } from '../http/refusal.ts';
import { sessionRules } from './session-store.ts';
import type { SignIn } from './sign-in.ts';

/** Sessions as a browser keeps them: in a cookie that no script reads and no other site sends. */
export interface Sessions {
  /** Whether this gateway has a device password at all, readable or not. */
  readonly configured: boolean;
  /** A device password is configured, and its file cannot be read. */
  readonly unreadable: boolean;
  /** Always on the socket for local commands; never on the read-only socket, whatever cookie is sent there. */
  has(request: IncomingMessage): boolean;
  /** Null when the person is signed in now. */
  open(password: string, request: FastifyRequest, reply: FastifyReply): Promise<Refusal | null>;
  close(request: FastifyRequest, reply: FastifyReply): void;
  /** Ends the sessions of everybody, this one too. Returns how many there were. */
  closeAll(reply: FastifyReply): number;
}

const COOKIE = 'gw_session';
/** Stays when a session ends. It opens nothing; see `DeviceMarks`. */
const DEVICE_COOKIE = 'gw_device';
/** Project decision: longer than a tablet is out of use between two seasons. */
const DEVICE_COOKIE_S = 400 * 24 * 60 * 60;
// Not `secure`: the robot segment speaks plain HTTP, and the cookie would never be sent.
const cookieOptions = { path: '/', httpOnly: true, sameSite: 'strict' } as const;

export function createSessions(
  given: SignIn | 'unreadable' | null,
  parseCookie: (header: string) => Readonly<Record<string, string | undefined>>,
): Sessions {
  const signIn = given === 'unreadable' ? null : given;
  function cookieOf(request: IncomingMessage, name: string): string | undefined {
    const { cookie } = request.headers;
    return cookie === undefined ? undefined : parseCookie(cookie)[name];
  }

  const tokenOf = (request: IncomingMessage) => cookieOf(request, COOKIE);

  return {
    configured: given !== null,
    unreadable: given === 'unreadable',
    has(request) {
      const scope = scopeOf(request);
      if (scope === 'local') return true;
      if (signIn === null || scope !== 'full') return false;
      const token = tokenOf(request);
      return token !== undefined && signIn.isSignedIn(token);
    },
    async open(password, request, reply) {
      if (signIn === null) return refuse(given === null ? 'NOT_CONFIGURED' : 'SIGN_IN_UNAVAILABLE');
      const { raw } = request;
      const outcome = await signIn.try(password, {
        address: scopeOf(raw) === 'local' ? null : plainAddress(raw.socket.remoteAddress ?? 'unknown'),
        deviceMark: cookieOf(raw, DEVICE_COOKIE),
        signal: goneSignal(reply.raw),
      });
      switch (outcome.kind) {
        case 'signed-in':
          // The session first: clients that know one cookie take that one.
          reply.setCookie(COOKIE, outcome.token, { ...cookieOptions, maxAge: sessionRules.mostMs / 1000 });
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
      const token = tokenOf(request.raw);
      if (token !== undefined) signIn?.signOut(token);
      reply.clearCookie(COOKIE, cookieOptions);
    },
    closeAll(reply) {
      reply.clearCookie(COOKIE, cookieOptions);
      return signIn?.signOutAll() ?? 0;
    },
  };
}

/** Aborted when the connection ends before there is an answer: nobody waits in the line for a client that left. */
function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  return gone.signal;
}
