import type { Duplex } from 'node:stream';
import { type Clock, onAbort, systemClock } from '../../lifecycle/index.ts';
import type { ClockDifference } from '../clock-agreement.ts';
import { type TlsFailure, tlsFailureOf } from './tls-probe.ts';

/** Status and header fields of an HTTP/1.x response; names in lower case, the first value of each. */
interface HttpHead {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
}

/** Project decision: a longer response head is rejected. */
const MAX_HEAD_BYTES = 32 * 1024;

interface HttpProbeOptions {
  /** Value of the Host header: `storage.example.com`, with the port where it is not 443. */
  readonly hostHeader: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
}

export interface HttpProbeWithInfo<T> extends HttpProbeOptions {
  /** Called after everything was sent, while the connection is still open; its result is returned as `info`. */
  readonly beforeClose: () => Promise<T>;
}

/** The response of an HTTPS server to `HEAD /`. */
export type HttpProbe = { readonly tookMs: number } & (
  | {
      readonly kind: 'answered';
      /** Any status counts: the network path is checked, not the resource. */
      readonly status: number;
      readonly clock: ClockDifference | null;
      /**
       * Whether a request of several full-size packets was answered on the same connection; 'not-checked' when the
       * server closed it after the first response.
       */
      readonly large: 'answered' | 'no-answer' | 'not-checked';
    }
  | { readonly kind: 'not-http' }
  | Unanswered
);

/** At least three packets of 1500 bytes, and below the header limits of common servers. */
const PADDING = 'x'.repeat(4_096);

/**
 * Sends `HEAD /` twice on one open connection, the second time with a header of 4 KiB. Sends no data of this device.
 * Closes the stream. Throws only the reason of the signal.
 */
export async function probeHttps<T>(
  stream: Duplex,
  options: HttpProbeWithInfo<T>,
): Promise<{ readonly probe: HttpProbe; readonly info: T }> {
  try {
    const probe = await requestTwice(stream, options);
    return { probe, info: await options.beforeClose() };
  } finally {
    stream.on('error', () => {});
    stream.destroy();
  }
}

/**
 * Parses the preferred form of an HTTP date (`Sun, 06 Nov 1994 08:49:37 GMT`, whole seconds, always GMT). Null for
 * everything else, also for the two obsolete forms and for a wrong day of the week, because a misread date would make a
 * correct clock look wrong.
 */
export function parseHttpDate(text: string): Date | null {
  const date = new Date(text);
  return date.toUTCString() === text && !Number.isNaN(date.getTime()) ? date : null;
}

/**
 * Parses the head of a response from the bytes received so far. 'unfinished' while the empty line is missing; null when
 * it is not HTTP/1.x or too long. Interim responses (100) and invalid header lines are skipped.
 */
export function parseHttpHead(bytes: Uint8Array): HttpHead | 'unfinished' | null {
  const received = Buffer.from(bytes.subarray(0, MAX_HEAD_BYTES)).toString('latin1');
  // The final response follows, and would be taken for that of the next request.
  const text = received.replace(/^(?:HTTP\/1\.[01] 1(?!01)\d\d.*?\r\n\r\n)+/s, '');
  if (!'HTTP/1.'.startsWith(text.slice(0, 7))) return null;
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return bytes.length >= MAX_HEAD_BYTES ? null : 'unfinished';
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const status = /^HTTP\/1\.[01] (\d{3})(?: .*)?$/.exec(statusLine)?.[1];
  if (status === undefined) return null;
  const headers = new Map<string, string>();
  for (const line of lines) {
    const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/.exec(line);
    const name = match?.[1]?.toLowerCase();
    if (name !== undefined && !headers.has(name)) headers.set(name, match?.[2] ?? '');
  }
  return { status: Number(status), headers };
}

async function requestTwice(stream: Duplex, options: HttpProbeOptions): Promise<HttpProbe> {
  const { hostHeader, timeoutMs, signal, clock = systemClock } = options;
  signal.throwIfAborted();
  const beganMs = clock.monotonicMs();
  const tookMs = () => Math.round(clock.monotonicMs() - beganMs);
  const first = await probeDate(stream, { hostHeader, timeoutMs, signal, clock });
  if (first.kind !== 'answered') return { ...first, tookMs: tookMs() };
  const left = timeoutMs - (clock.monotonicMs() - beganMs);
  const large = { read: headReader(), timeoutMs: left, signal, clock };
  const second = first.isOpen && left > 0 ? await exchange(stream, requestText(hostHeader, PADDING), large) : null;
  return {
    kind: 'answered',
    status: first.status,
    clock: first.clock,
    large: second?.kind === 'answered' ? 'answered' : second?.kind === 'no-answer' ? 'no-answer' : 'not-checked',
    tookMs: tookMs(),
  };
}

