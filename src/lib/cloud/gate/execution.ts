import { isRecord } from '../../json/index.ts';
import type { JobExecutionWire, JobStatusWire } from '../wire.ts';
import { count, field, matching, textsOf, time } from './fields.ts';
import { JOB_ID } from './inbound-topic.ts';

const statuses: readonly JobStatusWire[] = [
  'QUEUED',
  'IN_PROGRESS',
  'SUCCEEDED',
  'FAILED',
  'TIMED_OUT',
  'REJECTED',
  'REMOVED',
  'CANCELED',
];

/** @source vendor (HINWEIS); control characters are not allowed, lone surrogates neither. */
const details = {
  key: /^[A-Za-z0-9:_-]{1,128}$/,
  text: /^[^\p{Cc}\p{Cs}]{0,1024}$/u,
  maxEntries: 64,
} as const;

/**
 * The job execution in a message of the job service; null when there is none: absent, or an empty object. Fields that
 * are not listed are dropped: the service may add some, and that must not cut the device off from releases. The job
 * document is passed on as it came; the release agent validates it.
 */
export function readExecution(value: unknown, serial: string): JobExecutionWire | null | 'wrong-type' | 'misaddressed' {
  if (value === undefined) return null;
  if (!isRecord(value)) return 'wrong-type';
  if (Object.keys(value).length === 0) return null;
  const thingName = field(value, 'thingName');
  if (thingName !== undefined && typeof thingName !== 'string') return 'wrong-type';
  if (thingName !== undefined && thingName !== serial) return 'misaddressed';
  const jobId = matching(field(value, 'jobId'), JOB_ID);
  const status = statuses.find((each) => each === field(value, 'status'));
  const queuedAt = time(field(value, 'queuedAt'));
  const lastUpdatedAt = time(field(value, 'lastUpdatedAt'));
  const versionNumber = count(field(value, 'versionNumber'));
  const executionNumber = count(field(value, 'executionNumber'));
  const startedAt = optional(field(value, 'startedAt'), time);
  const statusDetails = optional(field(value, 'statusDetails'), (given) => textsOf(given, details));
  const isComplete = jobId !== null && status !== undefined && queuedAt !== null && lastUpdatedAt !== null;
  if (!isComplete || versionNumber === null || executionNumber === null) return 'wrong-type';
  if (startedAt === null || statusDetails === null) return 'wrong-type';
  const jobDocument = field(value, 'jobDocument');
  return {
    jobId,
    ...(thingName !== undefined && { thingName }),
    ...(jobDocument !== undefined && { jobDocument }),
    status,
    ...(statusDetails !== undefined && { statusDetails }),
    queuedAt,
    ...(startedAt !== undefined && { startedAt }),
    lastUpdatedAt,
    versionNumber,
    executionNumber,
  };
}

/** Undefined where it is absent, null where it is not of the type. */
function optional<T>(value: unknown, read: (value: unknown) => T | null): T | null | undefined {
  return value === undefined ? undefined : read(value);
}
