import { z } from 'zod';
import type { Clock } from '../../lifecycle/index.ts';

/** A transfer with the object storage by a pre-signed URL. No credential of the storage is on the device. */
export interface TransferOptions {
  /**
   * Returns a valid URL; called again after `expired` (403 or 400 of the storage). Its errors CLOUD_NOT_CONNECTED and
   * CLOUD_NO_ANSWER count as a failed attempt, all others end the transfer.
   */
  readonly url: (state: { readonly expired: boolean }) => Promise<SignedUrl>;
  /** PEM of the CA certificates to trust; undefined: those of Node and the operating system. */
  readonly trust: string | undefined;
  readonly signal: AbortSignal;
  /** Receives the bytes of the file that are transferred. */
  readonly onProgress?: (bytes: number) => void;
  /** `cloud.storageUrl`: a URL that is not below it is refused. Undefined: any https:// URL. */
  readonly storageUrl?: string | undefined;
  readonly clock?: Clock;
  readonly limits?: Partial<TransferLimits>;
}

export interface SignedUrl {
  /** https://; its query is a secret. */
  readonly url: string;
  /** Headers that the signature covers. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface TransferLimits {
  /** Failed attempts in a row without progress, after which the transfer is given up. */
  readonly maxTries: number;
  /** Answers 403 or 400 in a row without progress, after which the transfer is refused. */
  readonly maxExpired: number;
  readonly firstBackoffMs: number;
  readonly maxBackoffMs: number;
  /** Without a byte for this long, the attempt is cancelled. */
  readonly idleMs: number;
  /** With fewer than `minWindowBytes` within this time, the attempt is cancelled. */
  readonly windowMs: number;
  readonly minWindowBytes: number;
  /** An attempt counts as progress when it brought this many bytes more than any before. */
  readonly progressBytes: number;
}

export interface DownloadTarget {
  /** Path of the finished file. A partial download is kept beside it and resumed. */
  readonly path: string;
  readonly bytes: number;
  /** 64 lower-case hex digits. */
  readonly sha256: string;
}

/** An archive that waits for its upload, or has been uploaded. */
export const uploadViewSchema = z.strictObject({
  name: z.string(),
  bytes: z.number(),
  sha256: z.string(),
  state: z.enum(['waiting', 'uploading', 'uploaded', 'refused']),
  sentBytes: z.number(),
  addedAt: z.string().describe('UTC of the gateway, for people.'),
  detail: z.string().nullable().describe('What it waits for, or why it was refused; null: nothing to say.'),
});
export type UploadView = Readonly<z.infer<typeof uploadViewSchema>>;
