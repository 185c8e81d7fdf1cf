import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { Tried } from '../error/index.ts';
import { quote, readJsonBytes } from '../json/index.ts';
import type { Clock } from '../lifecycle/index.ts';
import { firstOf } from '../lifecycle/index.ts';
import { DialError, type Dialer, dialFailureText, type Endpoint, foreignCoding } from '../net/index.ts';
import { parseHttpDate, probeTls, type VerifiedBy } from '../net/probe/index.ts';
import { shorten } from '../text/index.ts';
import {
  badAnswer,
  exchangeFailure,
  handshakeFailure,
  notReachable,
  redirected,
  refusal,
  untrusted,
} from './exchange-failure.ts';
import type { Credentials } from './model.ts';
import { answerSchema, ENROLMENT_PATH, type EnrolmentAnswer } from './wire.ts';

/** Project decision: timeouts in milliseconds, and the maximum size of an answer. */
export interface ExchangeLimits {
  readonly dialMs: number;
  readonly handshakeMs: number;
  readonly answerMs: number;
  readonly answerBytes: number;
}

export const exchangeLimits: ExchangeLimits = {
  dialMs: 10_000,
  handshakeMs: 10_000,
  answerMs: 30_000,
  answerBytes: 64 * 1024,
};

export interface ExchangeOptions {
  /** `enrolment.url` of the site file. */
  readonly url: string;
  /** Certificates (PEM) to trust; undefined for Node's bundled list and the operating system's. */
  readonly trust: string | undefined;
  /** The client certificate, shown to an endpoint that asks for one; absent: none. */
  readonly credentials?: Pick<Credentials, 'keyPem' | 'certificatePem'> | undefined;
  readonly dialer: Dialer;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly limits: ExchangeLimits;
  /** Called when the endpoint is verified, before anything is sent. */
  readonly onConnected: (verifiedBy: VerifiedBy) => Promise<void> | void;
  /** Called when the whole request was sent. */
  readonly onSent: () => Promise<void> | void;
}

export interface Exchanged {
  readonly answer: EnrolmentAnswer;
  /** Date header of the answer; null without one. */
  readonly serverAt: Date | null;
}

/**
 * Sends one request over TLS and reads its answer. Nothing is sent before the endpoint is verified, and no redirect is
 * followed, so that the one-time code is sent only to the configured address. Throws
 * ENROLMENT_NOT_REACHABLE, ENROLMENT_UNTRUSTED, ENROLMENT_BAD_ANSWER, ENROLMENT_UNAVAILABLE, ENROLMENT_REFUSED.
 * `secret` is removed from texts of the endpoint in errors; null: there is none.
 */
export async function exchange(body: string, secret: string | null, options: ExchangeOptions): Promise<Exchanged> {
  const { clock, signal, limits } = options;
  const target = targetOf(options.url);
  const began = clock.monotonicMs();
  const tried = (): Tried => ({
    address: target.host,
    port: target.port,
    action: `POST ${target.path}`,
    forMs: Math.round(clock.monotonicMs() - began),
  });
  const stream = await dial(target, options, tried);
  try {
    const { tls, verifiedBy } = await secure(stream, target, options, tried);
    await options.onConnected(verifiedBy);
    return await post(tls, body, target, options, {
      tried,
      isByCode: secret !== null,
      hide: (text) => (secret === null ? text : text.split(secret).join('[redacted]')),
    });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw error;
  } finally {
    stream.on('error', () => {});
    stream.destroy();
  }

  async function dial(endpoint: Endpoint, { dialer }: ExchangeOptions, at: () => Tried): Promise<Duplex> {
    try {
      return await dialer.dial(endpoint, { timeoutMs: limits.dialMs, signal });
    } catch (cause) {
      if (signal.aborted || !(cause instanceof DialError)) throw cause;
      throw notReachable(dialFailureText[cause.failure], at(), cause.failure, cause);
    }
  }
}

/** Host, port and path of the request. */
function targetOf(url: string): Endpoint & { readonly path: string; readonly hostHeader: string } {
  const { hostname, port, pathname, host } = new URL(url);
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? 443 : Number(port),
    path: `${pathname.replace(/\/+$/, '')}${ENROLMENT_PATH}`,
    hostHeader: host,
  };
}

