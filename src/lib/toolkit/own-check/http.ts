import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { GwError } from '../../error/index.ts';
import { type Clock, firstOf } from '../../lifecycle/index.ts';
import { DialError, dialFailureText } from '../../net/index.ts';
import type { TlsProbe } from '../../net/probe/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { NOT_CHECKED, type NotChecked, placeOf, textOf } from './place.ts';

export interface HttpOptions {
  readonly url: string;
  readonly method: 'GET' | 'HEAD';
  readonly headers: Readonly<Record<string, string>>;
  /** false: an answer over an unverified certificate counts. */
  readonly verifyTls: boolean;
  /** CA certificates (PEM) instead of those of Node and the operating system. */
  readonly caFile?: string | undefined;
  readonly timeoutS: number;
}

/** What is known of the TLS connection and the certificate of the server. Names are untrusted text. */
interface TlsFacts {
  /** not-checked: the list has verifyTls: false. */
  readonly verified: boolean | NotChecked;
  readonly protocol: string;
  readonly subject: string;
  readonly issuer: string;
  readonly notAfter: string;
  /**
   * Whole days until then by the clock of this machine; negative once it has expired. not-checked: no time, or the server
   * has another time, by more than a day.
   */
  readonly daysLeft: number | NotChecked;
}

/** Result of the check `http`. */
export interface HttpCheck {
  readonly from: string;
  readonly url: string;
  /** A whole HTTP answer was received; of a longer body its first MiB. */
  readonly answered: boolean;
  readonly failure: string | null;
  /** Absent without an answer. A redirect is an answer, and is not followed. */
  readonly status?: number;
  /** Names in lower case. Values of cookies are not kept. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly bytes?: number | NotChecked;
  /** not-checked: more than 1 MiB, or no UTF-8 text. */
  readonly body?: string | NotChecked;
  /** null for http://; absent where no handshake was made. */
  readonly tls?: TlsFacts | null;
  readonly tookMs: number;
  readonly detail: string;
}

const MAX_BODY_BYTES = 1024 * 1024;
const MAX_HEADER_BYTES = 32 * 1024;
const DAY_MS = 86_400_000;

/** Sends one request to the address of the URL and reads the answer. Follows no redirect. */
export async function checkHttp(
  { dialer, clock }: Pick<Toolkit, 'dialer' | 'clock'>,
  options: HttpOptions,
  { signal }: CheckContext,
): Promise<HttpCheck> {
  const { timeoutS } = options;
  const from = placeOf(dialer);
  const { href: url, hostname, port, protocol } = new URL(options.url);
  const isTls = protocol === 'https:';
  const endpoint = { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port) || (isTls ? 443 : 80) };
  const beganMs = clock.monotonicMs();
  const since = () => Math.round(clock.monotonicMs() - beganMs);
  const late = new AbortController();
  using _limit = clock.after(timeoutS * 1_000, () => late.abort());
  const over = firstOf(signal, late.signal);
  const without = (failure: string, tls?: TlsFacts): HttpCheck => {
    const detail = `${url}: ${failure}, ${from}`;
    return { from, url, answered: false, failure, ...(tls && { tls }), tookMs: since(), detail };
  };
  const trusted = await trustedBy(options);
  let stream: Duplex | undefined;
  try {
    stream = await dialer.dial(endpoint, { timeoutMs: timeoutS * 1_000, signal });
    let tls: TlsFacts | null = null;
    if (isTls) {
      const left = Math.max(1, timeoutS * 1_000 - since());
      const probe = await handshake(stream, endpoint.host, trusted, { timeoutMs: left, signal });
      if (probe.kind === 'failed') return without(tlsFailureText(probe.failure));
      stream = probe.socket;
      tls = factsOf(probe, options, clock);
      const { trust } = probe;
      if (tls.verified === false) {
        return without(
          'fault' in trust
            ? `certificate not verified: ${trust.fault.detail} (${trust.reason})`
            : `certificate not verified (${trust.kind})`,
          tls,
        );
      }
    }
    const answer = await request(stream, options, over);
    if (tls !== null && (await isClockDoubted(answer.headers.date, clock.wall()))) {
      tls = { ...tls, daysLeft: NOT_CHECKED };
    }
    const text = answer.body === null ? NOT_CHECKED : textOf(answer.body);
    const cut = answer.body === null ? ', of which 1 MiB was read' : '';
    const unverified = tls?.verified === NOT_CHECKED ? ', certificate not verified' : '';
    return {
      from,
      url,
      answered: true,
      failure: null,
      status: answer.status,
      headers: answer.headers,
      bytes: answer.body?.length ?? NOT_CHECKED,
      body: text,
      tls,
      tookMs: since(),
      detail: `${url}: status ${answer.status}${cut}${unverified}, ${from}`,
    };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof DialError) return without(dialFailureText[error.failure]);
    if (late.signal.aborted) return without(`no whole answer within ${timeoutS} s`);
    const { code, message } = error as NodeJS.ErrnoException;
    return without(`no whole HTTP answer (${code ?? message})`);
  } finally {
    stream?.on('error', () => {});
    stream?.destroy();
  }
}

