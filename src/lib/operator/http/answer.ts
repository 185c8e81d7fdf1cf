import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { formatTried } from '../../error/index.ts';
import { refusedPage, unknownPage } from '../../pages/index.ts';
import { scopeOf } from '../connections/listener.ts';
import type { Outflow } from '../connections/outflow.ts';
import { HTML_TYPE, JSON_TYPE } from './content-types.ts';
import { type Refusal, refuse } from './refusal.ts';

/** Whether the request is a form submission of a page without script, which expects a page as the answer. */
export function isForm(request: FastifyRequest): boolean {
  return request.headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true;
}

/** Only what it accepts distinguishes a form that uploads a file from a script. */
export function wantsPage(request: FastifyRequest): boolean {
  const { 'content-type': type, accept } = request.headers;
  return (
    isForm(request) || (type?.startsWith('multipart/form-data') === true && accept?.includes('text/html') === true)
  );
}

/** Whether a browser opened an address outside of the interface, for which there is no route on its socket. */
function opensUnknownPage({ method, url, headers, routeOptions }: FastifyRequest, { body }: Refusal): boolean {
  return (
    (body.error.code === 'NOT_FOUND' || body.error.code === 'READ_ONLY') &&
    (method === 'GET' || method === 'HEAD') &&
    headers.accept?.includes('text/html') === true &&
    !(routeOptions.config.row?.path ?? url).startsWith('/api')
  );
}

export function sendRefusal(request: FastifyRequest, reply: FastifyReply, refusal: Refusal): FastifyReply {
  reply.code(refusal.status);
  if (refusal.headers) reply.headers(refusal.headers);
  if (opensUnknownPage(request, refusal)) {
    const { siteName, viewerOf } = request.server;
    return sendPage(reply, unknownPage({ site: siteName(), viewer: viewerOf(request) }));
  }
  if (!wantsPage(request)) return sendJson(reply, refusal.body);
  const { code, message, tried, remedy } = refusal.body.error;
  return sendPage(
    reply,
    refusedPage({
      site: request.server.siteName(),
      viewer: request.server.viewerOf(request),
      code,
      technical: `${message} ${remedy ?? ''}`.trimEnd(),
      tried: tried === undefined ? null : formatTried(tried),
      from: request.routeOptions.config.row?.path.startsWith('/api/medien') ? 'media' : 'surface',
    }),
  );
}

/** With absolute paths for commands on the gateway, on routes that need a session, and where `isSignedIn` is given. */
export function sendJson(reply: FastifyReply, data: object, isSignedIn?: boolean): FastifyReply {
  return sendBytes(reply, jsonBytes(reply, data, isTrusted(reply, isSignedIn)));
}

/** Data that many readers share, with what was sent of it: to whom absolute paths are shown, and to others. */
export interface SharedJson {
  readonly data: object;
  readonly bodies: Map<boolean, Buffer>;
}

/** `sendJson` of what many readers share: it is made JSON once. */
export function sendSharedJson(reply: FastifyReply, { data, bodies }: SharedJson): FastifyReply {
  const key = isTrusted(reply);
  const body = bodies.get(key) ?? jsonBytes(reply, data, key);
  bodies.set(key, body);
  return sendBytes(reply, body);
}

function isTrusted(
  { request }: FastifyReply,
  isSignedIn = request.routeOptions.config.row?.signedIn === true,
): boolean {
  return isSignedIn || scopeOf(request.raw) === 'local';
}

function jsonBytes({ server }: FastifyReply, data: object, hasPaths: boolean): Buffer {
  return Buffer.from(JSON.stringify(hasPaths ? data : server.withoutPaths(data)));
}

/** As bytes, so that the framework runs no serializer. */
function sendBytes(reply: FastifyReply, body: Buffer): FastifyReply {
  return reply.header('content-type', JSON_TYPE).send(body);
}

export function sendPage(reply: FastifyReply, page: string): FastifyReply {
  const text = reply.server.withoutPaths(page);
  return reply.header('content-type', HTML_TYPE).send(text);
}

/** Bodies up to this size are sent in one piece. */
const SMALL_BODY = 64 * 1024;

/** An answer that many readers share. */
export interface SharedBody {
  readonly contentType: string;
  /** Short text as a string: Node then writes head and body in one piece, a quarter faster (measured). */
  readonly body: Buffer | string;
}

/** Streams a large body from the bytes that all of its readers share, at their pace; small ones are sent at once. */
export function sendShared(
  request: FastifyRequest,
  reply: FastifyReply,
  outflow: Outflow,
  { contentType, body }: SharedBody,
): FastifyReply {
  if (body.length <= SMALL_BODY) return reply.header('content-type', contentType).send(body);
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body);
  // For HEAD the framework omits the body and keeps the given content-length.
  const stream = request.method === 'HEAD' ? Readable.from([]) : outflow.send(bytes, reply.raw);
  if (stream === null) return sendRefusal(request, reply, refuse('BUSY'));
  return reply.header('content-type', contentType).header('content-length', bytes.length).send(stream);
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
