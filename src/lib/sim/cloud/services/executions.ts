import type { JobExecutionWire, JobStatusWire } from '../../../cloud/wire.ts';

/** A job of one device. */
export interface Execution {
  readonly jobId: string;
  readonly serial: string;
  readonly executionNumber: number;
  /** With placeholders for pre-signed URLs. */
  readonly document: unknown;
  status: JobStatusWire;
  statusDetails: Readonly<Record<string, string>>;
  readonly queuedAtMs: number;
  startedAtMs: number | null;
  updatedAtMs: number;
  versionNumber: number;
  /** The timer of a step; null: none. */
  timer: Disposable | null;
  readonly history: JobChange[];
}

/** A status that a job had. */
interface JobChange {
  readonly status: JobStatusWire;
  readonly statusDetails: Readonly<Record<string, string>>;
  /** UTC. */
  readonly at: string;
}

/** A job as the cloud shows it. */
export interface JobView {
  readonly jobId: string;
  readonly serial: string;
  readonly executionNumber: number;
  readonly status: JobStatusWire;
  readonly statusDetails: Readonly<Record<string, string>>;
  readonly versionNumber: number;
  /** UTC. */
  readonly queuedAt: string;
  readonly updatedAt: string;
  /** Oldest first, at most the last 100. */
  readonly history: readonly JobChange[];
}

const MAX_HISTORY = 100;
const isoOf = (ms: number) => new Date(ms).toISOString();

/** Whether no further status follows. */
export function isFinal(status: JobStatusWire): boolean {
  return status !== 'QUEUED' && status !== 'IN_PROGRESS';
}

/** The head of a queue: an execution in progress, else the oldest queued one. */
export function headOf(executions: readonly Execution[], serial: string): Execution | undefined {
  const own = executions.filter((execution) => execution.serial === serial);
  return own.find(({ status }) => status === 'IN_PROGRESS') ?? own.find(({ status }) => status === 'QUEUED');
}

export function changeStatus(
  execution: Execution,
  status: JobStatusWire,
  atMs: number,
  statusDetails: Readonly<Record<string, string>> = execution.statusDetails,
): void {
  execution.status = status;
  execution.statusDetails = statusDetails;
  execution.updatedAtMs = atMs;
  execution.versionNumber += 1;
  if (status === 'IN_PROGRESS') execution.startedAtMs ??= atMs;
  if (isFinal(status)) {
    execution.timer?.[Symbol.dispose]();
    execution.timer = null;
  }
  execution.history.push({ status, statusDetails, at: isoOf(atMs) });
  if (execution.history.length > MAX_HISTORY) execution.history.shift();
}

export function viewOf(execution: Execution): JobView {
  const { jobId, serial, executionNumber, status, statusDetails, versionNumber, history } = execution;
  return {
    jobId,
    serial,
    executionNumber,
    status,
    statusDetails,
    versionNumber,
    queuedAt: isoOf(execution.queuedAtMs),
    updatedAt: isoOf(execution.updatedAtMs),
    history: [...history],
  };
}

/** Times in whole seconds. `document` undefined: without one. */
export function wireOf(execution: Execution, document: unknown): JobExecutionWire {
  const seconds = (ms: number) => Math.floor(ms / 1_000);
  return {
    jobId: execution.jobId,
    thingName: execution.serial,
    ...(document !== undefined && { jobDocument: document }),
    status: execution.status,
    statusDetails: { ...execution.statusDetails },
    queuedAt: seconds(execution.queuedAtMs),
    ...(execution.startedAtMs !== null && { startedAt: seconds(execution.startedAtMs) }),
    lastUpdatedAt: seconds(execution.updatedAtMs),
    versionNumber: execution.versionNumber,
    executionNumber: execution.executionNumber,
  };
}

const PLACEHOLDER = /^\$\{sim:presigned-url:([^{}]+)\}$/;

/** The text in a job document that stands for a pre-signed URL of an object. */
export function placeholderFor(key: string): string {
  return `\${sim:presigned-url:${key}}`;
}

/** A document with a new URL for each placeholder. Other placeholders stay as they are. */
export function fillDocument(value: unknown, presign: (key: string) => string): unknown {
  if (typeof value === 'string') {
    const key = PLACEHOLDER.exec(value)?.[1];
    return key === undefined ? value : presign(key);
  }
  if (Array.isArray(value)) return value.map((item) => fillDocument(item, presign));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillDocument(item, presign)]));
}
