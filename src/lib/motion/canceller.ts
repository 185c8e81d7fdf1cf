import type { ChassisLink } from '../chassis/index.ts';
import type { ChassisMoves } from '../chassis/moves.ts';
import { asGwError } from '../error/index.ts';
import { type Clock, createBackoff, type Log } from '../lifecycle/index.ts';
import type { StopProofs } from './stop-proof.ts';

export interface Canceller {
  /**
   * Cancels the current move of the chassis, with retries. Resolves true when the chassis has answered a cancel sent
   * after this call; false when the retries are exhausted: then the cancel stays pending.
   */
  cancel(why: string): Promise<boolean>;
  /** A requested cancel was not delivered; it is repeated when the chassis is connected again. */
  readonly isPending: boolean;
  /** A cancel is being sent. */
  readonly isSending: boolean;
  /** When the chassis last answered a cancel, by the monotonic clock. */
  readonly answeredAtMs: number;
  /** Why the latest attempt was not delivered; null after an answered one, and before the first. */
  readonly failure: string | null;
}

/** One cancel at a time; a call while one is being sent leads to a further one. */
export function createCanceller(options: {
  link: ChassisLink;
  moves: ChassisMoves;
  clock: Clock;
  log: Log;
  /** How often one cancel is sent before it stays pending. */
  tries: number;
  readonly proofs: Pick<StopProofs, 'requested' | 'acknowledged' | 'isAcknowledged'>;
  /** Aborts the retries when the service ends. */
  signal: () => AbortSignal;
}): Canceller {
  const { link, moves, clock, log, proofs } = options;
  let requested = 0;
  let answered = 0;
  let triesLeft = 0;
  let answeredAtMs = Number.NEGATIVE_INFINITY;
  let failure: string | null = null;
  let isSending = false;
  let attempt = Promise.withResolvers<void>();

  /** Until every cancel that was asked for is answered, or the tries are used up. Never rejects. */
  async function run(why: string): Promise<void> {
    const backoff = createBackoff({ firstMs: 100, maxMs: 2_000 }, clock);
    const signal = options.signal();
    while (answered < requested && triesLeft > 0 && !signal.aborted) {
      triesLeft -= 1;
      const upTo = requested;
      try {
        await cancelOnce(signal);
        answered = upTo;
        answeredAtMs = clock.monotonicMs();
        failure = null;
        proofs.acknowledged();
        log.info({ why }, 'the chassis answered the cancel');
      } catch (error) {
        failure = asGwError(error).message;
        log.warn({ why, triesLeft, error: failure }, 'the cancel was not delivered to the chassis');
        if (triesLeft > 0) await clock.sleep(backoff.nextMs(), signal).catch(() => {});
      }
      attempted();
    }
    isSending = false;
    attempted();
  }

  /** Whoever asked before an attempt need not wait for the attempts of those who asked during it. */
  function attempted(): void {
    attempt.resolve();
    attempt = Promise.withResolvers();
  }

  async function cancelOnce(signal: AbortSignal): Promise<void> {
    const { link: state, values, standing } = link.snapshot();
    if (state.kind === 'not-connected' && state.failure === 'wrong-device') throw new Error('another chassis answers');
    try {
      await moves.cancelCurrent(signal);
    } catch (error) {
      // The response to a cancel without a move is not documented: a refusal while nothing moves is accepted.
      const isReported = values.planning.status === 'received' && values.planning.value.moveState === 'moving';
      // One that was accepted before is followed by its poses.
      const isMoving = isReported || (standing.verdict === 'moves' && !proofs.isAcknowledged());
      if (asGwError(error).code !== 'CHASSIS_REFUSED' || isMoving) throw error;
    }
  }

  return {
    async cancel(why) {
      proofs.requested();
      requested += 1;
      const mine = requested;
      triesLeft = options.tries;
      if (!isSending) {
        isSending = true;
        void run(why);
      }
      while (answered < mine && isSending) await attempt.promise;
      return answered >= mine;
    },
    get isPending() {
      return answered < requested;
    },
    get isSending() {
      return isSending;
    },
    get answeredAtMs() {
      return answeredAtMs;
    },
    get failure() {
      return failure;
    },
  };
}
