import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { signInPage } from '../../pages/index.ts';
import type { Answer } from '../answers/answers.ts';
import { peerAddress } from '../connections/address.ts';
import { isForm, malformed, sendJson, sendPage, sendRefusal } from '../http/answer.ts';
import { refuse } from '../http/refusal.ts';
import type { Parts } from '../parts.ts';

export const signInBody = z.strictObject({ password: z.string().min(1) });

export function sessionHandlers({ site, sessions, log }: Parts) {
  async function signIn(request: FastifyRequest, reply: FastifyReply) {
    if (!sessions.configured) {
      return () =>
        sendRefusal(request, reply, refuse('NOT_CONFIGURED', { message: 'No device password is configured.' }));
    }
    const body = signInBody.safeParse(request.body);
    if (!body.success) return () => sendRefusal(request, reply, malformed(body.error));
    const outcome = await sessions.open(body.data.password, request, reply);
    if (outcome === null) {
      log.info({ audit: true, address: peerAddress(request) }, 'signed in');
      return () =>
        isForm(request) ? reply.redirect('/', 303) : sendJson(reply, { signedIn: true } satisfies Answer<'signedIn'>);
    }
    log.warn({ audit: true, address: peerAddress(request), code: outcome.body.error.code }, 'sign-in refused');
    if (!isForm(request)) return () => sendRefusal(request, reply, outcome);
    if (outcome.headers) reply.headers(outcome.headers);
    return () =>
      sendPage(
        reply.code(outcome.status),
        signInPage({
          site: site.title ?? site.name,
          viewer: request.server.viewerOf(request),
          isConfigured: true,
          problem: outcome.body.error.code,
        }),
      );
  }
  function endAll(request: FastifyRequest, reply: FastifyReply): number {
    const sessionsEnded = sessions.closeAll(reply);
    log.warn({ audit: true, address: peerAddress(request), sessionsEnded }, 'all sessions ended');
    return sessionsEnded;
  }
  return {
    signIn,
    signOutAll(request: FastifyRequest, reply: FastifyReply) {
      const sessionsEnded = endAll(request, reply);
      return sendJson(reply, { signedIn: false, sessionsEnded } satisfies Answer<'allSignedOut'>);
    },
    signOutAllForm(request: FastifyRequest, reply: FastifyReply) {
      endAll(request, reply);
      return reply.redirect('/anmeldung', 303);
    },
    signOut(request: FastifyRequest, reply: FastifyReply) {
      sessions.close(request, reply);
      return sendJson(reply, { signedIn: false } satisfies Answer<'signedOut'>);
    },
    signOutForm(request: FastifyRequest, reply: FastifyReply) {
      sessions.close(request, reply);
      return reply.redirect('/anmeldung', 303);
    },
  };
}
