import type { Duplex } from 'node:stream';
import type { Clock } from '../../lifecycle/index.ts';
import { DialError, type Dialer, type DialFailure, type Lookup, type Resolution, resolveHost } from '../index.ts';
import {
  type ConnectionInfo,
  type HttpProbe,
  type MqttProbe,
  probeHttps,
  probeMqtt,
  probeTls,
  type TlsProbe,
} from '../probe/index.ts';

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

/** The results of the steps of one path. Steps after the first failure are absent. */
export interface PathResult<P extends PathPlan = PathPlan> {
  readonly plan: P;
  readonly name: Resolution;
  readonly dial?: { readonly failure: DialFailure | null; readonly tookMs: number };
  readonly tls?: TlsProbe;
  /** Whether a small ClientHello was answered where a full-size one was not. */
  readonly smallHello?: boolean;
  readonly mqtt?: MqttProbe | { readonly kind: 'not-tried'; readonly why: string };
  readonly https?: HttpProbe;
  readonly info?: ConnectionInfo | null;
  readonly tookMs: number;
}

/** Resolves a name within the timeout; rejects when it is unknown. */
export type NameLookup = (host: string, timeoutMs: number) => ReturnType<Lookup>;

export interface PathTools {
  readonly dialer: Dialer;
  readonly lookup: NameLookup;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Timeout of a whole path. */
  readonly timeoutMs: number;
  readonly clientId: string;
  /** Kernel information about an open connection; null when not available. */
  readonly connectionInfo: (localPort: number) => Promise<ConnectionInfo | null>;
  /** Why MQTT CONNECT must not be sent, awaited before it would be; null: it may. */
  readonly mqttBlocked: Promise<string | null>;
  /** Serialises the MQTT handshakes. */
  readonly connects: SerialQueue;
}

/** Runs tasks one after the other, in order. */
export interface SerialQueue {
  run<T>(work: () => Promise<T>): Promise<T>;
}

/** Project decision: some brokers accept only one CONNECT per second and client identifier. */
const MIN_CONNECT_INTERVAL_MS = 1_100;

/**
 * Two connections with one client identifier displace each other, so the handshakes on both ports run one after the other,
 * with a minimum interval. The signal ends the wait.
 */
export function createSerialQueue(clock: Clock, signal: AbortSignal): SerialQueue {
  let last: Promise<unknown> = Promise.resolve();
  let beganMs: number | undefined;
  return {
    run(work) {
      const turn = last.then(async () => {
        const restMs = beganMs === undefined ? 0 : beganMs + MIN_CONNECT_INTERVAL_MS - clock.monotonicMs();
        if (restMs > 0) await clock.sleep(restMs, signal);
        beganMs = clock.monotonicMs();
        return await work();
      });
      last = turn.catch(() => {});
      return turn;
    },
  };
}

/** Maximum duration of each step of a path, within the timeout of the whole path. */
export const STEP_MS = { name: 3_000, dial: 4_000, tls: 4_000, smallHello: 2_000, mqtt: 5_000, https: 5_000 } as const;

/** With less time left no further step is tried. */
const MIN_REMAINING_MS = 200;

