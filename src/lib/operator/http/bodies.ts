import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Clock } from '../../lifecycle/index.ts';
import { isForm } from './answer.ts';

/** JSON and forms hold a password or the name of a tour, no more. */
export const BODY_MOST_BYTES = 16 * 1024;

export function formFields(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

/** How long a stop waits for its body, which holds no more than its reason. */
const STOP_BODY_WAIT_MS = 50;

/** Reads a body as far as it comes at once, and takes no notice of one that does not or that cannot be read. */
export function takingAnyBody(inner: FastifyInstance, clock: Pick<Clock, 'after'>): FastifyInstance {
  inner.removeAllContentTypeParsers();
  inner.addHook('onRequest', (request, _reply, done) => {
    // What calls itself nothing that is a type would be refused before any parser is asked.
    if (!isForm(request)) delete request.raw.headers['content-type'];
    done();
  });
  inner.addHook('onSend', (request, reply, _payload, done) => {
    // The rest of a body that was not waited for is not waited for afterwards either.
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
    if (bytes > BODY_MOST_BYTES) resolve(null);
    else chunks.push(chunk);
  };
  // What comes later keeps flowing, into nothing.
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
