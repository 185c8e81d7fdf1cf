import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { peerAddress } from '../connections/address.ts';
import { isForm, malformed, sendJson, sendPage, sendRefusal } from '../http/answer.ts';
import { refuse } from '../http/refusal.ts';
import { signInPage } from '../pages/sign-in-page.ts';
import type { Parts } from '../parts.ts';

/** Sentence on the sign-in page. */
export const UNREADABLE_PROBLEM =
  'Die Kennwortdatei dieses Gateways ist nicht lesbar. Ein Techniker muss sie berichtigen.';
const problems: Readonly<Record<string, string>> = {
  SIGN_IN_FAILED: 'Das Kennwort ist falsch.',
  TOO_MANY_TRIES: 'Zu viele falsche Versuche. Bitte eine Minute warten.',
  SIGN_IN_UNAVAILABLE: UNREADABLE_PROBLEM,
  SIGN_IN_BUSY: 'Gerade gehen sehr viele Anmeldungen ein. Bitte gleich noch einmal versuchen.',
};

const signInBody = z.strictObject({ password: z.string().min(1) });

export function sessionHandlers({ site, sessions, log }: Parts) {
  async function signIn(request: FastifyRequest, reply: FastifyReply) {
    if (!sessions.configured) {
      return sendRefusal(request, reply, refuse('NOT_CONFIGURED', { message: 'No device password is configured.' }));
    }
    const body = signInBody.safeParse(request.body);
    if (!body.success) return sendRefusal(request, reply, malformed(body.error));
    const outcome = await sessions.open(body.data.password, request, reply);
    if (outcome === null) {
      log.info({ audit: true, address: peerAddress(request) }, 'signed in');
      return isForm(request) ? reply.redirect('/', 303) : sendJson(reply, { signedIn: true });
    }
    log.warn({ audit: true, address: peerAddress(request), code: outcome.body.error.code }, 'sign-in refused');
    if (!isForm(request)) return sendRefusal(request, reply, outcome);
    const problem = problems[outcome.body.error.code] ?? outcome.body.error.message;
    if (outcome.headers) reply.headers(outcome.headers);
    return sendPage(
      reply.code(outcome.status),
      signInPage({ site: site.name, configured: true, signedIn: false, problem }),
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
      return sendJson(reply, { signedIn: false, sessionsEnded: endAll(request, reply) });
    },
    signOutAllForm(request: FastifyRequest, reply: FastifyReply) {
      endAll(request, reply);
      return reply.redirect('/anmeldung', 303);
    },
    signOut(request: FastifyRequest, reply: FastifyReply) {
      sessions.close(request, reply);
      return sendJson(reply, { signedIn: false });
    },
    signOutForm(request: FastifyRequest, reply: FastifyReply) {
      sessions.close(request, reply);
      return reply.redirect('/anmeldung', 303);
    },
  };
}