/** Performs the TLS handshake; returns only for a verified endpoint. */
async function secure(
  stream: Duplex,
  target: Endpoint,
  { trust, credentials, clock, signal, limits }: ExchangeOptions,
  tried: () => Tried,
): Promise<{ readonly tls: TLSSocket; readonly verifiedBy: VerifiedBy }> {
  const probe = await probeTls(stream, {
    host: target.host,
    trusted: trust ?? 'system',
    credentials,
    timeoutMs: limits.handshakeMs,
    signal,
    clock,
  });
  if (probe.kind === 'failed') throw handshakeFailure(probe.failure, tried());
  const { socket } = probe;
  socket.on('error', () => {});
  // Both the library's result and its classification must be positive.
  if (socket.authorized && probe.trust.kind === 'trusted') return { tls: socket, verifiedBy: probe.trust.by };
  const failure = untrusted(probe, clock.wall(), tried());
  socket.destroy();
  throw failure;
}

async function post(
  tls: TLSSocket,
  body: string,
  target: ReturnType<typeof targetOf>,
  { clock, signal, limits, onSent }: ExchangeOptions,
  say: { readonly tried: () => Tried; readonly hide: (text: string) => string; readonly isByCode: boolean },
): Promise<Exchanged> {
  const late = new AbortController();
  using _timer = clock.after(limits.answerMs, () => late.abort());
  const request = httpRequest({
    method: 'POST',
    path: target.path,
    headers: {
      Host: target.hostHeader,
      Accept: 'application/json',
      'Accept-Encoding': 'identity',
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      Connection: 'close',
    },
    createConnection: () => tls,
    signal: firstOf(signal, late.signal),
  });
  const { promise: answered, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request.once('response', resolve);
  request.on('error', reject);
  answered.catch(() => {});
  try {
    await new Promise<void>((sent, failed) => {
      request.once('error', failed);
      request.end(body, sent);
    });
    await onSent();
    const response = await answered;
    response.on('error', () => {});
    const { statusCode: status = 0, headers } = response;
    const at = say.tried();
    if (status >= 300 && status < 400) throw redirected(headers.location, status, at);
    const bytes = await readBounded(response, limits.answerBytes, at);
    if (status !== 200 && status !== 201) throw refusal(status, bytes, at, say);
    return {
      answer: readAnswer(bytes, headers['content-encoding'], at, say.hide),
      serverAt: headers.date === undefined ? null : parseHttpDate(headers.date),
    };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (late.signal.aborted) {
      throw notReachable('request sent, no answer before the timeout', say.tried(), 'no-answer', error);
    }
    throw exchangeFailure(error, say.tried());
  } finally {
    request.destroy();
  }
}

async function readBounded(response: IncomingMessage, most: number, tried: Tried): Promise<Buffer> {
  const tooLong = () => badAnswer(`the answer is longer than ${most} bytes`, tried, 'too-long');
  if (Number(response.headers['content-length'] ?? 0) > most) throw tooLong();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > most) throw tooLong();
    chunks.push(chunk);
  }
  if (!response.complete) throw notReachable('the answer was truncated', tried, 'cut');
  return Buffer.concat(chunks);
}

/** Reads the answer to an accepted request. Throws ENROLMENT_BAD_ANSWER. */
export function readAnswer(
  bytes: Uint8Array,
  encoding: string | undefined,
  tried: Tried,
  hide: (text: string) => string = (text) => text,
): EnrolmentAnswer {
  const reading = readJsonBytes(bytes);
  const coding = foreignCoding(encoding);
  if (!reading.ok && coding !== null) {
    throw badAnswer(
      `the answer is packed (Content-Encoding: ${shorten(coding, 20)}), which was not requested`,
      tried,
      'packed',
    );
  }
  if (!reading.ok) {
    // The problem quotes part of the answer, so the secret is removed first.
    const hidden = readJsonBytes(Buffer.from(hide(Buffer.from(bytes).toString('utf8'))));
    throw badAnswer(hidden.ok ? 'the answer is not JSON' : hidden.problem, tried, 'not-json');
  }
  const parsed = answerSchema.safeParse(reading.value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const member =
    issue === undefined || issue.path.length === 0 ? 'the answer' : `member ${quote(issue.path.join('.'))}`;
  throw badAnswer(`invalid answer: ${member} is missing or invalid`, tried, 'other-shape');
}
