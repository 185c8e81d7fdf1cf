import { MAX_BATCH_BYTES } from './limits.ts';

/** The share of a size limit that the write-ahead log may take. */
export function walBytes(maxBytes: number): number {
  return Math.min(4 * 1024 * 1024, Math.floor(maxBytes / 4));
}

/** Payloads in one transaction; a message that is larger is alone in it. */
export function maxBatchBytes(maxBytes: number): number {
  return Math.min(MAX_BATCH_BYTES, Math.floor(walBytes(maxBytes) / 2));
}
