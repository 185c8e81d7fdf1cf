import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { GwError, type Tried } from '../error/index.ts';
import { type JsonBounds, quote } from '../json/index.ts';
import type { Clock } from '../lifecycle/index.ts';
import { onAbort } from '../lifecycle/index.ts';
import type { Dispatcher, Pool } from '../net/http/index.ts';
import {
  afterOverLink,
  DialError,
  type Dialer,
  dialFailureOf,
  type Endpoint,
  foreignCoding,
  linkAllowanceMs,
  triedOver,
} from '../net/index.ts';
import { badAnswer, interrupted, malformedHttp, tooLarge, unaskedInterim } from './failure.ts';

/** Bounds on the size and duration of a response. */
export interface Limits {
  readonly maxBytes: number;
  readonly totalTimeoutMs: number;
  /** Timeout for the response head, then between two chunks; by default that of the transport. */
  readonly idleTimeoutMs?: number;
  /** Bounds of its JSON; by default those of a document. */
  readonly json?: JsonBounds;
}

const MiB = 1024 * 1024;

/** Project decision: parsing this much takes some milliseconds (see docs/performance.md). */
const documentBounds: JsonBounds = { maxDepth: 200, maxValues: 20_000 };
/** Project decision: overlay features sent as objects instead of text have a dozen values each. */
export const mapBounds: JsonBounds = { maxDepth: 200, maxValues: 4_000_000 };

/** Project decision: bounds of each kind of response. */
export const limits = {
  document: { maxBytes: MiB, totalTimeoutMs: 4_000, json: documentBounds },
  mapList: { maxBytes: MiB, totalTimeoutMs: 4_000, json: documentBounds },
  mapData: { maxBytes: 64 * MiB, totalTimeoutMs: 60_000, idleTimeoutMs: 10_000, json: mapBounds },
  picture: { maxBytes: 32 * MiB, totalTimeoutMs: 60_000, idleTimeoutMs: 10_000 },
  localisation: { maxBytes: 256 * MiB, totalTimeoutMs: 120_000, idleTimeoutMs: 10_000 },
  /** Storing a map takes a chassis longer than reading it; the duration is not known. */
  mapWrite: { maxBytes: 64 * MiB, totalTimeoutMs: 120_000, idleTimeoutMs: 60_000 },
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
  /** Bounds of its JSON, from the request. */
  readonly json: JsonBounds;
}

export interface Transport {
  readonly endpoint: Endpoint;
  /**
   * One request over a pooled connection. Throws CHASSIS_NOT_CONNECTED (a DialError), CHASSIS_BAD_ANSWER,
   * INTERRUPTED; does not check the status, except that a redirect is refused.
   */
  send(request: Request): Promise<Reply>;
  /** Several requests over a dedicated connection, opened before and closed after them. */
  overOwnConnection<T>(work: (send: Transport['send']) => Promise<T>): Promise<T>;
  /** Aborts every request and closes every socket. A later request dials again. */
  close(): Promise<void>;
}

export interface TransportOptions {
  readonly endpoint: Endpoint;
  readonly dialer: Dialer;
  readonly clock: Clock;
  /** Timeout for the response head, then between two chunks, in milliseconds. */
  readonly timeoutMs: number;
  /** Value of the `Secret` request header. */
  readonly secret?: string | undefined;
}

type HttpLibrary = typeof import('../net/http/index.ts');

let libraryLoading: Promise<HttpLibrary> | undefined;

/** A dial takes long only where no host answers; a robot segment answers within milliseconds. */
const MAX_DIAL_MS = 1_200;
const CONNECTIONS = 8;

