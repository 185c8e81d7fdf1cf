import type { JobExecutionWire, JobNotifyNextWire, JobStatusWire, RejectedWire } from '../../../cloud/wire.ts';
import { GwError } from '../../../error/index.ts';
import type { Clock } from '../../../lifecycle/index.ts';
import { isRecord } from '../../chassis/maps/map-store.ts';
import {
  changeStatus,
  type Execution,
  fillDocument,
  headOf,
  isFinal,
  type JobView,
  viewOf,
  wireOf,
} from './executions.ts';
import { parseRequest, tokenOf, unknownKey } from './request.ts';

export interface JobsOptions {
  /** Milliseconds since 1970 by the clock of the cloud. */
  readonly now: () => number;
  readonly clock: Pick<Clock, 'after'>;
  readonly presign: (key: string) => string;
  /** Whether each request fails with an internal error. */
  readonly isFailing: () => boolean;
  /** Sends below the start of the job topics of a device. */
  readonly send: (serial: string, suffix: string, body: object) => void;
}

/** Codes of a rejection. @source vendor (HINWEIS) */
type RejectionCode =
  | 'InvalidTopic'
  | 'InvalidJson'
  | 'InvalidRequest'
  | 'InvalidStateTransition'
  | 'ResourceNotFound'
  | 'VersionMismatch'
  | 'InternalError'
  | 'TerminalStateReached';

type Reply =
  | { readonly accepted: object }
  | { readonly rejected: { readonly code: RejectionCode; readonly message: string; readonly executionState?: object } };

type Body = Readonly<Record<string, unknown>>;

/** @source vendor (HINWEIS) */
const MAX_DOCUMENT_BYTES = 32_768;
const MAX_STEP_MINUTES = 10_080;
const MAX_JOBS = 1_000;
const JOB_ID = /^[a-zA-Z0-9_-]{1,64}$/;
const DETAIL_KEY = /^[a-zA-Z0-9:_-]{1,128}$/;
const DETAIL_VALUE = /^\P{Cc}{1,1024}$/u;
const MINUTE_MS = 60_000;
const deviceStatuses: readonly string[] = ['IN_PROGRESS', 'SUCCEEDED', 'FAILED', 'REJECTED'] satisfies JobStatusWire[];

