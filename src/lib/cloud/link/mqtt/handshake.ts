import type { Clock } from '../../../lifecycle/index.ts';
import type { createConnackReader, MqttProbe } from '../../../net/path/index.ts';
import type { SessionEnd } from './model.ts';

/** The wait for the broker's answer to CONNECT; the first of the calls decides. */
export interface Handshake {
  /** Rejects with the reason given to `abort`. */
  readonly answer: Promise<MqttProbe>;
  /** Whether received bytes are for the MQTT client: it gets none of an answer that does not accept CONNECT. */
  passes(chunk: Uint8Array): boolean;
  accepted(sessionPresent: boolean): void;
  /** The session ended before. */
  ended(why: SessionEnd): void;
  late(): void;
  abort(reason: unknown): void;
}

export function createHandshake(
  readConnack: Awaited<ReturnType<typeof createConnackReader>>,
  clock: Pick<Clock, 'monotonicMs'>,
): Handshake {
  const beganMs = clock.monotonicMs();
  const tookMs = () => Math.round(clock.monotonicMs() - beganMs);
  const { promise, resolve, reject } = Promise.withResolvers<MqttProbe>();
  let isAccepted = false;

  return {
    answer: promise,
    passes(chunk) {
      if (isAccepted) return true;
      const answer = readConnack(chunk);
      if (answer?.kind === 'not-mqtt' || answer?.kind === 'refused') {
        resolve({ ...answer, tookMs: tookMs() });
        return false;
      }
      isAccepted = answer?.kind === 'accepted';
      return true;
    },
    accepted: (sessionPresent) => resolve({ kind: 'accepted', sessionPresent, tookMs: tookMs() }),
    ended(why) {
      if (why.kind === 'closed') resolve({ kind: 'closed', failure: why.failure, tookMs: tookMs() });
      else resolve({ kind: 'not-mqtt', looksLikeHttp: false, tookMs: tookMs() });
    },
    late: () => resolve({ kind: 'no-connack', tookMs: tookMs() }),
    abort: reject,
  };
}