export function createTransport(options: TransportOptions): Transport {
  const { endpoint, dialer, clock, timeoutMs } = options;
  const host = endpoint.host.includes(':') ? `[${endpoint.host}]` : endpoint.host;
  const origin = `http://${host}:${endpoint.port}`;
  let lifetime = new AbortController();
  let pool: Pool | undefined;

  const clientOptions = () => {
    const { signal } = lifetime;
    return {
      connect(_: unknown, callback: (...result: [null, Socket] | [Error, null]) => void) {
        dialer.dial(endpoint, { timeoutMs: Math.min(MAX_DIAL_MS, timeoutMs), signal }).then(
          // A dialer returns any byte stream; undici checks before it uses socket-only methods.
          (stream: Duplex) => callback(null, stream as Socket),
          (error: unknown) =>
            callback(error instanceof Error ? error : new DialError('other', triedHere(), error), null),
        );
      },
      pipelining: 1,
      keepAliveTimeout: 4_000,
      keepAliveMaxTimeout: 30_000,
      maxHeaderSize: 16 * 1024,
      // The deadlines are enforced here, with the injected clock.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
  };

  function triedHere(action?: string, forMs?: number): Tried {
    return {
      address: endpoint.host,
      port: endpoint.port,
      ...triedOver(dialer),
      ...(action !== undefined && { action }),
      ...(forMs !== undefined && { forMs: Math.round(forMs) }),
    };
  }

  /** Loaded with the first request: many commands create a transport and send none. Throws when closed meanwhile. */
  async function openLibrary(request?: Request): Promise<HttpLibrary> {
    const { signal } = lifetime;
    libraryLoading ??= import('../net/http/index.ts');
    const library = await libraryLoading;
    if (signal.aborted) throw interrupted(signal.reason, triedHere(request && `${request.method} ${request.path}`));
    return library;
  }

  async function send(dispatcher: Dispatcher, request: Request): Promise<Reply> {
    const began = clock.monotonicMs();
    const tried = () => triedHere(`${request.method} ${request.path}`, clock.monotonicMs() - began);
    if (request.signal?.aborted) throw interrupted(request.signal.reason, tried());
    // Not `firstOf`: on a signal that outlives thousands of requests, each request must leave nothing on any Node.
    const ending = new AbortController();
    using _aborted = onAbort(request.signal, () => ending.abort(request.signal?.reason));
    const idleTimeoutMs = request.limits.idleTimeoutMs ?? timeoutMs;
    let head = false;
    let late = false;
    const giveUp = () => {
      late = true;
      ending.abort();
    };
    try {
      using _deadline = afterOverLink(dialer, clock, idleTimeoutMs, () => {
        if (!head) giveUp();
      });
      const response = await dispatchOnce(dispatcher, request, ending.signal);
      head = true;
      return await receive(response, request, giveUp, began, tried);
    } catch (error) {
      if (request.signal?.aborted) throw interrupted(request.signal.reason, tried());
      if (!late) throw translate(error, tried(), head);
      if (head) throw badAnswer('the response did not complete in time', tried());
      throw new DialError('no-answer', tried());
    }
  }

  /** The chassis may just have closed a keep-alive connection; a GET can be repeated safely. */
  async function dispatchOnce(dispatcher: Dispatcher, request: Request, signal: AbortSignal) {
    const { requestOver } = await openLibrary(request);
    const ask = () =>
      requestOver(dispatcher, {
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
    const reject = (what: string) => {
      body.on('error', () => {});
      body.destroy();
      return badAnswer(what, tried());
    };
    if (status >= 300 && status < 400 && status !== 304) {
      throw reject(`redirect to ${quote(headerText(headers.location) || 'no location')} refused`);
    }
    const { maxBytes, totalTimeoutMs, idleTimeoutMs = timeoutMs } = request.limits;
    const excess = `response larger than ${sizeText(maxBytes)}`;
    const announced = Number(headerText(headers['content-length']));
    if (announced > maxBytes) {
      reject(excess);
      throw tooLarge(excess, tried());
    }
    // No compression was requested; a few bytes could decompress to gigabytes.
    const coding = foreignCoding(headers['content-encoding']);
    if (coding !== null) throw reject(`unrequested content encoding ${quote(coding)}`);

    let lastChunkAt = clock.monotonicMs();
    using _watch = clock.every(Math.max(20, idleTimeoutMs / 8), () => {
      const now = clock.monotonicMs() - linkAllowanceMs(dialer);
      if (now - lastChunkAt > idleTimeoutMs || now - began > totalTimeoutMs) giveUp();
    });
    const bytes = collector(announced);
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      lastChunkAt = clock.monotonicMs();
      if (bytes.size() + chunk.byteLength > maxBytes) throw tooLarge(excess, tried());
      bytes.add(chunk);
    }
    return { status, body: bytes.join(), tried: tried(), json: request.limits.json ?? documentBounds };
  }

  function translate(error: unknown, tried: Tried, head: boolean): unknown {
    if (error instanceof DialError) return new DialError(error.failure, tried, error.cause);
    if (error instanceof GwError) return error;
    const { code = '', name = '' } = error as { code?: string; name?: string };
    if (name === 'HTTPParserError' || code.startsWith('HPE_')) {
      return malformedHttp(error as Error, tried);
    }
    // The library stumbles over 101 without an Upgrade header.
    if (code === 'ERR_ASSERTION') return unaskedInterim('101 Switching Protocols', tried, error);
    if (code === 'UND_ERR_HEADERS_OVERFLOW') return badAnswer('response head too large', tried, error);
    if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') {
      // Before the head it is what the library makes of any fault in a head with a length.
      const what = 'malformed HTTP response: two Content-Length headers, or another fault in its head';
      return badAnswer(head ? 'response shorter or longer than its Content-Length' : what, tried, error);
    }
    if (code === 'UND_ERR_SOCKET') {
      if (head) return badAnswer('connection closed in the middle of the response', tried, error);
      // The library has one code for these, and differs in its texts only.
      const { message } = error as Error;
      if (message === 'bad response') return unaskedInterim('100 Continue', tried, error);
      if (message === 'bad upgrade') return unaskedInterim('101 Switching Protocols', tried, error);
      return new DialError('closed', tried, error);
    }
    if (lifetime.signal.aborted || code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED') {
      return interrupted(error, tried);
    }
    if (code !== '' && code !== 'UND_ERR_INVALID_ARG') return new DialError(dialFailureOf(error), tried, error);
    return error;
  }

  return {
    endpoint,
    send: async (request) => {
      const { Pool } = await openLibrary(request);
      pool ??= new Pool(origin, { ...clientOptions(), connections: CONNECTIONS });
      return await send(pool, request);
    },
    async overOwnConnection(work) {
      const { Client } = await openLibrary();
      const client = new Client(origin, clientOptions());
      using _ended = onAbort(lifetime.signal, () => void client.destroy());
      try {
        return await work((request) => send(client, request));
      } finally {
        await client.destroy();
      }
    },
    async close() {
      lifetime.abort();
      lifetime = new AbortController();
      const ended = pool;
      pool = undefined;
      await ended?.destroy();
    },
  };
}

/** From this size a response is assembled in place: chunks and a copy would need twice the memory. */
const LARGE_BYTES = MiB;

/** Assembles a response; `announced` is its Content-Length, if any. */
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
    join: (): Buffer => (whole === null ? Buffer.concat(chunks) : whole.subarray(0, size)),
  };
}

function headerText(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? value[0] : value) ?? '';
}

function sizeText(bytes: number): string {
  return bytes >= MiB ? `${bytes / MiB} MiB` : `${bytes} bytes`;
}
