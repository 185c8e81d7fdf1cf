import { onAbort } from '../../../lifecycle/index.ts';
import type { JobExecutionWire } from '../../wire.ts';
import { isSameJob, type JobId } from './jobs.ts';

/** What the agent is to look at next: the last release from the gate, or the queue of the job service. */
export interface Offers {
  /** A release from the gate. `isDuringRun`: another job is under way. */
  add(execution: JobExecutionWire, about: { readonly isDuringRun: boolean }): void;
  /** The queue is to be asked, because a notification may be lost. */
  checkQueue(): void;
  /** A job is over, so that the queue may have a next one. */
  expectNext(): void;
  /** Whether there is nothing to look at. */
  readonly isEmpty: boolean;
  /** Resolves with the next call of `add` or `checkQueue`, or when the signal is aborted. */
  changed(signal: AbortSignal): Promise<void>;
  /** Takes the last release; null: the queue is to be asked. */
  take(): JobExecutionWire | null;
  /** Whether a release came in during a run; true once for each. */
  takeOther(): boolean;
  /** Keeps that this execution was answered again, until the next call of `add` or `checkQueue`. */
  answeredAgain(job: JobId): void;
  wasAnsweredAgain(job: JobId): boolean;
}

export function createOffers(): Offers {
  let offered: JobExecutionWire | null = null;
  let isQueueDue = true;
  let hasOther = false;
  /** The last execution that was answered again, so that a queue that keeps it is not asked in a loop. */
  let repeated: JobId | null = null;
  let wake = Promise.withResolvers<void>();

  const notify = () => {
    wake.resolve();
    wake = Promise.withResolvers();
  };

  return {
    add(execution, { isDuringRun }) {
      if (isDuringRun) hasOther = true;
      offered = execution;
      repeated = null;
      notify();
    },
    checkQueue() {
      isQueueDue = true;
      repeated = null;
      notify();
    },
    expectNext() {
      isQueueDue = true;
    },
    get isEmpty() {
      return offered === null && !isQueueDue;
    },
    async changed(signal) {
      const due = wake.promise;
      const ended = Promise.withResolvers<void>();
      using _aborted = onAbort(signal, ended.resolve);
      await Promise.race([due, ended.promise]);
    },
    take() {
      const taken = offered;
      offered = null;
      isQueueDue = false;
      return taken;
    },
    takeOther() {
      const had = hasOther;
      hasOther = false;
      return had;
    },
    answeredAgain({ jobId, executionNumber }) {
      repeated = { jobId, executionNumber };
    },
    wasAnsweredAgain: (job) => repeated !== null && isSameJob(repeated, job),
  };
}