/** Probes one path: name, TCP, TLS, application protocol. Throws only the reason of the signal. */
export async function probePath<P extends PathPlan>(
  plan: P,
  names: NameCache,
  tools: PathTools,
): Promise<PathResult<P>> {
  const { clock, signal, timeoutMs } = tools;
  const beganMs = clock.monotonicMs();
  const spentMs = () => clock.monotonicMs() - beganMs;
  const limit = (step: keyof typeof STEP_MS) => Math.max(1, Math.min(STEP_MS[step], timeoutMs - spentMs()));
  const result = (rest: Omit<PathResult, 'plan' | 'tookMs'>): PathResult<P> => ({
    plan,
    ...rest,
    tookMs: Math.round(spentMs()),
  });

  const name = await names.resolve(plan.host, limit('name'));
  signal.throwIfAborted();
  if (name.kind === 'unknown' || name.kind === 'no-answer') return result({ name });

  const dialBeganMs = clock.monotonicMs();
  const dialTookMs = () => Math.round(clock.monotonicMs() - dialBeganMs);
  let stream: Duplex;
  try {
    stream = await tools.dialer.dial({ host: plan.host, port: plan.port }, { timeoutMs: limit('dial'), signal });
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof DialError)) throw error;
    return result({ name, dial: { failure: error.failure, tookMs: dialTookMs() } });
  }
  const dial = { failure: null, tookMs: dialTookMs() };
  // Later users of the stream add their own error listeners.
  stream.on('error', () => {});
  try {
    const hello = {
      host: plan.host,
      trusted: plan.trusted,
      credentials: plan.credentials ?? undefined,
      alpn: plan.alpn ?? undefined,
      signal,
      clock,
    };
    const tls = await probeTls(stream, { ...hello, timeoutMs: limit('tls') });
    if (tls.kind === 'failed') {
      if (tls.failure.kind !== 'no-answer' || limit('smallHello') < MIN_REMAINING_MS)
        return result({ name, dial, tls });
      return result({ name, dial, tls, smallHello: await isSmallAnswered(plan, hello, limit('smallHello'), tools) });
    }
    const localPort = (stream as { readonly localPort?: number }).localPort;
    const readInfo = () => (localPort === undefined ? Promise.resolve(null) : tools.connectionInfo(localPort));
    if (plan.application === 'https') {
      // Kernel information is read while the connection is open and full-size packets were sent.
      const { probe, info } = await probeHttps(tls.socket, {
        hostHeader: hostHeaderOf(plan),
        timeoutMs: limit('https'),
        signal,
        clock,
        beforeClose: readInfo,
      });
      return result({ name, dial, tls, https: probe, info });
    }
    const info = await readInfo();
    if (plan.application === 'tls') return result({ name, dial, tls, info });
    const why = noConnectReason(plan, tls) ?? (await tools.mqttBlocked);
    signal.throwIfAborted();
    if (why !== null) return result({ name, dial, tls, info, mqtt: { kind: 'not-tried', why } });
    // The wait in the queue does not count towards the timeout of the path.
    const mqttMs = limit('mqtt');
    const mqtt = await tools.connects.run(() =>
      probeMqtt(tls.socket, { clientId: tools.clientId, ended: tls.ended, timeoutMs: mqttMs, signal, clock }),
    );
    return result({ name, dial, tls, info, mqtt });
  } finally {
    stream.destroy();
  }
}

/**
 * A current ClientHello (post-quantum key exchange) needs two full-size packets. When it gets no answer and a small one does,
 * full-size packets are lost.
 */
async function isSmallAnswered(
  { host, port }: PathPlan,
  hello: Omit<Parameters<typeof probeTls>[1], 'timeoutMs'>,
  timeoutMs: number,
  { dialer, signal }: PathTools,
): Promise<boolean> {
  try {
    const stream = await dialer.dial({ host, port }, { timeoutMs, signal });
    stream.on('error', () => {});
    const answer = await probeTls(stream, { ...hello, smallHello: true, timeoutMs });
    if (answer.kind === 'established') answer.socket.destroy();
    stream.destroy();
    return answer.kind === 'established' || answer.failure.kind !== 'no-answer';
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof DialError) return false;
    throw error;
  }
}

function noConnectReason(
  { credentials }: PathPlan,
  { trust }: Extract<TlsProbe, { kind: 'established' }>,
): string | null {
  if (credentials === null) return 'this device has no certificate; run `gw enrol`';
  return trust.kind === 'trusted' ? null : 'the certificate of the broker was not verified';
}

/** Resolves each name once for all paths. */
export interface NameCache {
  resolve(host: string, timeoutMs: number): Promise<Resolution>;
}

export function createNameCache({ lookup, clock }: Pick<PathTools, 'lookup' | 'clock'>): NameCache {
  const queries = new Map<string, Promise<Resolution>>();
  return {
    resolve(host, timeoutMs) {
      const known = queries.get(host);
      if (known !== undefined) return known;
      const answer = resolveHost(host, { timeoutMs, clock, lookup: (name) => lookup(name, timeoutMs) });
      queries.set(host, answer);
      return answer;
    },
  };
}

function hostHeaderOf({ host, port }: PathPlan): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return port === 443 ? name : `${name}:${port}`;
}
