import type { z } from 'zod';
import { type ErrorCode, errorTable, GwError, type Tried } from '../error/index.ts';
import type { CheckContext, Toolkit } from './toolkit.ts';

export interface OperatorAccess {
  /** Asks the full socket of the running gateway. Throws OPERATOR_NOT_REACHABLE, or the error that it answers. */
  ask<T extends z.ZodType>(method: 'GET' | 'POST', path: string, schema: T, body?: object): Promise<z.output<T>>;
}

const TIMEOUT_MS = 5_000;

/** The running gateway as a program on site uses it. */
export function operatorAccess({ site }: Toolkit, { signal }: CheckContext, host = '127.0.0.1'): OperatorAccess {
  const { port } = site.operator;
  const base = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return {
    async ask(method, path, schema, body) {
      const tried: Tried = { address: host, port, action: `${method} ${path}` };
      const { status, json } = await fetchJson(`${base}${path}`, method, body, signal).catch((cause: unknown) => {
        signal.throwIfAborted();
        throw new GwError('OPERATOR_NOT_REACHABLE', 'not connected: the operator server does not answer.', {
          tried,
          cause,
        });
      });
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

async function fetchJson(url: string, method: string, body: object | undefined, signal: AbortSignal) {
  const response = await fetch(url, {
    method,
    redirect: 'error',
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  return { status: response.status, json: (await response.json()) as unknown };
}

/** An error of the operator server is an error of ours with the same code, where it is one of the table. */
function answeredError(status: number, json: unknown, tried: Tried): GwError {
  const error = (json as { error?: { code?: unknown; message?: unknown; remedy?: unknown; tried?: Tried } } | null)
    ?.error;
  const message = typeof error?.message === 'string' ? error.message : `The operator server answered with ${status}.`;
  const known = typeof error?.code === 'string' && Object.hasOwn(errorTable, error.code);
  return new GwError(known ? (error.code as ErrorCode) : 'OPERATOR_NOT_REACHABLE', message, {
    tried: error?.tried ?? tried,
    remedy: typeof error?.remedy === 'string' ? error.remedy : undefined,
    details: { status },
  });
}
