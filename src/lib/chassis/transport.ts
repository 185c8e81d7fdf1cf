import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Dispatcher, Pool } from 'undici';
import { GwError, type Tried } from '../error/index.ts';
import { type JsonBounds, quote } from '../json/index.ts';
import type { Clock } from '../lifecycle/index.ts';
import { onAbort } from '../lifecycle/index.ts';
import { DialError, type Dialer, dialFailureOf, type Endpoint, viaOf } from '../net/index.ts';
import { badAnswer, interrupted } from './failure.ts';

/** How much of an answer is read, and for how long it may go on coming in. */
export interface Limits {
  readonly maxBytes: number;
  readonly wholeMs: number;
  /** How long until the head of the answer, and then between two pieces of it; without it, as the transport has it. */
  readonly patienceMs?: number;
  /** What it may hold where it is JSON; without it, what a document may. */
  readonly json?: JsonBounds;
}

const MiB = 1024 * 1024;

/** Decision of ours: reading so much at once takes some milliseconds (see docs/performance.md). */
const documentBounds: JsonBounds = { maxDepth: 200, maxValues: 20_000 };
/** Decision of ours: drawings of a map that are no text but objects have a dozen values each. */
export const mapBounds: JsonBounds = { maxDepth: 200, maxValues: 4_000_000 };

/** Decision of ours: what each kind of answer may measure. */
export const limits = {
  document: { maxBytes: MiB, wholeMs: 4_000, json: documentBounds },
  mapList: { maxBytes: MiB, wholeMs: 4_000, json: documentBounds },
  mapData: { maxBytes: 64 * MiB, wholeMs: 60_000, patienceMs: 10_000, json: mapBounds },
  picture: { maxBytes: 32 * MiB, wholeMs: 60_000, patienceMs: 10_000 },
  localisation: { maxBytes: 256 * MiB, wholeMs: 120_000, patienceMs: 10_000 },
  /** Storing a map takes a chassis longer than reading it; nothing is known about how long. */
  mapWrite: { maxBytes: 64 * MiB, wholeMs: 120_000, patienceMs: 60_000 },
} as const satisfies Record<string, Limits>;

export interface Request {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: object;
  readonly limits: Limits;
  readonly signal?: AbortSignal | undefined;
}

export interface Reply {
  readonly status: number;
  readonly body: Uint8Array;
  readonly tried: Tried;
  /** What its JSON may hold, as it was asked for. */
  readonly json: JsonBounds;
}

export interface Transport {
  readonly endpoint: Endpoint;
  /**
   * One request over a pooled connection. Throws CHASSIS_NOT_CONNECTED (a DialError), CHASSIS_BAD_ANSWER,
   * INTERRUPTED; never judges the status, except that a redirect is refused.
   */
  send(request: Request): Promise<Reply>;
  /** Several requests over one connection of their own, which is dialled for them and closed after them. */
  overOwnConnection<T>(work: (send: Transport['send']) => Promise<T>): Promise<T>;
  /** Ends every request and closes every socket. A later request dials anew. */
  close(): Promise<void>;
}

export interface TransportOptions {
  readonly endpoint: Endpoint;
  readonly dialer: Dialer;
  readonly clock: Clock;
  /** How long until the head of an answer, and then between two pieces of it, in milliseconds. */
  readonly timeoutMs: number;
  /** Value of the `Secret` request header. */
  readonly secret?: string | undefined;
}

let undiciLoading: Promise<typeof import('undici')> | undefined;

/** Most of a dial's time is lost on addresses where nobody answers; a robot segment answers within milliseconds. */
const MOST_DIAL_MS = 1_200;
const CONNECTIONS = 8;

