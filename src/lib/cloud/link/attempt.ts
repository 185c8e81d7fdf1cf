import { type Clock, type Log, onAbort } from '../../lifecycle/index.ts';
import type { Dialer, Resolution } from '../../net/index.ts';
import {
  alpnOutcome,
  mqttOutcome,
  nameOutcome,
  openPath,
  type PathConnection,
  type PathOutcome,
  type PathPlan,
  type PathResult,
  type SerialQueue,
  STEP_MS,
  tcpOutcome,
  tlsOutcome,
} from '../../net/path/index.ts';
import type { CertificateView } from '../../x509/index.ts';
import { brokerCaOf } from './broker-ca.ts';
import { subscribeOutcome } from './failures.ts';
import type { CloudLinkOptions, FailedAttempt, LinkIdentity, LinkPath } from './model.ts';
import { connectMqtt } from './mqtt/connect.ts';
import type { MqttSession } from './mqtt/model.ts';

/** One way to the broker with one identity. */
export interface LinkPlan {
  readonly path: LinkPath;
  readonly plan: PathPlan;
  readonly identity: LinkIdentity;
}

/** A session whose subscriptions are acknowledged. */
export interface LinkSession {
  readonly plan: LinkPlan;
  readonly mqtt: MqttSession;
  readonly alpn: string | null;
  readonly tls: string;
  /** The CA certificate of this device that verified the broker, the first to end; null: not known. */
  readonly brokerCa: CertificateView | null;
  /** Filters that the broker granted with QoS 0: their messages are not kept while the gateway is away. */
  readonly withQos0: readonly string[];
  /** When the last subscription was acknowledged. */
  readonly sinceMs: number;
  readonly since: string;
}

export interface AttemptTools extends Pick<CloudLinkOptions, 'filters' | 'will' | 'onMessage' | 'onNewSession'> {
  readonly dialer: Dialer;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly connects: SerialQueue;
  readonly pubackMs: number;
  resolve(host: string, timeoutMs: number): Promise<Resolution>;
  /** Ends subscriptions of an earlier site file that the kept session may have. */
  readonly unsubscribeOld: (session: MqttSession) => Promise<void>;
}

/** @source MQTT 3.1.1, 3.2.2.3: 'The Network Connection has been made but the MQTT service is unavailable' */
const UNAVAILABLE = 3;
const silent = new WeakSet<FailedAttempt>();

/** Whether the broker was reached and gave no answer, or was not available: it has not judged the certificate. */
export const wasSilent = (failure: FailedAttempt): boolean => silent.has(failure);

/**
 * One attempt: name, TCP, TLS with the client certificate, ALPN, MQTT, subscriptions. With `settleMs` it waits so long
 * before CONNECT, so that a rejected certificate costs no displaced session. Throws only the reason of the signal.
 */
export async function attempt(
  linkPlan: LinkPlan,
  tools: AttemptTools,
  { settleMs = 0 }: { readonly settleMs?: number } = {},
): Promise<{ readonly session: LinkSession } | { readonly failed: FailedAttempt }> {
  const { path, plan, identity } = linkPlan;
  const { clock, signal } = tools;
  const beganMs = clock.monotonicMs();
  const tookMs = () => Math.round(clock.monotonicMs() - beganMs);
  const failed = (step: FailedAttempt['step'], outcome: PathOutcome, isSilent = false) => {
    const failure: FailedAttempt = {
      path,
      host: plan.host,
      port: plan.port,
      step,
      outcome: { ...outcome, verdict: 'wrong' as const },
      at: clock.wall().toISOString(),
      tookMs: tookMs(),
    };
    if (isSilent) silent.add(failure);
    return { failed: failure };
  };

  const { connection, ...start } = await openPath(plan, tools);
  const result = (rest: Pick<PathResult, 'mqtt'> = {}): PathResult => ({ plan, ...start, ...rest, tookMs: tookMs() });
  if (connection === null) {
    const { tls } = start;
    return failed(...startFailure(result()), tls?.kind === 'failed' && tls.failure.kind === 'no-answer');
  }
  let session: MqttSession | null = null;
  let isKept = false;
  try {
    const unfit = unfitConnection(result(), connection);
    if (unfit !== null) return failed(...unfit);
    if (settleMs > 0) {
      const { socket } = connection.tls;
      // A broker sends nothing before CONNECT; only while it is read is the end of the stream noticed.
      socket.resume();
      await clock.sleep(settleMs, signal);
      socket.pause();
      const failure = connection.tls.ended() ?? (socket.readableEnded || socket.destroyed ? { kind: 'cut' } : null);
      if (failure !== null) {
        return failed('tls', mqttOutcome(result({ mqtt: { kind: 'closed', failure, tookMs: tookMs() } })));
      }
    }
    const handshake = await tools.connects.run(() =>
      connectMqtt(connection, { ...tools, clientId: identity.serial, timeoutMs: STEP_MS.mqtt }),
    );
    session = handshake.session;
    if (session === null) {
      const { probe } = handshake;
      const isSilent = probe.kind === 'no-connack' || (probe.kind === 'refused' && probe.returnCode === UNAVAILABLE);
      return failed('mqtt', mqttOutcome(result({ mqtt: probe })), isSilent);
    }
    const accepted = session;
    // Without subscriptions it has no messages yet.
    if (!accepted.sessionPresent) tools.onNewSession?.();
    // Subscribing waits for the broker.
    using _aborted = onAbort(signal, accepted.destroy);
    // Always, also to a kept session: that may lack filters, when it was made by an interrupted or an older subscription.
    const subscribed = await accepted.subscribe(tools.filters);
    signal.throwIfAborted();
    if (subscribed.kind !== 'subscribed') return failed('subscribe', subscribeOutcome(subscribed));
    if (accepted.sessionPresent) await tools.unsubscribeOld(accepted);
    signal.throwIfAborted();
    isKept = true;
    return {
      session: {
        plan: linkPlan,
        mqtt: accepted,
        alpn: connection.tls.alpn,
        tls: connection.tls.protocol,
        brokerCa: plan.trusted === null ? null : brokerCaOf(connection.tls.chain, plan.trusted),
        withQos0: subscribed.withQos0,
        sinceMs: clock.monotonicMs(),
        since: clock.wall().toISOString(),
      },
    };
  } finally {
    if (!isKept) {
      session?.destroy();
      connection.close();
    }
  }
}

/** The failed step of a path without an open connection. */
function startFailure(result: PathResult): [FailedAttempt['step'], PathOutcome] {
  const { name, dial, tls, plan } = result;
  if (name.kind === 'unknown' || name.kind === 'no-answer') return ['name', nameOutcome(result)];
  if (dial?.failure !== null) return ['tcp', tcpOutcome(result)];
  if (tls?.kind === 'failed') {
    if (tls.failure.kind === 'alpn-refused') return ['alpn', alpnOutcome(result, plan.alpn ?? '')];
    if (tls.failure.kind === 'certificate-refused') return ['tls', mqttOutcome(result)];
  }
  return ['tls', tlsOutcome(result)];
}

/** Why CONNECT must not be sent over an open connection; null: it may. */
function unfitConnection(result: PathResult, { tls }: PathConnection): [FailedAttempt['step'], PathOutcome] | null {
  const { alpn } = result.plan;
  if (tls.trust.kind !== 'trusted') return ['tls', tlsOutcome(result)];
  if (alpn !== null && tls.alpn !== alpn) return ['alpn', alpnOutcome(result, alpn)];
  return null;
}
