import type { Socket } from 'node:net';
import type { Agent } from 'undici';
import type { z } from 'zod';
import { type ErrorCode, errorTable, GwError, type Tried } from '../error/index.ts';
import { DialError, type Dialer, viaOf } from '../net/index.ts';
import { answeredErrorSchema } from './answered-error.ts';
import type { CheckContext, Toolkit } from './toolkit.ts';

export interface OperatorAccess {
  /** Asks the full socket of the running gateway. Throws OPERATOR_NOT_REACHABLE, or the error that it answers. */
  ask<T extends z.ZodType>(method: 'GET' | 'POST', path: string, schema: T, body?: object): Promise<z.output<T>>;
}

const TIMEOUT_MS = 5_000;
const DIAL_MS = 2_000;
const MOST_BYTES = 4 * 1024 * 1024;

/**
 * The running gateway as a program on site uses it, by the dialer of the toolkit: through another machine, 127.0.0.1
 * is that machine.
 */
export function operatorAccess(
  { site, dialer }: Toolkit,
  { signal }: CheckContext,
  host = '127.0.0.1',
): OperatorAccess {
  const { port } = site.operator;
  const base = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return {
    async ask(method, path, schema, body) {
      const via = viaOf(dialer);
      const tried: Tried = { address: host, port, ...(via !== undefined && { via }), action: `${method} ${path}` };
      const request = { origin: base, path, method, body };
      const { status, text } = await fetchText(dialer, request, signal).catch((cause: unknown) => {
        signal.throwIfAborted();
        // The way there is the trouble, not the gateway.
        if (cause instanceof GwError && !(cause instanceof DialError)) throw cause;
        throw new GwError('OPERATOR_NOT_REACHABLE', 'not connected: the operator server does not answer.', {
          tried,
          cause,
        });
      });
      const json = text === null ? undefined : asJson(text);
      if (status >= 400) throw answeredError(status, json, tried);
      const result = schema.safeParse(json);
      if (result.success) return result.data;
      throw new GwError('OPERATOR_NOT_REACHABLE', 'Something answers there, but not as the operator server does.', {
        tried,
        cause: result.error,
      });
    },
  };
}

/** Connections are kept open from one question to the next: each would cost a way there and back. */
const agents = new WeakMap<Dialer, Promise<Agent>>();

async function makeAgent(dialer: Dialer): Promise<Agent> {
  const { Agent } = await import('undici');
  return new Agent({
    connect({ hostname, port }, callback) {
      const host = hostname.replace(/^\[|\]$/g, '');
      dialer.dial({ host, port: Number(port) }, { timeoutMs: DIAL_MS }).then(
        // A dialer gives any byte stream; the client uses nothing of a socket beyond that without looking first.
        (stream) => callback(null, stream as Socket),
        (error: Error) => callback(error, null),
      );
    },
  });
}

interface Asked {
  readonly origin: string;
  readonly path: string;
  readonly method: 'GET' | 'POST';
  readonly body: object | undefined;
}

/** The text is null when there is more of it than any answer of the operator server has. */
async function fetchText(dialer: Dialer, { origin, path, method, body }: Asked, signal: AbortSignal) {
  const kept = agents.get(dialer) ?? makeAgent(dialer);
  agents.set(dialer, kept);
  const response = await (await kept).request({
    origin,
    path,
    method,
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > MOST_BYTES) return { status: response.statusCode, text: null };
    chunks.push(chunk);
  }
  return { status: response.statusCode, text: Buffer.concat(chunks).toString('utf8') };
}

/** Undefined when it is not JSON. */
export function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** An error of the operator server is an error of ours with the same code, where it is one of the table. */
function answeredError(status: number, json: unknown, tried: Tried): GwError {
  const { error } = answeredErrorSchema.safeParse(json).data ?? {};
  const known = error !== undefined && Object.hasOwn(errorTable, error.code);
  return new GwError(
    known ? (error.code as ErrorCode) : 'OPERATOR_NOT_REACHABLE',
    error?.message ?? `The operator server answered with ${status}.`,
    { tried: withoutUndefined(error?.tried) ?? tried, remedy: error?.remedy, details: { status } },
  );
}

function withoutUndefined(tried: z.output<typeof answeredErrorSchema>['error']['tried']): Tried | undefined {
  if (tried === undefined) return undefined;
  const { address, port, action, forMs } = tried;
  return {
    address,
    ...(port !== undefined && { port }),
    ...(action !== undefined && { action }),
    ...(forMs !== undefined && { forMs }),
  };
}
