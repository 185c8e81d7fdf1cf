import type { Duplex } from 'node:stream';
import { GwError } from '../../../error/index.ts';
import type { Clock } from '../../../lifecycle/index.ts';
import { onAbort } from '../../../lifecycle/index.ts';
import { DialError, type Dialer, type Endpoint, viaOf } from '../../../net/index.ts';

/** What came back on one connection. */
interface Exchange {
  /** Every status on the connection, in order; empty when nothing that is HTTP came back. */
  readonly statuses: readonly number[];
  /** Header lines of the first answer, in lower case. */
  readonly head: string;
  /** What followed them, cut at the limit. */
  readonly body: string;
}

/** Sends bytes on a connection of their own. */
export type Ask = (socket: Endpoint, bytes: string) => Promise<Exchange>;

export interface RawHttp {
  /** Sends the bytes as they are and reads until the peer closes, goes quiet or says too much. */
  send(endpoint: Endpoint, bytes: string, signal: AbortSignal): Promise<Exchange>;
}

const DIAL_TIMEOUT_MS = 2_000;
const ANSWER_TIMEOUT_MS = 4_000;
/** After the first answer, how long more may come on a connection that stays open. */
const QUIET_MS = 250;
const MOST_BYTES = 1024 * 1024;

/**
 * HTTP without a client library, because a check must be able to say things that no library says. Throws
 * OPERATOR_NOT_REACHABLE when nobody takes the connection.
 */
export function createRawHttp(dialer: Dialer, clock: Clock): RawHttp {
  return {
    async send(endpoint, bytes, signal) {
      const socket = await dialer.dial(endpoint, { timeoutMs: DIAL_TIMEOUT_MS, signal }).catch((cause: unknown) => {
        signal.throwIfAborted();
        // The way there is the trouble, not the server.
        if (cause instanceof GwError && !(cause instanceof DialError)) throw cause;
        const via = viaOf(dialer);
        throw new GwError('OPERATOR_NOT_REACHABLE', 'not connected: the operator server does not answer.', {
          tried: { address: endpoint.host, port: endpoint.port, ...(via !== undefined && { via }) },
          cause,
        });
      });
      return exchange(socket, bytes, signal, clock);
    },
  };
}

async function exchange(socket: Duplex, bytes: string, signal: AbortSignal, clock: Clock): Promise<Exchange> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const chunks: Buffer[] = [];
  let size = 0;
  let quiet: Disposable | undefined;
  using _aborted = onAbort(signal, () => reject(signal.reason));
  using _late = clock.after(ANSWER_TIMEOUT_MS, resolve);
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MOST_BYTES) resolve();
    quiet?.[Symbol.dispose]();
    quiet = clock.after(QUIET_MS, resolve);
  });
  socket.on('error', () => resolve());
  socket.on('end', () => resolve());
  socket.on('close', () => resolve());
  try {
    signal.throwIfAborted();
    socket.write(bytes);
    await promise;
  } finally {
    quiet?.[Symbol.dispose]();
    socket.destroy();
  }
  return parse(Buffer.concat(chunks).toString('latin1'));
}

function parse(text: string): Exchange {
  const end = text.indexOf('\r\n\r\n');
  const body = end < 0 ? '' : text.slice(end + 4);
  return {
    statuses: [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1])),
    head: (end < 0 ? text : text.slice(0, end)).toLowerCase(),
    body: Buffer.from(body, 'latin1').toString('utf8'),
  };
}

export interface PlainRequest {
  readonly method: string;
  /** As it goes on the wire, whatever it is. */
  readonly target: string;
  readonly host: string;
  readonly headers?: readonly string[];
  readonly body?: string;
}

/** The bytes of one request that ends its connection. */
export function requestBytes({ method, target, host, headers = [], body }: PlainRequest): string {
  const lines = [`${method} ${target} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...headers];
  if (body !== undefined) lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`);
  return `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`;
}

/** `192.0.2.7:5173`, `[::1]:5173`. */
export function hostHeader({ host, port }: Endpoint): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
