import { asGwError, GwError } from '../../error/index.ts';
import { type Clock, firstOf, onAbort } from '../../lifecycle/index.ts';
import type { MoveOutcome, Order, TourRun } from '../model.ts';
import type { TourLeg } from './tours.ts';

/** A tour that drives its legs, and that a person may pause. */
export interface DrivenTour {
  /** Resolves with its end. Never rejects. */
  readonly ended: Promise<TourRun>;
  /** Cancels the present move and keeps the tour; resolves when it is paused or has ended. */
  pause(by: string): Promise<void>;
  /** Drives on to the same station. The caller has verified that it is paused, and that its orders pass the gate. */
  resume(although: readonly number[]): TourRun;
}

export interface TourTools {
  execute(order: Order, signal: AbortSignal, although: readonly number[]): Promise<MoveOutcome>;
  onChange(run: TourRun): void;
  /** Ends the tour. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** A paused tour ends after this time. */
  readonly pauseMs: number;
}

/** A run that has not ended; a paused tour keeps the robot for itself. */
export function isOpenRun(run: Pick<TourRun, 'state'> | null): boolean {
  return run?.state === 'running' || run?.state === 'paused';
}

/** Drives the legs in order and reports every change of the run. Ends at the first leg that does not succeed. */
export function driveTour(begun: TourRun, legs: readonly TourLeg[], tools: TourTools): DrivenTour {
  const { execute, onChange, signal, clock, pauseMs } = tools;
  let run = begun;
  const become = (change: Partial<TourRun>): TourRun => {
    run = { ...run, ...change };
    onChange(run);
    return run;
  };
  let pausing = new AbortController();
  let paused = Promise.withResolvers<void>();
  let driveOn = () => {};
  const isPausing = () => pausing.signal.aborted && !signal.aborted;

  /** Until a person drives on, or the tour is ended; returns why it ended. */
  async function rest(): Promise<string | null> {
    const tooLong = new AbortController();
    using _limit = clock.after(pauseMs, () =>
      tooLong.abort(new GwError('INTERRUPTED', `paused for more than ${Math.round(pauseMs / 60_000)} minutes`)),
    );
    const ending = firstOf(signal, tooLong.signal);
    const { promise: isOver, resolve } = Promise.withResolvers<void>();
    driveOn = resolve;
    become({ state: 'paused' });
    paused.resolve();
    using _ended = onAbort(ending, resolve);
    await isOver;
    return ending.aborted ? reasonOf(ending) : null;
  }

  async function drive(): Promise<TourRun> {
    for (const [at, { station, order }] of legs.entries()) {
      for (;;) {
        if (signal.aborted) return become({ state: 'stopped', reason: reasonOf(signal) });
        if (at !== run.at) become({ at });
        if (isPausing()) {
          const over = await rest();
          if (over !== null) return become({ state: 'stopped', reason: over });
          continue;
        }
        let outcome: MoveOutcome;
        try {
          outcome = await execute(order, firstOf(signal, pausing.signal), run.although ?? []);
        } catch (error) {
          // Certainly not accepted by the chassis: nothing moves.
          if (isPausing()) continue;
          const state = signal.aborted ? 'stopped' : 'failed';
          return become({ state, reason: `On the way to ${station}: ${asGwError(error).message}` });
        }
        if (isPausing() && isStopped(outcome, pausing.signal)) continue;
        const outcomes = [...run.outcomes, outcome];
        if (outcome.state === 'succeeded') {
          become({ outcomes });
          break;
        }
        // After a cancel by another client the robot must not set out for the next station.
        const state = isStopped(outcome, signal) ? 'stopped' : 'failed';
        return become({ outcomes, state, reason: `On the way to ${station}: ${outcome.reason ?? outcome.state}` });
      }
    }
    return become({ state: 'succeeded' });
  }

  const ended = drive();
  return {
    ended,
    async pause(by) {
      pausing.abort(new GwError('INTERRUPTED', `paused by ${by}`));
      await Promise.race([paused.promise, ended]);
    },
    resume(although) {
      pausing = new AbortController();
      paused = Promise.withResolvers();
      const now = become({ state: 'running', although });
      driveOn();
      return now;
    },
  };
}

/** An unconfirmed cancel is not a stop: the robot may drive on. */
export function isStopped({ state }: MoveOutcome, signal: AbortSignal): boolean {
  return state === 'cancelled' || (state === 'failed' && signal.aborted);
}

function reasonOf(signal: AbortSignal): string {
  return signal.reason instanceof Error ? signal.reason.message : String(signal.reason);
}