/** Throws CHECK_FAILED when the CA file is refused. */
async function trustedBy({ caFile }: HttpOptions): Promise<string> {
  if (caFile === undefined) return 'system';
  const { readCaFile } = await import('../../net/path/index.ts');
  const ca = await readCaFile(
    caFile,
    ({ problem, remedy, cause }) =>
      new GwError('CHECK_FAILED', `${caFile} ${problem}.`, { remedy: remedy ?? undefined, cause }),
  );
  return ca.pem;
}

async function handshake(
  stream: Duplex,
  host: string,
  trusted: string,
  limits: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<TlsProbe> {
  const { probeTls } = await import('../../net/probe/index.ts');
  return probeTls(stream, { host, trusted, ...limits });
}

function tlsFailureText(failure: Extract<TlsProbe, { kind: 'failed' }>['failure']): string {
  switch (failure.kind) {
    case 'no-answer':
      return 'no answer to the TLS handshake';
    case 'cut':
      return 'connection closed in the TLS handshake';
    case 'not-tls':
      return 'the server does not speak TLS on this port';
    case 'alpn-refused':
      return 'TLS: the protocol was refused';
    default:
      return `TLS: ${failure.alert}`;
  }
}

/** Over a clock that is behind, a certificate would last longer than it does. */
async function isClockDoubted(date: string | undefined, now: Date): Promise<boolean> {
  const { parseHttpDate } = await import('../../net/probe/index.ts');
  const at = parseHttpDate(date ?? '');
  return at !== null && Math.abs(at.getTime() - now.getTime()) > DAY_MS;
}

function factsOf(
  { protocol, chain, trust }: Extract<TlsProbe, { kind: 'established' }>,
  { verifyTls }: HttpOptions,
  clock: Clock,
): TlsFacts {
  const [leaf] = chain;
  const ends = Date.parse(leaf?.notAfter ?? '');
  return {
    verified: trust.kind === 'trusted' ? true : verifyTls ? false : NOT_CHECKED,
    protocol,
    subject: leaf?.subject ?? NOT_CHECKED,
    issuer: leaf?.issuer ?? NOT_CHECKED,
    notAfter: leaf?.notAfter ?? NOT_CHECKED,
    daysLeft: Number.isNaN(ends) ? NOT_CHECKED : Math.floor((ends - clock.wall().getTime()) / DAY_MS),
  };
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** null: longer than the bound. */
  readonly body: Buffer | null;
}

/** One request over this connection; the library makes no other. */
async function request(stream: Duplex, { url, method, headers }: HttpOptions, signal: AbortSignal): Promise<Answer> {
  const { Client, requestOver } = await import('../../net/http/index.ts');
  const { origin, pathname, search } = new URL(url);
  let isUsed = false;
  const client = new Client(origin, {
    maxHeaderSize: MAX_HEADER_BYTES,
    // The signal bounds both.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (_options, done) => {
      // The library waits for an answer that comes later than its call.
      if (isUsed) setImmediate(() => done(new Error('the connection was closed'), null));
      else setImmediate(() => done(null, stream as Socket));
      isUsed = true;
    },
  });
  try {
    const response = await requestOver(client, {
      origin,
      path: `${pathname}${search}`,
      method,
      headers: { 'user-agent': 'gw', accept: '*/*', connection: 'close', ...headers },
      signal,
    });
    const chunks: Buffer[] = [];
    let total = 0;
    for await (const chunk of response.body) {
      total += (chunk as Buffer).length;
      if (total > MAX_BODY_BYTES) break;
      chunks.push(chunk as Buffer);
    }
    const body = total > MAX_BODY_BYTES ? null : Buffer.concat(chunks);
    return { status: response.statusCode, headers: plainHeaders(response.headers), body };
  } finally {
    stream.destroy();
    client.destroy().catch(() => {});
  }
}

function plainHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value = '']) => {
      const key = name.toLowerCase();
      return [key, key === 'set-cookie' ? '[not kept]' : Array.isArray(value) ? value.join(', ') : value];
    }),
  );
}
