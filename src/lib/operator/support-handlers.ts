import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { supportEndedPage } from '../pages/index.ts';
import type { SupportView } from '../tunnel/index.ts';
import type { Answer } from './answers/answers.ts';
import { peerAddress } from './connections/address.ts';
import { isForm, malformed, sendJson, sendPage, sendRefusal } from './http/answer.ts';
import { type Refusal, refusalOf, refuse } from './http/refusal.ts';
import { withoutQueries } from './http/without-queries.ts';
import type { Parts } from './parts.ts';

/** Remote support of a gateway whose site file has no `cloud`. */
export const noSupport: SupportView = {
  status: 'not-configured',
  detail: 'The site file has no cloud.',
  remedy: null,
  running: null,
  records: { status: 'not-checked', detail: 'Without a cloud nothing is recorded.', notSentYet: null },
  lastRefused: null,
  lastEnded: null,
};

const DEFAULT_SESSIONS = 50;
const MAX_SESSIONS = 1_000;
/** For the proxy to be gone: the gateway kills it after 1 s. Less than `gw tunnel end` waits. Project decision. */
const ENDED_WITHIN_MS = 4_000;

export const sessionsQuery = z.strictObject({
  limit: z
    .string()
    .regex(/^[1-9]\d{0,3}$/, `a whole number from 1 to ${MAX_SESSIONS}`)
    .transform(Number)
    .refine((limit) => limit <= MAX_SESSIONS, `at most ${MAX_SESSIONS}`)
    .default(DEFAULT_SESSIONS),
});

export function supportHandlers({ site, support, supportView, sessions, clock, log }: Parts) {
  /** Ends the running session for a person; a refusal where that is impossible. */
  async function endOnSite(request: FastifyRequest): Promise<boolean | Refusal> {
    if (support === null) return notConfigured();
    const address = peerAddress(request);
    const isSignedIn = sessions.has(request.raw);
    log.warn({ audit: true, address, signedIn: isSignedIn }, 'end of remote support requested');
    const { promise: late, resolve } = Promise.withResolvers<Refusal>();
    using _limit = clock.after(ENDED_WITHIN_MS, () => resolve(notConfirmed()));
    try {
      const by = `${isSignedIn ? 'signed-in person' : 'person without sign-in'}, ${address}`;
      return await Promise.race([support.endOnSite(by), late]);
    } catch (error) {
      log.error({ address, error }, 'remote support not ended');
      return refusalOf(error);
    }
  }

  return {
    state: (_request: FastifyRequest, reply: FastifyReply) => sendJson(reply, supportView()),

    async list(request: FastifyRequest, reply: FastifyReply) {
      const query = sessionsQuery.safeParse(request.query);
      if (!query.success) return () => sendRefusal(request, reply, malformed(query.error));
      if (support === null) return () => sendRefusal(request, reply, notConfigured());
      const { limit } = query.data;
      try {
        // One more, to know whether there are older ones.
        const found = await support.sessions(limit + 1);
        return () =>
          sendJson(reply, withoutQueries({ sessions: found.slice(0, limit), hasMore: found.length > limit }));
      } catch (error) {
        return () => sendRefusal(request, reply, refusalOf(error));
      }
    },

    async end(request: FastifyRequest, reply: FastifyReply) {
      const ended = await endOnSite(request);
      return typeof ended === 'boolean'
        ? sendJson(reply, { ended } satisfies Answer<'supportEnded'>)
        : sendRefusal(request, reply, ended);
    },

    async endForm(request: FastifyRequest, reply: FastifyReply) {
      const ended = await endOnSite(request);
      if (typeof ended !== 'boolean') return () => sendRefusal(request, reply, ended);
      if (!isForm(request)) return () => sendJson(reply, { ended });
      return () =>
        sendPage(
          reply,
          supportEndedPage({
            site: site.title ?? site.name,
            viewer: request.server.viewerOf(request),
            hasEnded: ended,
            isRunning: supportView().status === 'running',
          }),
        );
    },
  };
}

function notConfirmed(): Refusal {
  const seconds = ENDED_WITHIN_MS / 1_000;
  const message = `The end of remote support was requested, and not confirmed within ${seconds} s.`;
  return refuse('NOT_CONFIRMED', { message });
}

function notConfigured(): Refusal {
  return refuse('NOT_CONFIGURED', { message: 'Remote support is not configured: the site file has no cloud.' });
}
