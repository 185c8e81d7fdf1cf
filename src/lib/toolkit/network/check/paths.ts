import type { Duplex } from 'node:stream';
import type { Clock } from '../../../lifecycle/index.ts';
import {
  DialError,
  type Dialer,
  type DialFailure,
  type Lookup,
  type Resolution,
  resolveHost,
} from '../../../net/index.ts';
import {
  type ConnectionInfo,
  type HttpProbe,
  type MqttProbe,
  probeHttps,
  probeMqtt,
  probeTls,
  type TlsProbe,
} from '../../../net/probe/index.ts';

/** An endpoint outside, and how it is spoken to. */
export interface PathPlan {
  /** `mqtt-fallback`, `mqtt-direct`, `enrolment`, `storage`, `tunnel`. */
  readonly id: string;
  /** For people: `MQTT broker on 443`. */
  readonly title: string;
  readonly host: string;
  readonly port: number;
  readonly need: 'needed' | 'optional';
  /** Certificates (PEM) that its chain must end in, those of the system, or nothing to hold it against. */
  readonly trusted: string | 'system' | null;
  readonly credentials: { readonly keyPem: string; readonly certificatePem: string } | null;
  readonly alpn: string | null;
  readonly speaks: 'mqtt' | 'https' | 'tls';
  readonly spec: string;
}

/** How far the way to an endpoint could be gone. What comes after the first failure is absent. */
export interface GonePath {
  readonly plan: PathPlan;
  readonly name: Resolution;
  readonly dial?: { readonly failure: DialFailure | null; readonly tookMs: number };
  readonly tls?: TlsProbe;
  /** Whether a second handshake with small first words was answered, where the usual ones were not. */
  readonly smallHello?: boolean;
  readonly mqtt?: MqttProbe | { readonly kind: 'not-tried'; readonly why: string };
  readonly https?: HttpProbe;
  readonly info?: ConnectionInfo | null;
  readonly tookMs: number;
}

/** Gives what a name stands for; rejects when it is not known. Nobody waits for it longer than that. */
export type NameLookup = (host: string, timeoutMs: number) => ReturnType<Lookup>;

export interface PathTools {
  readonly dialer: Dialer;
  readonly lookup: NameLookup;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** How long one path may take as a whole. */
  readonly timeoutMs: number;
  readonly clientId: string;
  /** What the kernel knows of an open connection of ours; null where it does not say. */
  readonly connectionInfo: (localPort: number) => Promise<ConnectionInfo | null>;
  /** Why no CONNECT may be said, awaited before one would be; null: it may. */
  readonly holdBack: Promise<string | null>;
  /** One handshake with the broker after the other. */
  readonly turns: Turns;
}

/** Runs one thing after the other, in the order in which they come. */
export interface Turns {
  take<T>(work: () => Promise<T>): Promise<T>;
}

/** Decision of ours: a broker may take no more than one CONNECT of a client id in a second. */
const BETWEEN_CONNECTS_MS = 1_100;

/**
 * Two connections with one client id displace each other, so the handshakes on both ports take turns, and the second
 * waits until the first is old enough. The signal ends the waiting.
 */
export function createTurns(clock: Clock, signal: AbortSignal): Turns {
  let last: Promise<unknown> = Promise.resolve();
  let beganMs: number | undefined;
  return {
    take(work) {
      const turn = last.then(async () => {
        const restMs = beganMs === undefined ? 0 : beganMs + BETWEEN_CONNECTS_MS - clock.monotonicMs();
        if (restMs > 0) await clock.sleep(restMs, signal);
        beganMs = clock.monotonicMs();
        return await work();
      });
      last = turn.catch(() => {});
      return turn;
    },
  };
}

/** How long each step of a path may take at most; the limit of the whole path stands above. */
export const STEP_MS = { name: 3_000, dial: 4_000, tls: 4_000, smallHello: 2_000, mqtt: 5_000, https: 5_000 } as const;

/** With less time left nothing more is tried. */
const LEAST_LEFT_MS = 200;

