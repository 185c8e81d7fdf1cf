import type { Duplex } from 'node:stream';
import { GwError } from '../../../error/index.ts';
import type { Clock } from '../../../lifecycle/index.ts';
import { onAbort } from '../../../lifecycle/index.ts';
import { afterOverLink, DialError, type Dialer, type Endpoint, triedOver } from '../../../net/index.ts';

/** The answers on one connection. */
interface Exchange {
  /** Every status on the connection, in order; empty without an HTTP answer. */
  readonly statuses: readonly number[];
  /** The rest, truncated at the limit. */
  readonly body: string;
}

/** Sends bytes on a connection of their own. */
export type Ask = (socket: Endpoint, bytes: string) => Promise<Exchange>;

export interface RawHttp {
  /** Sends raw bytes and reads until the peer closes, pauses or exceeds the limit. */
  send(endpoint: Endpoint, bytes: string, signal: AbortSignal): Promise<Exchange>;
}

const DIAL_TIMEOUT_MS = 2_000;
const ANSWER_TIMEOUT_MS = 4_000;
/** Pause after which the answers on an open connection count as complete. */
const QUIET_MS = 250;
const MAX_BYTES = 1024 * 1024;

/**
 * HTTP without a client library, because a check sends requests that no library can send. Throws
 * OPERATOR_NOT_REACHABLE when the connection fails.
 */
export function createRawHttp(dialer: Dialer, clock: Clock): RawHttp {
  return {
    async send(endpoint, bytes, signal) {
      const socket = await dialer.dial(endpoint, { timeoutMs: DIAL_TIMEOUT_MS, signal }).catch((cause: unknown) => {
        signal.throwIfAborted();
        // The error of the transport, not of the server.
        if (cause instanceof GwError && !(cause instanceof DialError)) throw cause;
        throw new GwError('OPERATOR_NOT_REACHABLE', 'not connected: the operator server does not answer.', {
          tried: { address: endpoint.host, port: endpoint.port, ...triedOver(dialer) },
          cause,
        });
      });
      return exchange(socket, bytes, signal, (ms, fn) => afterOverLink(dialer, clock, ms, fn));
    },
  };
}

async function exchange(
  socket: Duplex,
  bytes: string,
  signal: AbortSignal,
  after: (ms: number, fn: () => void) => Disposable,
): Promise<Exchange> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const chunks: Buffer[] = [];
  let size = 0;
  let quiet: Disposable | undefined;
  using _aborted = onAbort(signal, () => reject(signal.reason));
  using _late = after(ANSWER_TIMEOUT_MS, resolve);
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_BYTES) resolve();
    quiet?.[Symbol.dispose]();
    quiet = after(QUIET_MS, resolve);
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
    body: Buffer.from(body, 'latin1').toString('utf8'),
  };
}

export interface PlainRequest {
  readonly method: string;
  /** Request target as sent. */
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