/** The job service of a common vendor (HINWEIS), and stricter: unknown fields of a request are rejected. */
export function createJobs({ now, clock, presign, isFailing, send }: JobsOptions) {
  const executions: Execution[] = [];
  /** The head of each queue as it was announced last. */
  const heads = new Map<string, string | null>();

  const documentOf = (execution: Execution) => fillDocument(execution.document, presign);
  const wire = (execution: Execution, withDocument: boolean): JobExecutionWire =>
    wireOf(execution, withDocument ? documentOf(execution) : undefined);
  const stateOf = ({ status, statusDetails, versionNumber }: Execution) => ({ status, statusDetails, versionNumber });

  function announceHead(serial: string): void {
    const head = headOf(executions, serial);
    const name = head === undefined ? null : `${head.jobId}#${head.executionNumber}`;
    if (name === (heads.get(serial) ?? null)) return;
    heads.set(serial, name);
    const body: JobNotifyNextWire = {
      timestamp: seconds(),
      ...(head !== undefined && { execution: wire(head, true) }),
    };
    send(serial, 'notify-next', body);
  }

  function seconds(): number {
    return Math.floor(now() / 1_000);
  }

  function change(execution: Execution, status: JobStatusWire, details?: Readonly<Record<string, string>>): void {
    changeStatus(execution, status, now(), details);
    announceHead(execution.serial);
  }

  function setStepTimer(execution: Execution, minutes: unknown): void {
    if (typeof minutes !== 'number' || isFinal(execution.status)) return;
    execution.timer?.[Symbol.dispose]();
    execution.timer = minutes === -1 ? null : clock.after(minutes * MINUTE_MS, () => change(execution, 'TIMED_OUT'));
  }

  function startNext(serial: string, body: Body): Reply {
    const problem = bodyProblem(body, ['clientToken', 'statusDetails', 'stepTimeoutInMinutes']);
    if (problem !== undefined) return rejected('InvalidRequest', problem);
    const next = headOf(executions, serial);
    if (next === undefined) return { accepted: {} };
    if (next.status === 'QUEUED') change(next, 'IN_PROGRESS', detailsOf(body));
    setStepTimer(next, body.stepTimeoutInMinutes);
    return { accepted: { execution: wire(next, true) } };
  }

  function get(serial: string, jobId: string, body: Body): Reply {
    const problem = bodyProblem(body, ['clientToken', 'executionNumber', 'includeJobDocument']);
    if (problem !== undefined) return rejected('InvalidRequest', problem);
    const withDocument = body.includeJobDocument !== false;
    if (jobId === '$next') {
      const next = headOf(executions, serial);
      return { accepted: next === undefined ? {} : { execution: wire(next, withDocument) } };
    }
    const execution = find(serial, jobId, body.executionNumber);
    if (execution === undefined) return rejected('ResourceNotFound', `There is no job ${jobId}.`);
    if (isFinal(execution.status)) {
      return rejected('TerminalStateReached', `The job ${jobId} is ${execution.status}.`);
    }
    return { accepted: { execution: wire(execution, withDocument) } };
  }

  function update(serial: string, jobId: string, body: Body): Reply {
    const problem = bodyProblem(body, updateKeys);
    if (problem !== undefined) return rejected('InvalidRequest', problem);
    const status = deviceStatuses.find((name) => name === body.status) as JobStatusWire | undefined;
    if (status === undefined) return rejected('InvalidRequest', `A device cannot set the status ${body.status}.`);
    const execution = find(serial, jobId, body.executionNumber);
    if (execution === undefined) return rejected('ResourceNotFound', `There is no job ${jobId}.`);
    const executionState = stateOf(execution);
    if (body.expectedVersion !== undefined && body.expectedVersion !== execution.versionNumber) {
      return {
        rejected: {
          code: 'VersionMismatch',
          message: `Expected version ${body.expectedVersion}, the execution has ${execution.versionNumber}.`,
          executionState,
        },
      };
    }
    if (isFinal(execution.status)) {
      const message = `${execution.status} cannot become ${status}.`;
      return { rejected: { code: 'InvalidStateTransition', message, executionState } };
    }
    change(execution, status, detailsOf(body));
    setStepTimer(execution, body.stepTimeoutInMinutes);
    return {
      accepted: {
        ...(body.includeJobExecutionState === true && { executionState: stateOf(execution) }),
        ...(body.includeJobDocument === true && { jobDocument: documentOf(execution) }),
      },
    };
  }

  function find(serial: string, jobId: string, executionNumber: unknown): Execution | undefined {
    return executions.findLast(
      (execution) =>
        execution.serial === serial &&
        execution.jobId === jobId &&
        (executionNumber === undefined || executionNumber === execution.executionNumber),
    );
  }

  return {
    /** Queues a job; `onValid` is called before it is announced. Throws USAGE for an invalid id or document. */
    create(serial: string, jobId: string, document: unknown, onValid = () => {}): JobView {
      if (!JOB_ID.test(jobId)) throw new GwError('USAGE', `'${jobId}' is not a job id.`);
      const bytes = Buffer.byteLength(JSON.stringify(document));
      if (bytes > MAX_DOCUMENT_BYTES) throw new GwError('USAGE', `The job document has ${bytes} bytes.`);
      const before = find(serial, jobId, undefined);
      if (before !== undefined && !isFinal(before.status)) {
        throw new GwError('USAGE', `The job ${jobId} is ${before.status}.`);
      }
      onValid();
      const atMs = now();
      const execution: Execution = {
        jobId,
        serial,
        executionNumber: (before?.executionNumber ?? 0) + 1,
        document,
        status: 'QUEUED',
        statusDetails: {},
        queuedAtMs: atMs,
        startedAtMs: null,
        updatedAtMs: atMs,
        versionNumber: 1,
        timer: null,
        history: [{ status: 'QUEUED', statusDetails: {}, at: new Date(atMs).toISOString() }],
      };
      executions.push(execution);
      if (executions.length > MAX_JOBS) executions.shift()?.timer?.[Symbol.dispose]();
      announceHead(serial);
      return viewOf(execution);
    },
    /** Cancels a job; one in progress only with `force`. Throws USAGE. */
    cancel(serial: string, jobId: string, force: boolean): JobView {
      const execution = find(serial, jobId, undefined);
      if (execution === undefined) {
        throw new GwError('USAGE', `There is no job '${jobId}' for ${serial}.`, {
          remedy: 'List the jobs with `gw sim cloud jobs`.',
        });
      }
      if (isFinal(execution.status)) {
        throw new GwError('USAGE', `The job ${jobId} is ${execution.status} and cannot be cancelled.`, {
          remedy: 'Nothing is to be done: the job has ended.',
        });
      }
      if (execution.status === 'IN_PROGRESS' && !force) {
        throw new GwError('USAGE', `The job ${jobId} is in progress.`, {
          remedy: 'Add --force: the device may go on working on it, and cannot report its result.',
        });
      }
      change(execution, 'CANCELED');
      return viewOf(execution);
    },
    /** Answers a request on a topic below the start of the job topics; answers themselves are ignored. */
    receive(serial: string, suffix: string, payload: Uint8Array): void {
      if (/(^|\/)(accepted|rejected|notify|notify-next)$/.test(suffix)) return;
      const body = parseRequest(payload);
      const reply = isFailing() ? rejected('InternalError', 'Internal error.') : replyTo(serial, suffix, body);
      const common = { ...tokenOf(body), timestamp: seconds() };
      if ('accepted' in reply) send(serial, `${suffix}/accepted`, { ...reply.accepted, ...common });
      else send(serial, `${suffix}/rejected`, { ...reply.rejected, ...common } satisfies RejectedWire);
    },
    views: (): readonly JobView[] => executions.map(viewOf),
    [Symbol.dispose]() {
      for (const { timer } of executions) timer?.[Symbol.dispose]();
    },
  };

  function replyTo(serial: string, suffix: string, body: Body | undefined): Reply {
    const [first = '', second, ...others] = suffix.split('/');
    const operation = others.length > 0 ? undefined : second;
    const isJob = first === '$next' ? operation === 'get' : JOB_ID.test(first);
    const isKnown = suffix === 'start-next' || (isJob && (operation === 'get' || operation === 'update'));
    if (!isKnown) return rejected('InvalidTopic', `No request has the topic ${suffix}.`);
    if (body === undefined) return rejected('InvalidJson', 'The request is not a JSON object.');
    if (suffix === 'start-next') return startNext(serial, body);
    return operation === 'get' ? get(serial, first, body) : update(serial, first, body);
  }
}

