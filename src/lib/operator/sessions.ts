import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { peerAddress } from './address.ts';
import { scopeOf } from './listener.ts';
import { type Refusal, refuse } from './refusal.ts';
import { type SignIn, signInRules } from './sign-in.ts';

/** Sessions as a browser keeps them: in a cookie that no script reads and no other site sends. */
export interface Sessions {
  /** Whether this gateway has a device password at all. */
  readonly configured: boolean;
  /** Always on the socket for local commands; never on the read-only socket, whatever cookie is sent there. */
  has(request: IncomingMessage): boolean;
  /** Null when the person is signed in now. */
  open(password: string, request: FastifyRequest, reply: FastifyReply): Promise<Refusal | null>;
  close(request: FastifyRequest, reply: FastifyReply): void;
}

const COOKIE = 'gw_session';
// Not `secure`: the robot segment speaks plain HTTP, and the cookie would never be sent.
const cookieOptions = { path: '/', httpOnly: true, sameSite: 'strict' } as const;

export function createSessions(
  signIn: SignIn | null,
  parseCookie: (header: string) => Readonly<Record<string, string | undefined>>,
): Sessions {
  function tokenOf(request: IncomingMessage): string | undefined {
    const { cookie } = request.headers;
    return cookie === undefined ? undefined : parseCookie(cookie)[COOKIE];
  }

  return {
    configured: signIn !== null,
    has(request) {
      const scope = scopeOf(request);
      if (scope === 'local') return true;
      if (signIn === null || scope !== 'full') return false;
      const token = tokenOf(request);
      return token !== undefined && signIn.isSignedIn(token);
    },
    async open(password, request, reply) {
      if (signIn === null) return refuse('NOT_CONFIGURED');
      const outcome = await signIn.try(password, peerAddress(request));
      switch (outcome.kind) {
        case 'signed-in':
          reply.setCookie(COOKIE, outcome.token, { ...cookieOptions, maxAge: signInRules.mostMs / 1000 });
          return null;
        case 'wrong':
          return refuse('SIGN_IN_FAILED');
        case 'too-many-tries':
          return refuse('TOO_MANY_TRIES', { headers: { 'retry-after': String(outcome.retryAfterS) } });
        case 'busy':
          return refuse('TOO_MANY_TRIES', {
            message: 'Too many people sign in at once.',
            remedy: 'Try again in a moment.',
            headers: { 'retry-after': '1' },
          });
      }
    },
    close(request, reply) {
      const token = tokenOf(request.raw);
      if (token !== undefined) signIn?.signOut(token);
      reply.clearCookie(COOKIE, cookieOptions);
    },
  };
}
