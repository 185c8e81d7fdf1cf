import type { Clock } from '../../lifecycle/index.ts';
import { type Dialer, type Lookup, type Resolution, resolveHost } from '../index.ts';
import {
  type ConnectionInfo,
  type HttpProbe,
  type MqttProbe,
  probeHttps,
  probeMqtt,
  type TlsProbe,
} from '../probe/index.ts';
import { openPath, type PathPlan, type PathStart, type PathStep, STEP_MS } from './open-path.ts';

/** The results of the steps of one path. Steps after the first failure are absent. */
export interface PathResult<P extends PathPlan = PathPlan> extends PathStart {
  readonly plan: P;
  readonly mqtt?: MqttProbe | { readonly kind: 'not-tried'; readonly why: string };
  readonly https?: HttpProbe;
  readonly info?: ConnectionInfo | null;
  readonly tookMs: number;
}

/** A {@link Lookup} that ends within the timeout. */
export type NameLookup = (...query: [...Parameters<Lookup>, timeoutMs: number]) => ReturnType<Lookup>;

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

/** Probes one path: name, TCP, TLS, application protocol. Throws only the reason of the signal. */
export async function probePath<P extends PathPlan>(
  plan: P,
  names: NameCache,
  tools: PathTools,
): Promise<PathResult<P>> {
  const { clock, signal, timeoutMs } = tools;
  const beganMs = clock.monotonicMs();
  const spentMs = () => clock.monotonicMs() - beganMs;
  const limit = (step: PathStep) => Math.max(1, Math.min(STEP_MS[step], timeoutMs - spentMs()));
  const result = (rest: Omit<PathResult, 'plan' | 'tookMs'>): PathResult<P> => ({
    plan,
    ...rest,
    tookMs: Math.round(spentMs()),
  });

  const { connection, ...start } = await openPath(plan, { ...tools, resolve: names.resolve }, limit);
  if (connection === null) return result(start);
  const { tls, localPort } = connection;
  try {
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
      return result({ ...start, https: probe, info });
    }
    const info = await readInfo();
    if (plan.application === 'tls') return result({ ...start, info });
    const why = noConnectReason(plan, tls) ?? (await tools.mqttBlocked);
    signal.throwIfAborted();
    if (why !== null) return result({ ...start, info, mqtt: { kind: 'not-tried', why } });
    // The wait in the queue does not count towards the timeout of the path.
    const mqttMs = limit('mqtt');
    const mqtt = await tools.connects.run(() =>
      probeMqtt(tls.socket, { clientId: tools.clientId, ended: tls.ended, timeoutMs: mqttMs, signal, clock }),
    );
    return result({ ...start, info, mqtt });
  } finally {
    connection.close();
  }
}

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

function noConnectReason(
  { credentials }: PathPlan,
  { trust }: Extract<TlsProbe, { kind: 'established' }>,
): string | null {
  if (credentials === null) return 'this device has no certificate; run `gw enrol`';
  return trust.kind === 'trusted' ? null : 'the certificate of the broker was not verified';
}

/** A lost query is sent again by then; glibc does so after 5 s. Project decision. */
const SECOND_QUERY_MS = 1_000;
/** Of a name with an IPv4 address, until its AAAA query counts as unanswered: two tries. */
const AAAA_MS = 2_500;

/** The first answer of two queries; the second one only when the first is late. */
async function queryTwice(query: () => ReturnType<Lookup>, clock: Clock): ReturnType<Lookup> {
  const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<Lookup>>>();
  const ask = () => void query().then(resolve, reject);
  using _again = clock.after(SECOND_QUERY_MS, ask);
  ask();
  return await promise;
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
      const answer = resolveHost(host, {
        timeoutMs,
        clock,
        lookup: (name, record) => queryTwice(() => lookup(name, record, timeoutMs), clock),
        otherFamilyMs: { A: timeoutMs, AAAA: AAAA_MS },
      });
      queries.set(host, answer);
      return answer;
    },
  };
}

export function hostHeaderOf({ host, port }: PathPlan): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return port === 443 ? name : `${name}:${port}`;
}
