import { GwError } from '../../../error/index.ts';
import { type Clock, createBackoff, type Log } from '../../../lifecycle/index.ts';
import type { Requester } from '../../gate/model.ts';
import type { Topics } from '../../topics.ts';
import type { JobExecutionWire, JobGetWire, JobStatusWire, JobUpdateWire } from '../../wire.ts';

/** A job execution: the same job can be executed again under another number. */
export interface JobId {
  readonly jobId: string;
  readonly executionNumber: number;
}

/** How the service took a status. 'ended': the execution is over there, and cannot be updated. */
type StatusResult = 'acknowledged' | 'ended';

/** Requests to the job service, repeated with backoff until it answers. */
export interface Jobs {
  /** The next execution of the queue, in progress from now on; null: the queue is empty. */
  startNext(signal: AbortSignal): Promise<JobExecutionWire | null>;
  /** An execution with its document; null: it does not exist any more. */
  get(jobId: string, signal: AbortSignal): Promise<JobExecutionWire | null>;
  /** Reports a status. `details` are shortened and freed of control characters. */
  report(
    job: JobId,
    status: JobStatusWire,
    details: Readonly<Record<string, string | null>>,
    signal: AbortSignal,
  ): Promise<StatusResult>;
}

const RETRY = { firstMs: 1_000, maxMs: 60_000 };
/** @source vendor (HINWEIS): limits of the values of statusDetails */
export const MAX_DETAIL_CHARACTERS = 1_024;
/** Codes after which an execution is not updated any more. @source vendor (HINWEIS) */
const ENDED = new Set<string | number>(['TerminalStateReached', 'InvalidStateTransition', 'ResourceNotFound']);

export function createJobs({
  clock,
  log,
  requester,
  topics,
}: {
  readonly clock: Clock;
  readonly log: Log;
  readonly requester: Requester;
  readonly topics: Pick<Topics, 'jobs'>;
}): Jobs {
  /** Asks until there is an answer that `read` accepts; undefined: ask again. */
  async function ask<T>(
    request: Parameters<Requester['ask']>[0],
    read: (answer: Awaited<ReturnType<Requester['ask']>>) => T | undefined,
    signal: AbortSignal,
  ): Promise<T> {
    const backoff = createBackoff(RETRY, clock);
    while (true) {
      signal.throwIfAborted();
      try {
        const answer = await requester.ask(request, { signal });
        const value = read(answer);
        if (value !== undefined) return value;
        const code = answer.kind === 'rejected' ? String(answer.rejected.code) : answer.kind;
        log.warn({ address: request.topic, code }, 'the job service did not accept a request; it is repeated');
      } catch (error) {
        signal.throwIfAborted();
        // Without a connection, or without an answer: the next attempt is made by the clock.
        if (!(error instanceof GwError && RETRIED.has(error.code))) throw error;
      }
      await clock.sleep(backoff.nextMs(), signal);
    }
  }

  return {
    startNext: (signal) =>
      ask(
        { kind: 'job-start', topic: `${topics.jobs}/start-next`, body: {} satisfies Omit<JobGetWire, 'clientToken'> },
        (answer) => (answer.kind === 'job' ? { execution: answer.execution } : undefined),
        signal,
      ).then(({ execution }) => execution),
    get: (jobId, signal) =>
      ask(
        { kind: 'job-get', topic: `${topics.jobs}/${jobId}/get`, body: {} satisfies Omit<JobGetWire, 'clientToken'> },
        (answer) => {
          if (answer.kind === 'job') return { execution: answer.execution };
          return answer.kind === 'rejected' && ENDED.has(answer.rejected.code) ? { execution: null } : undefined;
        },
        signal,
      ).then(({ execution }) => execution),
    report: ({ jobId, executionNumber }, status, details, signal) =>
      ask(
        {
          kind: 'job-update',
          topic: `${topics.jobs}/${jobId}/update`,
          body: { status, executionNumber, statusDetails: detailsOf(details) } satisfies Omit<
            JobUpdateWire,
            'clientToken'
          >,
        },
        (answer): StatusResult | undefined => {
          if (answer.kind === 'job-updated') return 'acknowledged';
          return answer.kind === 'rejected' && ENDED.has(answer.rejected.code) ? 'ended' : undefined;
        },
        signal,
      ),
  };
}

/** Whether both are the same execution. */
export function isSameJob(a: JobId, b: JobId): boolean {
  return a.jobId === b.jobId && a.executionNumber === b.executionNumber;
}

const RETRIED = new Set<string>(['CLOUD_NOT_CONNECTED', 'CLOUD_NO_ANSWER']);

/** Values of 1 to 1024 characters without control characters; null values are left out. */
function detailsOf(details: Readonly<Record<string, string | null>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [key, value] of Object.entries(details)) {
    if (value === null) continue;
    const text = value
      .replace(/[\p{Cc}\p{Cs}]+/gu, ' ')
      .trim()
      .slice(0, MAX_DETAIL_CHARACTERS)
      // The cut may have split a character.
      .replace(/\p{Cs}$/u, '');
    kept[key] = text === '' ? '-' : text;
  }
  return kept;
}