export function createTransport(options: TransportOptions): Transport {
  const { endpoint, dialer, clock, timeoutMs } = options;
  const host = endpoint.host.includes(':') ? `[${endpoint.host}]` : endpoint.host;
  const origin = `http://${host}:${endpoint.port}`;
  const via = viaOf(dialer);
  let life = new AbortController();
  let pool: Pool | undefined;

  const clientOptions = () => {
    const { signal } = life;
    return {
      connect(_: unknown, callback: (...result: [null, Socket] | [Error, null]) => void) {
        dialer.dial(endpoint, { timeoutMs: Math.min(MOST_DIAL_MS, timeoutMs), signal }).then(
          // A dialer gives any byte stream; the client uses nothing of a socket beyond that without looking first.
          (stream: Duplex) => callback(null, stream as Socket),
          (error: unknown) =>
            callback(error instanceof Error ? error : new DialError('other', triedHere(), error), null),
        );
      },
      pipelining: 1,
      keepAliveTimeout: 4_000,
      keepAliveMaxTimeout: 30_000,
      maxHeaderSize: 16 * 1024,
      // The deadlines are kept here, with our own clock and more exactly.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
  };

  function triedHere(action?: string, forMs?: number): Tried {
    return {
      address: endpoint.host,
      port: endpoint.port,
      ...(via !== undefined && { via }),
      ...(action !== undefined && { action }),
      ...(forMs !== undefined && { forMs: Math.round(forMs) }),
    };
  }

  /** Loaded with the first request: commands that only speak of a chassis ask none. Refuses what was closed meanwhile. */
  async function openUndici(request?: Request): Promise<typeof import('undici')> {
    const { signal } = life;
    undiciLoading ??= import('undici');
    const undici = await undiciLoading;
    if (signal.aborted) throw interrupted(signal.reason, triedHere(request && `${request.method} ${request.path}`));
    return undici;
  }

  async function send(dispatcher: Dispatcher, request: Request): Promise<Reply> {
    const began = clock.monotonicMs();
    const tried = () => triedHere(`${request.method} ${request.path}`, clock.monotonicMs() - began);
    if (request.signal?.aborted) throw interrupted(request.signal.reason, tried());
    const ending = new AbortController();
    using _aborted = onAbort(request.signal, () => ending.abort(request.signal?.reason));
    const patienceMs = request.limits.patienceMs ?? timeoutMs;
    let head = false;
    let late = false;
    const giveUp = () => {
      late = true;
      ending.abort();
    };
    try {
      using _deadline = clock.after(patienceMs, () => {
        if (!head) giveUp();
      });
      const response = await dispatchOnce(dispatcher, request, ending.signal);
      head = true;
      return await receive(response, request, giveUp, began, tried);
    } catch (error) {
      if (request.signal?.aborted) throw interrupted(request.signal.reason, tried());
      if (!late) throw translate(error, tried(), head);
      if (head) throw badAnswer('the answer began and did not come to an end in time', tried());
      throw new DialError('no-answer', tried());
    }
  }

  /** A kept connection may have been closed by the chassis just now: reading again once does no harm. */
  async function dispatchOnce(dispatcher: Dispatcher, request: Request, signal: AbortSignal) {
    const ask = () =>
      dispatcher.request({
        method: request.method,
        path: request.path,
        headers: {
          accept: request.path.endsWith('.png') ? 'image/png' : 'application/json',
          ...(request.body && { 'content-type': 'application/json' }),
          ...(options.secret !== undefined && { secret: options.secret }),
        },
        body: request.body ? JSON.stringify(request.body) : null,
        signal,
      });
    try {
      return await ask();
    } catch (error) {
      const closed = (error as { code?: string }).code === 'UND_ERR_SOCKET' || dialFailureOf(error) === 'cut';
      if (request.method !== 'GET' || signal.aborted || error instanceof DialError || !closed) throw error;
      return await ask();
    }
  }

  async function receive(
    response: Dispatcher.ResponseData,
    request: Request,
    giveUp: () => void,
    began: number,
    tried: () => Tried,
  ): Promise<Reply> {
    const { statusCode: status, headers, body } = response;
    const refuse = (what: string) => {
      body.on('error', () => {});
      body.destroy();
      return badAnswer(what, tried());
    };
    if (status >= 300 && status < 400 && status !== 304) {
      throw refuse(`redirected to ${quote(headerText(headers.location) || 'nowhere')}: refused`);
    }
    const { maxBytes, wholeMs, patienceMs = timeoutMs } = request.limits;
    const tooLarge = `the answer is larger than ${sizeText(maxBytes)}`;
    const announced = Number(headerText(headers['content-length']));
    if (announced > maxBytes) throw refuse(tooLarge);
    // Nothing was asked to be compressed; a few bytes could unfold into a flood.
    const encoding = headerText(headers['content-encoding']);
    if (encoding !== '' && encoding !== 'identity') throw refuse(`the answer is packed with ${quote(encoding)}`);

    let heardAt = clock.monotonicMs();
    using _watch = clock.every(Math.max(20, patienceMs / 8), () => {
      const now = clock.monotonicMs();
      if (now - heardAt > patienceMs || now - began > wholeMs) giveUp();
    });
    const bytes = collector(announced);
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      heardAt = clock.monotonicMs();
      if (bytes.size() + chunk.byteLength > maxBytes) throw badAnswer(tooLarge, tried());
      bytes.add(chunk);
    }
    return { status, body: bytes.take(), tried: tried(), json: request.limits.json ?? documentBounds };
  }

  function translate(error: unknown, tried: Tried, head: boolean): unknown {
    if (error instanceof DialError) return new DialError(error.failure, tried, error.cause);
    if (error instanceof GwError) return error;
    const { code = '', name = '' } = error as { code?: string; name?: string };
    if (name === 'HTTPParserError' || code.startsWith('HPE_')) {
      return badAnswer('it does not speak HTTP as a chassis does', tried, error);
    }
    if (code === 'UND_ERR_HEADERS_OVERFLOW') return badAnswer('the head of the answer has no end', tried, error);
    if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') {
      return badAnswer('the answer is not as long as it says', tried, error);
    }
    if (code === 'UND_ERR_SOCKET') {
      return head
        ? badAnswer('the answer was cut off in the middle', tried, error)
        : new DialError('cut', tried, error);
    }
    if (life.signal.aborted || code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED') {
      return interrupted(error, tried);
    }
    if (code !== '' && code !== 'UND_ERR_INVALID_ARG') return new DialError(dialFailureOf(error), tried, error);
    return error;
  }

  return {
    endpoint,
    send: async (request) => {
      const { Pool } = await openUndici(request);
      pool ??= new Pool(origin, { ...clientOptions(), connections: CONNECTIONS });
      return await send(pool, request);
    },
    async overOwnConnection(work) {
      const { Client } = await openUndici();
      const client = new Client(origin, clientOptions());
      using _ended = onAbort(life.signal, () => void client.destroy());
      try {
        return await work((request) => send(client, request));
      } finally {
        await client.destroy();
      }
    },
    async close() {
      life.abort();
      life = new AbortController();
      const ended = pool;
      pool = undefined;
      await ended?.destroy();
    },
  };
}

/** From here on an answer is put together in place: its pieces and the whole beside them would be twice the memory. */
const LARGE_BYTES = MiB;

/** Puts an answer together; `announced` is its length where the head names one. */
function collector(announced: number) {
  const whole = announced >= LARGE_BYTES ? Buffer.allocUnsafeSlow(announced) : null;
  const chunks: Uint8Array[] = [];
  let size = 0;
  return {
    size: () => size,
    add(chunk: Uint8Array): void {
      if (whole === null) chunks.push(chunk);
      else whole.set(chunk, size);
      size += chunk.byteLength;
    },
    take: (): Buffer => (whole === null ? Buffer.concat(chunks) : whole.subarray(0, size)),
  };
}

function headerText(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? value[0] : value) ?? '';
}

function sizeText(bytes: number): string {
  return bytes >= MiB ? `${bytes / MiB} MiB` : `${bytes} bytes`;
}
