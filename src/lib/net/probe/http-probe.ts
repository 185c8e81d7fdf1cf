import type { Duplex } from 'node:stream';
import { type Clock, onAbort, systemClock } from '../../lifecycle/index.ts';
import { HEAD_MOST_BYTES, type HttpHead, parseHttpDate, parseHttpHead } from './http-date.ts';
import { type TlsFailure, tlsFailureOf } from './tls-probe.ts';

interface HttpProbeOptions {
  /** As it stands in the Host header: `storage.example.com`, with the port where it is not 443. */
  readonly authority: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
}

export interface HttpProbeWithLook<T> extends HttpProbeOptions {
  /** Called while the connection still stands, after everything was sent; its result comes back as `info`. */
  readonly beforeClose: () => Promise<T>;
}

/** What an HTTPS server answered to `HEAD /`. */
export type HttpProbe = { readonly tookMs: number } & (
  | {
      readonly kind: 'answered';
      /** Any status is an answer: it is the way that is looked at, not what lies there. */
      readonly status: number;
      readonly clock: ClockDifference | null;
      /**
       * Whether a request that needs several packets of full size was answered on the same connection; 'not-checked'
       * when the server closed it after the first answer.
       */
      readonly large: 'answered' | 'no-answer' | 'not-checked';
    }
  | { readonly kind: 'not-http' | 'no-answer' }
  | { readonly kind: 'closed'; readonly failure: TlsFailure }
);

/** The server's clock against the one of this machine. */
export interface ClockDifference {
  /** Positive: the clock of this machine is behind, in milliseconds. */
  readonly behindMs: number;
  /** A date in HTTP has whole seconds, and the answer was under way: it may be off by so much either way. */
  readonly uncertainMs: number;
}

/** Three packets of 1500 bytes at least, and less than any server takes for too many headers. */
const PADDING = 'x'.repeat(4_096);

/**
 * Asks `HEAD /` twice on one open connection, the second time with a header of 4 KiB. Nothing of this device is told.
 * Closes the stream. Never throws but for the signal.
 */
export async function probeHttps<T>(
  stream: Duplex,
  options: HttpProbeWithLook<T>,
): Promise<{ readonly probe: HttpProbe; readonly info: T }> {
  try {
    const probe = await askTwice(stream, options);
    return { probe, info: await options.beforeClose() };
  } finally {
    stream.on('error', () => {});
    stream.destroy();
  }
}

async function askTwice(stream: Duplex, options: HttpProbeOptions): Promise<HttpProbe> {
  const { authority, timeoutMs, signal, clock = systemClock } = options;
  signal.throwIfAborted();
  const beganMs = clock.monotonicMs();
  const tookMs = () => Math.round(clock.monotonicMs() - beganMs);
  const ask = createAsking(stream, signal);
  const sentAt = clock.wall().getTime();
  const first = await ask(requestText(authority), clock, timeoutMs);
  const wayMs = clock.monotonicMs() - beganMs;
  if (first.kind !== 'answered') return { ...first, tookMs: tookMs() };
  const { status, headers } = first.head;
  const date = parseHttpDate(headers.get('date') ?? '');
  const isOpen = headers.get('connection')?.toLowerCase() !== 'close';
  const left = timeoutMs - wayMs;
  const second = isOpen && left > 0 ? await ask(requestText(authority, PADDING), clock, left) : null;
  return {
    kind: 'answered',
    status,
    clock: date === null ? null : clockDifference(date, sentAt, wayMs),
    large: second?.kind === 'answered' ? 'answered' : second?.kind === 'no-answer' ? 'no-answer' : 'not-checked',
    tookMs: tookMs(),
  };
}

/** A date stands for its whole second, and was written at some moment of the way. */
export function clockDifference(date: Date, sentAtMs: number, wayMs: number): ClockDifference {
  return {
    behindMs: Math.round(date.getTime() + 500 - (sentAtMs + wayMs / 2)),
    uncertainMs: Math.ceil(500 + wayMs / 2),
  };
}

function requestText(authority: string, padding?: string): string {
  const more = padding === undefined ? [] : [`X-Padding: ${padding}`];
  return `${['HEAD / HTTP/1.1', `Host: ${authority}`, 'User-Agent: gw', 'Accept: */*', ...more].join('\r\n')}\r\n\r\n`;
}

type Answer =
  | { readonly kind: 'answered'; readonly head: HttpHead }
  | { readonly kind: 'not-http' | 'no-answer' }
  | { readonly kind: 'closed'; readonly failure: TlsFailure };

function createAsking(stream: Duplex, signal: AbortSignal) {
  return async (text: string, clock: Clock, timeoutMs: number): Promise<Answer> => {
    let come = Buffer.alloc(0);
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const onData = (bytes: Buffer) => {
      come = Buffer.concat([come, bytes.subarray(0, HEAD_MOST_BYTES)]);
      const head = parseHttpHead(come);
      if (head === null) resolve({ kind: 'not-http' });
      else if (head !== 'unfinished') resolve({ kind: 'answered', head });
    };
    const onError = (error: Error) => resolve({ kind: 'closed', failure: tlsFailureOf(error) });
    const onEnd = () => resolve({ kind: 'closed', failure: { kind: 'cut' } });
    stream.on('data', onData);
    stream.on('error', onError);
    stream.once('end', onEnd);
    stream.once('close', onEnd);
    using _aborted = onAbort(signal, () => reject(signal.reason));
    using _late = clock.after(timeoutMs, () => resolve({ kind: 'no-answer' }));
    try {
      if (stream.destroyed || stream.readableEnded) onEnd();
      else stream.write(text);
      return await promise;
    } finally {
      stream.off('data', onData);
      stream.off('error', onError);
      stream.off('end', onEnd);
      stream.off('close', onEnd);
    }
  };
}
