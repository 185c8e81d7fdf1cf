import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Clock } from '../../lifecycle/index.ts';
import type { Route } from '../routes.ts';
import { isForm } from './answer.ts';
import { isBodiless, MAX_BODY_BYTES } from './body-limits.ts';
import { type Refusal, refuse } from './refusal.ts';

/** The refusal of a body in chunks; null for a route that ignores it. */
export function refuseChunks({ method, headers }: FastifyRequest, row: Route | undefined): Refusal | null {
  if (isBodiless(method) || headers['transfer-encoding'] === undefined || row?.anyBody) return null;
  return refuse('LENGTH_REQUIRED');
}

export function formFields(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

/** How long a stop waits for its body, which holds only the reason. */
const STOP_BODY_WAIT_MS = 50;

/** Reads a body that arrives at once and ignores any other, so that a stop is never refused for its body. */
export function acceptAnyBody(inner: FastifyInstance, clock: Pick<Clock, 'after'>): FastifyInstance {
  inner.removeAllContentTypeParsers();
  inner.addHook('onRequest', (request, _reply, done) => {
    // A malformed content type would be refused before any parser runs.
    if (!isForm(request)) delete request.raw.headers['content-type'];
    done();
  });
  inner.addHook('onSend', (request, reply, _payload, done) => {
    // The rest of an incomplete body is not awaited after the answer either.
    if (!request.raw.complete) reply.header('connection', 'close');
    done();
  });
  inner.addContentTypeParser('*', async (request: FastifyRequest, payload: IncomingMessage) => {
    const text = await readAtOnce(payload, clock);
    if (text === null) return undefined;
    if (isForm(request)) return formFields(text);
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  });
  return inner;
}

/** Null when the body is too long, breaks off, or is not whole within STOP_BODY_WAIT_MS. */
async function readAtOnce(payload: Readable, clock: Pick<Clock, 'after'>): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  const take = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) resolve(null);
    else chunks.push(chunk);
  };
  // Later data is discarded.
  payload.on('data', take);
  payload.once('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
  payload.on('error', () => resolve(null));
  payload.once('close', () => resolve(null));
  using _limit = clock.after(STOP_BODY_WAIT_MS, () => resolve(null));
  const text = await promise;
  payload.off('data', take);
  payload.resume();
  return text;
}
