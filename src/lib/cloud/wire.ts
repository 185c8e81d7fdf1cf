/**
 * Wire shapes of the cloud messages: JSON in UTF-8, no behaviour. The simulator may import this file and nothing else
 * of the module.
 *
 * The specification shows no topic names and no payloads. Jobs and shadow have the shapes of a common vendor's device
 * services (HINWEIS); all other shapes are project decisions, documented in docs/cloud.md.
 */

/** Fields of every message that gw publishes through the outbox. */
export interface EnvelopeWire {
  /** Unique per message and the same in every copy of it, so that a receiver can drop duplicates. */
  id: string;
  /** Counts the messages of a class on this device from 1, without gaps. */
  seq: number;
  /** UTC ISO by the clock of the gateway when the message was made; for records, not for order. */
  at: string;
  serial: string;
}

/** Fields of the record about telemetry that the outbox removed for lack of space, on `cloud.topics.records`. */
export interface ThinnedWire {
  kind: 'telemetry-thinned';
  count: number;
  /** `seq` of the first and the last removed message. */
  fromSeq: number;
  toSeq: number;
  /** `at` of the first and the last removed message. */
  from: string;
  to: string;
}

/** A stop on `cloud.topics.stop` as it should be sent; any other message there stops too. */
export interface StopWire {
  /** 1 to 64 letters, digits, `_` or `-`; a message with the same id stops once. */
  id: string;
  /** For the people on site; at most 200 characters. */
  reason?: string;
  /** Who stops, as the cloud names it; at most 120 characters. */
  by?: string;
}

/** A notification on `cloud.topics.tunnels`. @source vendor (HINWEIS) */
export interface TunnelNotificationWire {
  clientAccessToken: string;
  clientMode: string;
  region: string;
  services: string[];
}

/** States of a job execution. @source vendor (HINWEIS) */
export type JobStatusWire =
  | 'QUEUED'
  | 'IN_PROGRESS'
  | 'SUCCEEDED'
  | 'FAILED'
  | 'TIMED_OUT'
  | 'REJECTED'
  | 'REMOVED'
  | 'CANCELED';

/**
 * A job execution, in `execution` of `<jobs>/notify-next`, `<jobs>/start-next/accepted` and `<jobs>/<jobId>/get/accepted`.
 * Times are in seconds or milliseconds. @source vendor (HINWEIS)
 */
export interface JobExecutionWire {
  jobId: string;
  thingName?: string;
  jobDocument?: unknown;
  status: JobStatusWire;
  statusDetails?: Record<string, string>;
  queuedAt: number;
  startedAt?: number;
  lastUpdatedAt: number;
  versionNumber: number;
  executionNumber: number;
}

/** `<jobs>/notify-next`; without `execution` the queue is empty. */
export interface JobNotifyNextWire {
  timestamp: number;
  execution?: JobExecutionWire;
}

/** `<jobs>/start-next` and `<jobs>/<jobId>/get`. */
export interface JobGetWire {
  clientToken: string;
  statusDetails?: Record<string, string>;
  stepTimeoutInMinutes?: number;
}

/** `<jobs>/<jobId>/update`. */
export interface JobUpdateWire {
  status: JobStatusWire;
  statusDetails?: Record<string, string>;
  expectedVersion?: number;
  executionNumber?: number;
  stepTimeoutInMinutes?: number;
  clientToken: string;
}

/** `…/rejected` of jobs (a word as code) and shadow (a number as code). */
export interface RejectedWire {
  code: string | number;
  message: string;
  clientToken?: string;
  timestamp?: number;
}

/** `<shadow>/update`. A desired state is never sent and never acted on. */
export interface ShadowUpdateWire {
  state: { reported: Record<string, unknown> };
  clientToken: string;
}

/** `<shadow>/update/accepted`. */
export interface ShadowAcceptedWire {
  state: unknown;
  version: number;
  timestamp: number;
  clientToken?: string;
}

/** Request for a pre-signed URL on `cloud.topics.storage`. */
export interface StorageRequestWire {
  clientToken: string;
  /** Only uploads: the URL of a release comes in its job document. */
  method: 'PUT';
  /** Path below the folder of this device: `maps/2026-01-31T12-00-00Z.tar`. */
  name: string;
  bytes: number;
  /** 64 lower-case hex digits. */
  sha256: string;
}

/** Answer on `<storage>/answer`. */
export interface StorageAnswerWire {
  clientToken: string;
  /** https:// below `cloud.storageUrl`; absent when refused. */
  url?: string;
  /** Headers that the signature covers. */
  headers?: Record<string, string>;
  /** Why there is no URL. */
  error?: string;
}

/** Document of a release job. */
export interface ReleaseDocumentWire {
  schema: 'gw/release-job/1';
  version: string;
  package: {
    /** Pre-signed https:// URL. */
    url: string;
    bytes: number;
    /** Of the package file: 64 lower-case hex digits. */
    sha256: string;
  };
  /** Whether a version older than the running one may be installed; false by default. */
  allowDowngrade?: boolean;
  /** Number of the rollout stage, 1 to 4: reported back and never interpreted. */
  stage?: number;
  /** Reported back; nothing is substituted by it. Its shape is not shown. */
  documentParameters?: unknown;
}