/** The response to one `HEAD /`; `clock` is null without a date, or where a cache answered. */
type DateProbe =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly clock: ClockDifference | null;
      /** Whether the server keeps the connection. */
      readonly isOpen: boolean;
    }
  | { readonly kind: 'not-http' }
  | Unanswered;

/**
 * Sends `HEAD /` once over an open stream and compares the date of the answer with the wall clock. Sends no data of this
 * device; the stream stays open. Throws only the reason of the signal.
 */
export async function probeDate(
  stream: Duplex,
  { hostHeader, timeoutMs, signal, clock = systemClock }: HttpProbeOptions,
): Promise<DateProbe> {
  signal.throwIfAborted();
  const [beganMs, sentAt] = [clock.monotonicMs(), clock.wall().getTime()];
  const answer = await exchange(stream, requestText(hostHeader), { read: headReader(), timeoutMs, signal, clock });
  const roundTripMs = clock.monotonicMs() - beganMs;
  if (answer.kind !== 'answered') return answer;
  const { status, headers } = answer.head;
  const date = parseHttpDate(headers.get('date') ?? '');
  // A cache passes on the date at which the origin answered. @source RFC 9111, 5.1
  const isCached = !/^0*$/.test(headers.get('age') ?? '');
  return {
    kind: 'answered',
    status,
    clock: date === null || isCached ? null : clockDifference(date, sentAt, roundTripMs),
    isOpen: headers.get('connection')?.toLowerCase() !== 'close',
  };
}

function headReader() {
  let received = Buffer.alloc(0);
  return (bytes: Buffer) => {
    received = Buffer.concat([received, bytes.subarray(0, MAX_HEAD_BYTES)]);
    const head = parseHttpHead(received);
    if (head === null) return { kind: 'not-http' } as const;
    return head === 'unfinished' ? undefined : ({ kind: 'answered', head } as const);
  };
}

/** A date stands for its whole second, and was written at some moment of the round trip. */
export function clockDifference(date: Date, sentAtMs: number, roundTripMs: number): ClockDifference {
  return {
    behindMs: Math.round(date.getTime() + 500 - (sentAtMs + roundTripMs / 2)),
    uncertainMs: Math.ceil(500 + roundTripMs / 2),
  };
}

function requestText(hostHeader: string, padding?: string): string {
  const more = padding === undefined ? [] : [`X-Padding: ${padding}`];
  return `${['HEAD / HTTP/1.1', `Host: ${hostHeader}`, 'User-Agent: gw', 'Accept: */*', 'Cache-Control: no-cache', ...more].join('\r\n')}\r\n\r\n`;
}

/** How a request over an open stream failed. */
export type Unanswered =
  | { readonly kind: 'no-answer' }
  /** The connection was closed without an answer. */
  | { readonly kind: 'closed'; readonly failure: TlsFailure };

interface Exchange<T> {
  /** The answer, as soon as the bytes of these chunks hold one. */
  readonly read: (bytes: Buffer) => T | undefined;
  /** Why the stream has already ended; null: still open. */
  readonly ended?: () => TlsFailure | null;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** Writes a request and waits for its answer; the stream stays open. Throws only the reason of the signal. */
export async function exchange<T>(
  stream: Duplex,
  request: string | Buffer,
  { read, ended = () => null, timeoutMs, signal, clock }: Exchange<T>,
): Promise<T | Unanswered> {
  const { promise, resolve, reject } = Promise.withResolvers<T | Unanswered>();
  const close = (failure: TlsFailure) => resolve({ kind: 'closed', failure });
  const onData = (bytes: Buffer) => {
    const answer = read(bytes);
    if (answer !== undefined) resolve(answer);
  };
  const onError = (error: Error) => close(tlsFailureOf(error));
  const onEnd = () => close({ kind: 'cut' });
  stream.on('data', onData).on('error', onError).once('end', onEnd).once('close', onEnd);
  using _aborted = onAbort(signal, () => reject(signal.reason));
  using _late = clock.after(timeoutMs, () => resolve({ kind: 'no-answer' }));
  try {
    // With TLS 1.3 a peer rejects a client certificate after the handshake, perhaps before this listener was added.
    const failure = ended();
    if (failure !== null) close(failure);
    else if (stream.destroyed || stream.readableEnded) onEnd();
    else stream.write(request);
    return await promise;
  } finally {
    stream.off('data', onData).off('error', onError).off('end', onEnd).off('close', onEnd);
  }
}
