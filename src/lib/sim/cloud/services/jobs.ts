import type { JobExecutionWire, JobNotifyNextWire, JobStatusWire, RejectedWire } from '../../../cloud/wire.ts';
import { GwError } from '../../../error/index.ts';
import { isRecord } from '../../chassis/maps/map-store.ts';
import type { SimCloudJob } from '../../control/control.result.ts';
import { parseRequest, tokenOf, unknownKey } from './request.ts';

/** A job as the cloud shows it. */
export type JobView = SimCloudJob;

interface Execution extends SimCloudJob {
  /** With placeholders for pre-signed URLs. */
  readonly document: unknown;
  startedAt?: string;
}

export interface JobsOptions {
  /** Milliseconds since 1970 by the clock of the cloud. */
  readonly now: () => number;
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
  | 'InternalError'
  | 'TerminalStateReached';

type Reply =
  | { readonly accepted: object }
  | { readonly rejected: { readonly code: RejectionCode; readonly message: string; readonly executionState?: object } };

type Body = Readonly<Record<string, unknown>>;

/** @source vendor (HINWEIS) */
const MAX_DOCUMENT_BYTES = 32_768;
const MAX_JOBS = 1_000;
const JOB_ID = /^[a-zA-Z0-9_-]{1,64}$/;
const DETAIL_KEY = /^[a-zA-Z0-9:_-]{1,128}$/;
const DETAIL_VALUE = /^\P{Cc}{1,1024}$/u;
const MAX_HISTORY = 100;
const deviceStatuses: readonly JobStatusWire[] = ['IN_PROGRESS', 'SUCCEEDED', 'FAILED', 'REJECTED'];

/** The job service of a common vendor (HINWEIS), and stricter: unknown fields of a request are rejected. */
export function createJobs({ now, presign, isFailing, send }: JobsOptions) {
  const executions: Execution[] = [];
  /** The head of each queue as it was announced last. */
  const heads = new Map<string, string | null>();

  function announceHead(serial: string): void {
    const head = headOf(serial);
    const name = head === undefined ? null : `${head.jobId}#${head.executionNumber}`;
    if (name === (heads.get(serial) ?? null)) return;
    heads.set(serial, name);
    const body: JobNotifyNextWire = {
      timestamp: seconds(),
      ...(head !== undefined && { execution: wireOf(head) }),
    };
    send(serial, 'notify-next', body);
  }

  function seconds(): number {
    return Math.floor(now() / 1_000);
  }

  const nowIso = () => new Date(now()).toISOString();

  /** An execution in progress, else the oldest queued one. */
  function headOf(serial: string): Execution | undefined {
    const own = executions.filter((execution) => execution.serial === serial);
    return own.find(({ status }) => status === 'IN_PROGRESS') ?? own.find(({ status }) => status === 'QUEUED');
  }

  function change(execution: Execution, status: JobStatusWire, details = execution.statusDetails): void {
    const at = nowIso();
    execution.status = status;
    execution.statusDetails = details;
    execution.updatedAt = at;
    execution.versionNumber += 1;
    if (status === 'IN_PROGRESS') execution.startedAt ??= at;
    execution.history.push({ status, statusDetails: details, at });
    if (execution.history.length > MAX_HISTORY) execution.history.shift();
    announceHead(execution.serial);
  }

  /** With new URLs in its document. Times in whole seconds. */
  function wireOf({ jobId, serial, status, statusDetails, ...execution }: Execution): JobExecutionWire {
    const { versionNumber, executionNumber, queuedAt, startedAt, updatedAt } = execution;
    const secondsOf = (iso: string) => Math.floor(Date.parse(iso) / 1_000);
    return {
      jobId,
      thingName: serial,
      jobDocument: fillDocument(execution.document, presign),
      status,
      statusDetails,
      queuedAt: secondsOf(queuedAt),
      ...(startedAt !== undefined && { startedAt: secondsOf(startedAt) }),
      lastUpdatedAt: secondsOf(updatedAt),
      versionNumber,
      executionNumber,
    };
  }

  function startNext(serial: string, body: Body): Reply {
    const problem = bodyProblem(body, ['clientToken']);
    if (problem !== undefined) return rejected('InvalidRequest', problem);
    const next = headOf(serial);
    if (next === undefined) return { accepted: {} };
    if (next.status === 'QUEUED') change(next, 'IN_PROGRESS');
    return { accepted: { execution: wireOf(next) } };
  }

  function get(serial: string, jobId: string, body: Body): Reply {
    const problem = bodyProblem(body, ['clientToken']);
    if (problem !== undefined) return rejected('InvalidRequest', problem);
    const execution = find(serial, jobId, undefined);
    if (execution === undefined) return rejected('ResourceNotFound', `There is no job ${jobId}.`);
    if (isFinal(execution.status)) {
      return rejected('TerminalStateReached', `The job ${jobId} is ${execution.status}.`);
    }
    return { accepted: { execution: wireOf(execution) } };
  }

  function update(serial: string, jobId: string, body: Body): Reply {
    const problem = bodyProblem(body, ['status', 'statusDetails', 'executionNumber', 'clientToken']);
    if (problem !== undefined) return rejected('InvalidRequest', problem);
    const status = deviceStatuses.find((name) => name === body.status);
    if (status === undefined) return rejected('InvalidRequest', `A device cannot set the status ${body.status}.`);
    const execution = find(serial, jobId, body.executionNumber);
    if (execution === undefined) return rejected('ResourceNotFound', `There is no job ${jobId}.`);
    if (isFinal(execution.status)) {
      const { status: present, statusDetails, versionNumber } = execution;
      const message = `${present} cannot become ${status}.`;
      const executionState = { status: present, statusDetails, versionNumber };
      return { rejected: { code: 'InvalidStateTransition', message, executionState } };
    }
    change(execution, status, body.statusDetails as SimCloudJob['statusDetails'] | undefined);
    return { accepted: {} };
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
      const at = nowIso();
      const execution: Execution = {
        jobId,
        serial,
        executionNumber: (before?.executionNumber ?? 0) + 1,
        document,
        status: 'QUEUED',
        statusDetails: {},
        queuedAt: at,
        updatedAt: at,
        versionNumber: 1,
        history: [{ status: 'QUEUED', statusDetails: {}, at }],
      };
      executions.push(execution);
      if (executions.length > MAX_JOBS) executions.shift();
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
          remedy: 'Add --in-progress: the device may go on working on it, and cannot report its result.',
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
  };

  function replyTo(serial: string, suffix: string, body: Body | undefined): Reply {
    const [, jobId = '', operation] = /^([a-zA-Z0-9_-]{1,64})\/(get|update)$/.exec(suffix) ?? [];
    if (suffix !== 'start-next' && operation === undefined) {
      return rejected('InvalidTopic', `No request has the topic ${suffix}.`);
    }
    if (body === undefined) return rejected('InvalidJson', 'The request is not a JSON object.');
    if (suffix === 'start-next') return startNext(serial, body);
    return operation === 'get' ? get(serial, jobId, body) : update(serial, jobId, body);
  }
}

function rejected(code: RejectionCode, message: string): Reply {
  return { rejected: { code, message } };
}

/** What is wrong with the fields of a request. */
function bodyProblem(body: Body, keys: readonly string[]): string | undefined {
  const unknown = unknownKey(body, keys);
  if (unknown !== undefined) return `Unknown field '${unknown}'.`;
  const { statusDetails = {}, executionNumber = 1, clientToken = '-' } = body;
  if (typeof clientToken !== 'string' || !/^\P{Cc}{1,64}$/u.test(clientToken)) {
    return 'clientToken is not a text of 1 to 64 characters.';
  }
  if (!Number.isInteger(executionNumber)) return 'executionNumber is not a whole number.';
  const areDetails =
    isRecord(statusDetails) &&
    Object.entries(statusDetails).every(
      ([key, value]) => DETAIL_KEY.test(key) && typeof value === 'string' && DETAIL_VALUE.test(value),
    );
  return areDetails ? undefined : 'statusDetails has an invalid key or value.';
}

/** Whether no further status follows. */
function isFinal(status: JobStatusWire): boolean {
  return status !== 'QUEUED' && status !== 'IN_PROGRESS';
}

function viewOf({ document: _, startedAt: __, ...view }: Execution): JobView {
  return { ...view, history: [...view.history] };
}

const PLACEHOLDER = /^\$\{sim:presigned-url:([^{}]+)\}$/;

/** The text in a job document that stands for a pre-signed URL of an object. */
export function placeholderFor(key: string): string {
  return `\${sim:presigned-url:${key}}`;
}

/** A document with a new URL for each placeholder. Other placeholders stay as they are. */
function fillDocument(value: unknown, presign: (key: string) => string): unknown {
  if (typeof value === 'string') {
    const key = PLACEHOLDER.exec(value)?.[1];
    return key === undefined ? value : presign(key);
  }
  if (Array.isArray(value)) return value.map((item) => fillDocument(item, presign));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillDocument(item, presign)]));
}
