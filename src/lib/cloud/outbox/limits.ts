/**
 * Largest payload that is accepted, with the envelope: 128 KiB per PUBLISH packet of a common MQTT service, less
 * headroom for what a broker may count besides. @source vendor, quota page (HINWEIS)
 */
export const MAX_PAYLOAD_BYTES = 127 * 1024;
/** @source vendor, quota page (HINWEIS) */
export const MAX_TOPIC_BYTES = 256;
/** Messages in flight; a common MQTT service allows 100. @source vendor, quota page (HINWEIS) */
export const MAX_IN_FLIGHT = 50;
/** Length of an id (UUID) in characters. */
export const ID_LENGTH = 36;

/** Bounds of one transaction: the write-ahead log holds it whole. */
export const MAX_BATCH_MESSAGES = 512;
const MAX_BATCH_BYTES = 256 * 1024;
/** Payloads that wait for a commit in memory; beyond it messages are refused. */
export const MAX_WAITING_BYTES = 4 * 1024 * 1024;

/** Bounds of one read while draining: two of them per class are in memory at most. */
export const PAGE_MESSAGES = 512;
export const PAGE_BYTES = 256 * 1024;

/** Without an answer of the disk for so long, it counts as failing. */
export const DISK_TIMEOUT_MS = 5_000;
/** Interval of the write that finds out whether a failing disk works again. */
export const PROBE_INTERVAL_MS = 5_000;
/** Without a PUBACK for so long, the messages in flight are sent again. */
export const PUBACK_TIMEOUT_MS = 30_000;
/** Minimum interval of the records about thinned telemetry. */
export const THINNING_RECORD_INTERVAL_MS = 60_000;

/** The share of a size limit that the write-ahead log may take. */
export function walBytes(maxBytes: number): number {
  return Math.min(4 * 1024 * 1024, Math.floor(maxBytes / 4));
}

/** Payloads in one transaction; a message that is larger is alone in it. */
export function maxBatchBytes(maxBytes: number): number {
  return Math.min(MAX_BATCH_BYTES, Math.floor(walBytes(maxBytes) / 2));
}
