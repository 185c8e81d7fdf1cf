import type { IncomingMessage, ServerResponse } from 'node:http';
import { paths } from '../../../chassis/wire.ts';
import type { Clock } from '../../../lifecycle/index.ts';
import type { Faults } from '../../faults.ts';
import type { RestReply, RestRequest } from '../rest/rest-reply.ts';
import { createFaultAnswer } from './fault-answer.ts';
import { readPath } from './reception.ts';
import { createReplyWriter } from './reply-writer.ts';

export interface RequestHandlerOptions {
  readonly clock: Pick<Clock, 'every'>;
  readonly faults: Faults;
  /** The REST interface. */
  readonly rest: { answer(request: RestRequest): RestReply };
  /** `http://host:port` of the robot. */
  readonly url: () => string;
  readonly hugeText: () => Buffer;
}

/** A map carries its picture and up to 100,000 features as JSON text inside JSON; other bodies are small. */
const MAX_BODY_BYTES = 1024 * 1024;
const MAX_MAP_BYTES = 128 * 1024 * 1024;

/** Answers requests other than upgrades: by the active fault, otherwise by the REST interface. Never rejects. */
export function createRequestHandler({ clock, faults, rest, url, hugeText }: RequestHandlerOptions) {
  const write = createReplyWriter(clock, faults);
  const answerWithFault = createFaultAnswer({ clock, faults, write, hugeText });

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (answerWithFault(response)) return;
    const path = readPath(request.url);
    const body = await readBody(request, path !== undefined && acceptsMap(path) ? MAX_MAP_BYTES : MAX_BODY_BYTES);
    if (body === 'too-large') {
      response.setHeader('Connection', 'close');
      write(response, { status: 413, json: { detail: 'body too large' } });
      return;
    }
    if (body === 'broken' || response.destroyed) return;
    const isHead = request.method === 'HEAD';
    const reply: RestReply =
      path === undefined
        ? { status: 400, json: { detail: 'bad path' } }
        : rest.answer({
            method: isHead ? 'GET' : (request.method ?? 'GET'),
            path,
            base: url(),
            body: parseBody(body),
            headers: request.headers,
          });
    write(response, reply);
  }

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      await respond(request, response);
    } catch {
      // An internal error must not end the simulator; the client sees a closed connection.
      response.destroy();
    }
  };
}

/** Whether a request to this path may carry a whole map or all its overlays. */
function acceptsMap(path: string): boolean {
  return path === paths.currentMap || path === '/maps' || path.startsWith('/maps/');
}

function readBody(request: IncomingMessage, most: number): Promise<Buffer | 'too-large' | 'broken'> {
  const { promise, resolve } = Promise.withResolvers<Buffer | 'too-large' | 'broken'>();
  const pieces: Buffer[] = [];
  let length = 0;
  // A body that is too large is still read to its end, so that the client receives the answer instead of a reset.
  request.on('data', (piece: Buffer) => {
    length += piece.length;
    if (length <= most) pieces.push(piece);
    else resolve('too-large');
  });
  request.on('end', () => resolve(Buffer.concat(pieces)));
  request.on('close', () => resolve('broken'));
  return promise;
}

function parseBody(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}
