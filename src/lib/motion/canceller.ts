import type { ChassisLink } from '../chassis/index.ts';
import type { ChassisMoves } from '../chassis/moves.ts';
import { asGwError } from '../error/index.ts';
import { type Clock, createBackoff, type Log } from '../lifecycle/index.ts';

export interface Canceller {
  /**
   * Cancels whatever the chassis drives, with retries. Resolves true when it has answered a cancel that was sent
   * after this call; false when the tries were used up: then the cancel stays owed.
   */
  cancel(why: string): Promise<boolean>;
  /** A cancel that was asked for and has reached nobody; it is to be repeated when the chassis is back. */
  readonly owed: boolean;
  /** Tries are under way. */
  readonly busy: boolean;
  /** When the chassis last answered a cancel, by the monotonic clock. */
  readonly answeredAtMs: number;
}

/** One cancel at a time; a call during one that is already on its way is served by a further one. */
export function createCanceller(options: {
  link: ChassisLink;
  moves: ChassisMoves;
  clock: Clock;
  log: Log;
  /** How often one cancel is sent before it stays owed. */
  tries: number;
  /** Ends the tries of this life of the service. */
  signal: () => AbortSignal;
}): Canceller {
  const { link, moves, clock, log } = options;
  let asked = 0;
  let served = 0;
  let triesLeft = 0;
  let answeredAtMs = Number.NEGATIVE_INFINITY;
  let loop: Promise<void> | null = null;

  async function run(why: string): Promise<void> {
    const backoff = createBackoff({ firstMs: 100, maxMs: 2_000 }, clock);
    const signal = options.signal();
    while (served < asked && triesLeft > 0 && !signal.aborted) {
      triesLeft -= 1;
      const upTo = asked;
      try {
        await cancelOnce(signal);
        served = upTo;
        answeredAtMs = clock.monotonicMs();
        log.info({ why }, 'the chassis has answered the cancel');
      } catch (error) {
        log.warn({ why, triesLeft, error: asGwError(error).message }, 'the cancel has not reached the chassis');
        if (triesLeft > 0) await clock.sleep(backoff.nextMs(), signal).catch(() => {});
      }
    }
  }

  async function cancelOnce(signal: AbortSignal): Promise<void> {
    const { link: state, values } = link.snapshot();
    if (state.kind === 'not-connected' && state.failure === 'wrong-device') throw new Error('another chassis answers');
    try {
      await moves.cancelCurrent(signal);
    } catch (error) {
      // What the chassis says to a cancel with nothing to cancel is not documented: a refusal while it stands is fine.
      const moving = values.planning.status === 'heard' && values.planning.value.moveState === 'moving';
      if (asGwError(error).code !== 'CHASSIS_REFUSED' || moving) throw error;
    }
  }

  return {
    async cancel(why) {
      asked += 1;
      const mine = asked;
      triesLeft = options.tries;
      loop ??= run(why).finally(() => {
        loop = null;
      });
      await loop;
      return served >= mine;
    },
    get owed() {
      return served < asked;
    },
    get busy() {
      return loop !== null;
    },
    get answeredAtMs() {
      return answeredAtMs;
    },
  };
}