/** Goes one path: name, TCP, TLS, and what is spoken over it. Never throws but for the signal. */
export async function gonePath(plan: PathPlan, names: NameBook, tools: PathTools): Promise<GonePath> {
  const { clock, signal, timeoutMs } = tools;
  const beganMs = clock.monotonicMs();
  const spentMs = () => clock.monotonicMs() - beganMs;
  const limit = (step: keyof typeof STEP_MS) => Math.max(1, Math.min(STEP_MS[step], timeoutMs - spentMs()));
  const gone = (rest: Omit<GonePath, 'plan' | 'tookMs'>): GonePath => ({
    plan,
    ...rest,
    tookMs: Math.round(spentMs()),
  });

  const name = await names.resolve(plan.host, limit('name'));
  signal.throwIfAborted();
  if (name.kind === 'unknown' || name.kind === 'no-answer') return gone({ name });

  const dialBeganMs = clock.monotonicMs();
  const dialTookMs = () => Math.round(clock.monotonicMs() - dialBeganMs);
  let stream: Duplex;
  try {
    stream = await tools.dialer.dial({ host: plan.host, port: plan.port }, { timeoutMs: limit('dial'), signal });
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof DialError)) throw error;
    return gone({ name, dial: { failure: error.failure, tookMs: dialTookMs() } });
  }
  const dial = { failure: null, tookMs: dialTookMs() };
  // Whatever is asked of the stream later hears its errors itself.
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
      if (tls.failure.kind !== 'no-answer' || limit('smallHello') < LEAST_LEFT_MS) return gone({ name, dial, tls });
      return gone({ name, dial, tls, smallHello: await isSmallAnswered(plan, hello, limit('smallHello'), tools) });
    }
    const localPort = (stream as { readonly localPort?: number }).localPort;
    const look = () => (localPort === undefined ? Promise.resolve(null) : tools.connectionInfo(localPort));
    if (plan.speaks === 'https') {
      // What the kernel has learnt of the path is asked while the connection stands and large packets have gone.
      const { probe, info } = await probeHttps(tls.socket, {
        authority: authorityOf(plan),
        timeoutMs: limit('https'),
        signal,
        clock,
        beforeClose: look,
      });
      return gone({ name, dial, tls, https: probe, info });
    }
    const info = await look();
    if (plan.speaks === 'tls') return gone({ name, dial, tls, info });
    const why = noConnectBecause(plan, tls) ?? (await tools.holdBack);
    signal.throwIfAborted();
    if (why !== null) return gone({ name, dial, tls, info, mqtt: { kind: 'not-tried', why } });
    // Waiting for the turn does not count against the path: nobody could be faster.
    const mqttMs = limit('mqtt');
    const mqtt = await tools.turns.take(() =>
      probeMqtt(tls.socket, { clientId: tools.clientId, ended: tls.ended, timeoutMs: mqttMs, signal, clock }),
    );
    return gone({ name, dial, tls, info, mqtt });
  } finally {
    stream.destroy();
  }
}

/**
 * The first words of TLS need two packets of full size nowadays. Where they are not answered and small ones are, it is
 * their size that does not pass.
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

function noConnectBecause(
  { credentials }: PathPlan,
  { trust }: Extract<TlsProbe, { kind: 'established' }>,
): string | null {
  if (credentials === null) return 'this device has no certificate yet: gw enrol';
  return trust.kind === 'trusted'
    ? null
    : 'nothing is said over a connection whose other end is not proven to be the broker';
}

/** Each name is asked for once, however many paths begin with it. */
export interface NameBook {
  resolve(host: string, timeoutMs: number): Promise<Resolution>;
}

export function createNameBook({ lookup, clock }: Pick<PathTools, 'lookup' | 'clock'>): NameBook {
  const asked = new Map<string, Promise<Resolution>>();
  return {
    resolve(host, timeoutMs) {
      const known = asked.get(host);
      if (known !== undefined) return known;
      const answer = resolveHost(host, { timeoutMs, clock, lookup: (name) => lookup(name, timeoutMs) });
      asked.set(host, answer);
      return answer;
    },
  };
}

function authorityOf({ host, port }: PathPlan): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return port === 443 ? name : `${name}:${port}`;
}
