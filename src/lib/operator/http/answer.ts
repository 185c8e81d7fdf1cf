import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { type Markup, markup } from '../../markup/index.ts';
import { scopeOf } from '../connections/listener.ts';
import { page } from '../pages/page.ts';
import { type ErrorBody, type Refusal, refuse } from './refusal.ts';

/** The page for a refused form: the content of the JSON answer, with a link back. */
function refusedPage(site: string, { error }: ErrorBody): Markup {
  const { code, message, tried, remedy } = error;
  const title = code === 'NOT_CONFIRMED' ? 'Noch nicht bestätigt' : 'Nicht ausgeführt';
  return page({
    title,
    site,
    current: 'refused',
    readOnly: false,
    body: markup`<section>
<h1>${title}</h1>
<p class="alarm" role="alert">${germanReasons[code] ?? message}</p>
${tried === undefined ? null : markup`<p>Versuchte Adresse: <code>${tried.address}:${tried.port ?? ''}</code></p>`}
<p><small>${code}: ${message} ${remedy ?? ''}</small></p>
${code === 'NOT_SIGNED_IN' ? markup`<p><a class="button" href="/anmeldung">Anmelden</a></p>` : null}
<p><a class="button" href="/">Zurück zur Bedienung</a></p>
</section>`,
  });
}

const germanReasons: Readonly<Record<string, string>> = {
  CHASSIS_NOT_CONNECTED: 'Der Roboter ist nicht verbunden (not connected).',
  CHASSIS_BOOTING: 'Der Roboter startet noch.',
  MOTION_STOPPED: 'Der Stopp ist gesetzt. Erst muss er aufgehoben werden.',
  MOTION_REFUSED: 'Der Roboter darf jetzt nicht fahren.',
  TOUR_RUNNING: 'Es fährt schon eine Tour.',
  TOUR_UNKNOWN: 'Diese Tour gibt es nicht.',
  STATION_UNKNOWN: 'Diese Station steht nicht in der Standortdatei.',
  NOT_CONFIRMED: 'Angefordert, aber noch nicht bestätigt. Den Stand zeigt die Seite „Technik“.',
  NOT_SIGNED_IN: 'Dafür ist eine Anmeldung erforderlich.',
};

/** Whether the request is a form submission of a page without script, which expects a page as the answer. */
export function isForm(request: FastifyRequest): boolean {
  return request.headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true;
}

export function sendRefusal(request: FastifyRequest, reply: FastifyReply, refusal: Refusal): FastifyReply {
  reply.code(refusal.status);
  if (refusal.headers) reply.headers(refusal.headers);
  if (isForm(request)) {
    const page = refusedPage(request.server.siteName, refusal.body);
    return sendPage(reply, page);
  }
  return sendJson(reply, refusal.body);
}

/** With absolute paths for commands on the gateway, on routes that need a session, and where `isSignedIn` is given. */
export function sendJson(
  reply: FastifyReply,
  data: object,
  isSignedIn = reply.request.routeOptions.config.row?.signedIn === true,
): FastifyReply {
  const isTrusted = isSignedIn || scopeOf(reply.request.raw) === 'local';
  const shown = isTrusted ? data : reply.server.withoutPaths(data);
  // As bytes, so that the framework runs no serializer.
  return reply.header('content-type', 'application/json; charset=utf-8').send(Buffer.from(JSON.stringify(shown)));
}

export function sendPage(reply: FastifyReply, page: Markup): FastifyReply {
  const text = reply.server.withoutPaths(page.toString());
  return reply.header('content-type', 'text/html; charset=utf-8').send(text);
}

/** The refusal of a request body with its validation errors. */
export function malformed(error: z.ZodError): Refusal {
  const found = error.issues.map((issue) => `${issue.path.join('.') || 'body'}: ${issue.message}`).join('; ');
  return refuse('BAD_REQUEST', { message: `The request is malformed: ${found.slice(0, 500)}.` });
}

/** A path parameter as the router decoded it. */
export function param(request: FastifyRequest, name: string): string {
  return (request.params as Readonly<Record<string, string | undefined>>)[name] ?? '';
}
