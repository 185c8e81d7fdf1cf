import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Viewer } from '../../pages/index.ts';
import { LANGUAGE_COOKIE } from './viewer.ts';

export const pageQuery = z.object({
  sprache: z.enum(['de', 'en']).optional(),
  ziel: z.string().max(100).optional(),
  setzen: z.literal('position').optional(),
  loeschen: z.string().max(120).optional(),
});
const LANGUAGE_COOKIE_S = 400 * 24 * 60 * 60;

/** What the address of a page asks for, and who looks; a chosen language is remembered. */
export function asked(
  request: FastifyRequest,
  reply: FastifyReply,
): { readonly query: z.infer<typeof pageQuery>; readonly viewer: Viewer } {
  const query = pageQuery.safeParse(request.query).data ?? {};
  if (query.sprache !== undefined) {
    reply.setCookie(LANGUAGE_COOKIE, query.sprache, { path: '/', sameSite: 'strict', maxAge: LANGUAGE_COOKIE_S });
  }
  return { query, viewer: request.server.viewerOf(request) };
}