const updateKeys = [
  'status',
  'statusDetails',
  'expectedVersion',
  'executionNumber',
  'includeJobExecutionState',
  'includeJobDocument',
  'stepTimeoutInMinutes',
  'clientToken',
];

function rejected(code: RejectionCode, message: string): Reply {
  return { rejected: { code, message } };
}

/** What is wrong with the fields of a request. */
function bodyProblem(body: Body, keys: readonly string[]): string | undefined {
  const unknown = unknownKey(body, keys);
  if (unknown !== undefined) return `Unknown field '${unknown}'.`;
  const { statusDetails, stepTimeoutInMinutes: minutes, clientToken } = body;
  if (clientToken !== undefined && (typeof clientToken !== 'string' || !/^\P{Cc}{1,64}$/u.test(clientToken))) {
    return 'clientToken is not a text of 1 to 64 characters.';
  }
  for (const key of ['expectedVersion', 'executionNumber']) {
    if (body[key] !== undefined && !Number.isInteger(body[key])) return `${key} is not a whole number.`;
  }
  for (const key of ['includeJobDocument', 'includeJobExecutionState']) {
    if (body[key] !== undefined && typeof body[key] !== 'boolean') return `${key} is not true or false.`;
  }
  const isStep = minutes === -1 || (Number.isInteger(minutes) && Number(minutes) >= 1);
  if (minutes !== undefined && (!isStep || Number(minutes) > MAX_STEP_MINUTES)) {
    return `stepTimeoutInMinutes is not -1 or 1 to ${MAX_STEP_MINUTES}.`;
  }
  if (statusDetails === undefined) return undefined;
  const isValid =
    isRecord(statusDetails) &&
    Object.entries(statusDetails).every(
      ([key, value]) => DETAIL_KEY.test(key) && typeof value === 'string' && DETAIL_VALUE.test(value),
    );
  return isValid ? undefined : 'statusDetails has an invalid key or value.';
}

function detailsOf({ statusDetails }: Body): Readonly<Record<string, string>> | undefined {
  return statusDetails as Readonly<Record<string, string>> | undefined;
}
