import type { FastifyRequest } from 'fastify';
import { languageOf, type Viewer } from '../../pages/index.ts';
import { scopeOf } from '../connections/listener.ts';
import type { Sessions } from '../sign-in/sessions.ts';

/** The language that a person has chosen on a page. */
export const LANGUAGE_COOKIE = 'gw_language';

export function viewerOf(
  sessions: Pick<Sessions, 'has'>,
  parseCookie: (header: string) => Readonly<Record<string, string | undefined>>,
): (request: FastifyRequest) => Viewer {
  return (request) => {
    const { cookie, 'accept-language': accepted } = request.headers;
    const asked = (request.query as { readonly sprache?: unknown } | undefined)?.sprache;
    const chosen = typeof asked === 'string' ? asked : cookie && parseCookie(cookie)[LANGUAGE_COOKIE];
    const readOnly = scopeOf(request.raw) === 'read-only';
    return {
      language: languageOf(chosen, accepted),
      readOnly,
      signedIn: !readOnly && sessions.has(request.raw),
    };
  };
}
