import type { Duplex } from 'node:stream';
import { type Clock, untilAborted } from '../../lifecycle/index.ts';
import { DialError, type Dialer, type DialFailure, type DialOptions, type Resolution } from '../index.ts';
import { probeTls, type TlsProbe } from '../probe/index.ts';

/** An endpoint and its protocols. */
export interface PathPlan {
  readonly host: string;
  readonly port: number;
  /** CA certificates (PEM) to verify the chain with, the system's, or null without a trust anchor. */
  readonly trusted: string | 'system' | null;
  readonly credentials: { readonly keyPem: string; readonly certificatePem: string } | null;
  readonly alpn: string | null;
  readonly application: 'mqtt' | 'https' | 'tls';
}

/** The results of the first steps of a path. Steps after the first failure are absent. */
export interface PathStart {
  readonly name: Resolution;
  readonly dial?: { readonly failure: DialFailure | null; readonly tookMs: number };
  readonly tls?: TlsProbe;
  /** Whether a small ClientHello was answered where a full-size one was not. */
  readonly smallHello?: boolean;
}

/** A path with TLS; `connection` is null when a step failed. */
export interface OpenedPath extends PathStart {
  readonly connection: PathConnection | null;
}

/** An established TLS connection. Its chain may be untrusted, see `tls.trust`: then no data of the device may be sent. */
export interface PathConnection {
  readonly tls: Extract<TlsProbe, { kind: 'established' }>;
  /** Local port of the TCP connection; undefined when the dialer does not expose it. */
  readonly localPort: number | undefined;
  /** Destroys TLS and TCP. */
  close(): void;
}

export interface OpenTools {
  readonly dialer: Dialer;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  resolve(host: string, timeoutMs: number): Promise<Resolution>;
}

/** Maximum duration of each step of a path, within the timeout of the whole path. */
export const STEP_MS = { name: 3_000, dial: 4_000, tls: 4_000, smallHello: 2_000, mqtt: 5_000, https: 5_000 } as const;
export type PathStep = keyof typeof STEP_MS;

/** With less time left no further step is tried. */
const MIN_REMAINING_MS = 200;

/**
 * Opens a path: name, TCP, TLS with the ALPN offer and the client certificate. `limit` is the remaining time of a step.
 * The caller closes the connection. Throws only the reason of the signal.
 */
export async function openPath(
  plan: PathPlan,
  tools: OpenTools,
  limit: (step: PathStep) => number = (step) => STEP_MS[step],
): Promise<OpenedPath> {
  const { clock, signal } = tools;
  const name = await untilAborted(signal, tools.resolve(plan.host, limit('name')));
  if (name.kind === 'unknown' || name.kind === 'no-answer') return { name, connection: null };

  // A second query may take longer than the first, and find others.
  const { addresses } = name;
  const dialBeganMs = clock.monotonicMs();
  const dialTookMs = () => Math.round(clock.monotonicMs() - dialBeganMs);
  let stream: Duplex;
  try {
    stream = await tools.dialer.dial(
      { host: plan.host, port: plan.port },
      { timeoutMs: limit('dial'), signal, addresses },
    );
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof DialError)) throw error;
    return { name, dial: { failure: error.failure, tookMs: dialTookMs() }, connection: null };
  }
  const dial = { failure: null, tookMs: dialTookMs() };
  // Later users of the stream add their own error listeners.
  stream.on('error', () => {});
  const hello = {
    host: plan.host,
    trusted: plan.trusted,
    credentials: plan.credentials ?? undefined,
    alpn: plan.alpn ?? undefined,
    signal,
    clock,
  };
  // Destroys the stream when it fails or is aborted.
  const tls = await probeTls(stream, { ...hello, timeoutMs: limit('tls') });
  if (tls.kind === 'failed') {
    if (tls.failure.kind !== 'no-answer' || limit('smallHello') < MIN_REMAINING_MS)
      return { name, dial, tls, connection: null };
    const smallHello = await isSmallAnswered(plan, hello, { timeoutMs: limit('smallHello'), signal, addresses }, tools);
    return { name, dial, tls, smallHello, connection: null };
  }
  const connection: PathConnection = {
    tls,
    localPort: (stream as { readonly localPort?: number }).localPort,
    close() {
      tls.socket.destroy();
      stream.destroy();
    },
  };
  return { name, dial, tls, connection };
}

/**
 * A current ClientHello (post-quantum key exchange) needs two full-size packets. When it gets no answer and a small one does,
 * full-size packets are lost.
 */
async function isSmallAnswered(
  { host, port }: PathPlan,
  hello: Omit<Parameters<typeof probeTls>[1], 'timeoutMs'>,
  limits: DialOptions & { readonly signal: AbortSignal },
  { dialer }: OpenTools,
): Promise<boolean> {
  try {
    const stream = await dialer.dial({ host, port }, limits);
    stream.on('error', () => {});
    const answer = await probeTls(stream, { ...hello, smallHello: true, timeoutMs: limits.timeoutMs });
    if (answer.kind === 'established') answer.socket.destroy();
    stream.destroy();
    return answer.kind === 'established' || answer.failure.kind !== 'no-answer';
  } catch (error) {
    limits.signal.throwIfAborted();
    if (error instanceof DialError) return false;
    throw error;
  }
}
