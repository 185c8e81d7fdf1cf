import { type Clock, firstOf } from '../../lifecycle/index.ts';
import type { Dispatcher } from '../../net/http/index.ts';
import { dialFailureOf, dialFailureText, nodeLookup } from '../../net/index.ts';
import { systemCertificates } from '../../net/path/index.ts';
import { MIN_TLS_VERSION } from '../../site/index.ts';
import type { StorageAddress } from './address.ts';
import type { TransferLimits } from './model.ts';

/** Why one attempt of a transfer failed, and what follows. Its text contains no URL. */
export class AttemptFailure extends Error {
  override readonly name = 'AttemptFailure';
  /**
   * 'again': after a while. 'expired': with another URL. 'whole': without Range, from the beginning. 'mismatch': it is
   * another file. 'refused': the storage will not do it.
   */
  readonly kind: 'again' | 'expired' | 'whole' | 'mismatch' | 'refused';
  constructor(kind: AttemptFailure['kind'], message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

export interface StorageRequest {
  readonly address: StorageAddress;
  readonly method: 'GET' | 'PUT';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: AsyncIterable<Uint8Array>;
  readonly trust: string | undefined;
  readonly clock: Clock;
  readonly limits: Pick<TransferLimits, 'idleMs' | 'windowMs' | 'minWindowBytes'>;
  readonly signal: AbortSignal;
}

export interface StorageReply {
  readonly status: number;
  /** Value of a header; the first of several. */
  header(name: string): string | undefined;
  readonly body: AsyncIterable<Uint8Array>;
}

const MAX_HEADER_BYTES = 16 * 1024;

/**
 * One HTTPS request over a connection of its own, without proxy, redirects and decompression; `work` receives its
 * answer and `moved`, which it calls with the bytes that it transferred. Rejects with an AttemptFailure, with the reason of
 * the signal, or with the error of `work`.
 */
export async function storageRequest<T>(
  request: StorageRequest,
  work: (reply: StorageReply, moved: (bytes: number) => void) => Promise<T>,
): Promise<T> {
  const { address, method, headers, body, trust, clock, limits, signal } = request;
  const { Client, requestOver } = await import('../../net/http/index.ts');
  const client = new Client(address.origin, {
    connect: {
      ca: trust ?? systemCertificates(),
      minVersion: MIN_TLS_VERSION,
      timeout: limits.idleMs,
      lookup: nodeLookup(limits.idleMs, clock),
    },
    // Node's 250 ms for each address but the last are less than one round trip of a slow mobile link.
    autoSelectFamilyAttemptTimeout: 5_000,
    maxHeaderSize: MAX_HEADER_BYTES,
    pipelining: 1,
    allowH2: false,
    // The deadlines are enforced here, with the injected clock.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  using pace = watchPace(clock, limits);
  // What `work` throws is no failure of the request.
  let failure: { readonly error: unknown } | undefined;
  async function* watched(source: AsyncIterable<Uint8Array>) {
    for await (const chunk of source) {
      pace.moved(chunk.byteLength);
      yield chunk;
    }
  }
  try {
    const response = await requestOver(client, {
      path: address.target,
      method,
      headers: { ...headers, 'accept-encoding': 'identity' },
      signal: firstOf(signal, pace.signal),
      ...(body !== undefined && { body: watched(body) as unknown as Dispatcher.DispatchOptions['body'] & object }),
    });
    const reply: StorageReply = {
      status: response.statusCode,
      header(name) {
        const value = response.headers[name];
        return Array.isArray(value) ? value[0] : value;
      },
      body: response.body as AsyncIterable<Uint8Array>,
    };
    try {
      return await work(reply, pace.moved);
    } catch (error) {
      if (!isOfTheConnection(error)) failure = { error };
      throw error;
    } finally {
      response.body.on('error', () => {});
      response.body.destroy();
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (pace.signal.aborted) throw pace.signal.reason;
    if (failure !== undefined) throw failure.error;
    throw connectionFailure(error);
  } finally {
    await client.destroy().catch(() => {});
  }
}

/** Cancels a transfer that stands still, or that is kept alive by single bytes. */
function watchPace(clock: Clock, { idleMs, windowMs, minWindowBytes }: StorageRequest['limits']) {
  const late = new AbortController();
  const beganMs = clock.monotonicMs();
  let lastMs = beganMs;
  let window = { sinceMs: beganMs, bytes: 0 };
  const tick = clock.every(Math.max(1, Math.min(1_000, idleMs / 4)), () => {
    const nowMs = clock.monotonicMs();
    if (nowMs - lastMs >= idleMs) {
      late.abort(new AttemptFailure('again', `no data was transferred for ${Math.round(idleMs / 1_000)} s`));
    }
    if (nowMs - window.sinceMs < windowMs) return;
    if (window.bytes < minWindowBytes) {
      const seconds = Math.round(windowMs / 1_000);
      late.abort(new AttemptFailure('again', `only ${window.bytes} bytes were transferred within ${seconds} s`));
    }
    window = { sinceMs: nowMs, bytes: 0 };
  });
  return {
    signal: late.signal,
    moved(bytes: number) {
      if (bytes === 0) return;
      lastMs = clock.monotonicMs();
      window.bytes += bytes;
    },
    [Symbol.dispose]: () => tick[Symbol.dispose](),
  };
}

/** What the status of an answer means; null for a success. */
export function statusFailure(status: number, header: StorageReply['header']): AttemptFailure | null {
  if (status >= 200 && status < 300) return null;
  const text = `the object storage answered with ${status}`;
  if (status === 400 || status === 403)
    return new AttemptFailure('expired', `${text}: the URL is not valid (any more)`);
  if (status === 408 || status === 425 || status === 429 || status >= 500) return new AttemptFailure('again', text);
  if (status >= 300 && status < 400) {
    const target = URL.parse(header('location') ?? '')?.hostname;
    const to = target ? ` to ${target}` : '';
    return new AttemptFailure('refused', `${text}, a redirect${to}, which gw does not follow`);
  }
  return new AttemptFailure('refused', text);
}

/** TLS errors of Node that mean an untrusted certificate. */
const UNTRUSTED =
  /^(CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH|INVALID_|ERROR_IN_CERT_)/;
/** What each says; the chain itself, by which `gw network check` names the certificate, is not at hand here. */
const unverifiedTexts: readonly (readonly [RegExp, string])[] = [
  [/^(ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/, 'its certificate is for another host name'],
  [/^CERT_HAS_EXPIRED$/, 'a certificate of its chain has expired, by the clock of this gateway'],
  [/^CERT_NOT_YET_VALID$/, 'a certificate of its chain is not valid yet, by the clock of this gateway'],
  [
    /^(DEPTH_ZERO_|SELF_SIGNED_)/,
    'its chain ends in another CA: TLS interception, or cloud.caFile is wrong or missing',
  ],
  [/^UNABLE_TO_/, 'its chain is incomplete, or its CA is not in cloud.caFile'],
];

function isOfTheConnection(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return typeof code === 'string' && /^(UND_ERR|HPE_|ECONN|EPIPE|ETIMEDOUT|ERR_SSL|ERR_TLS|ERR_STREAM)/.test(code);
}

/** By the code of the error only: texts of the client may contain the URL. */
function connectionFailure(error: unknown): AttemptFailure {
  const code = (error as NodeJS.ErrnoException | undefined)?.code ?? '';
  if (UNTRUSTED.test(code)) {
    return new AttemptFailure(
      'again',
      `${unverifiedTexts.find(([codes]) => codes.test(code))?.[1] ?? 'its certificate was not verified'} (${code}); see \`gw network check\``,
      error,
    );
  }
  if (/^(ERR_SSL|EPROTO|ERR_TLS)/.test(code)) return new AttemptFailure('again', `no TLS (${code})`, error);
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return new AttemptFailure('again', dialFailureText['no-answer'], error);
  if (code === 'UND_ERR_HEADERS_OVERFLOW') {
    return new AttemptFailure('again', `its headers are larger than ${MAX_HEADER_BYTES} bytes`, error);
  }
  if (code.startsWith('UND_ERR') || code.startsWith('ERR_STREAM')) {
    return new AttemptFailure('again', 'the connection was cut', error);
  }
  if (code.startsWith('HPE_')) return new AttemptFailure('again', `malformed HTTP answer (${code})`, error);
  const failure = dialFailureOf(error);
  return new AttemptFailure(
    'again',
    `${dialFailureText[failure]}${failure === 'other' && code ? ` (${code})` : ''}`,
    error,
  );
}
