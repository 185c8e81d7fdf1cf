/** A transfer with the object storage by a pre-signed URL. No credential of the storage is on the device. */
export interface TransferOptions {
  /** Returns a valid URL; called again after `expired` (403 or 400 of the storage). */
  readonly url: (state: { readonly expired: boolean }) => Promise<{
    readonly url: string;
    readonly headers?: Readonly<Record<string, string>>;
  }>;
  /** PEM of the CA certificates to trust; undefined: those of Node and the operating system. */
  readonly trust: string | undefined;
  readonly signal: AbortSignal;
  readonly onProgress?: (bytes: number) => void;
}

export interface DownloadTarget {
  /** Path of the finished file. A partial download is kept beside it and resumed. */
  readonly path: string;
  readonly bytes: number;
  /** 64 lower-case hex digits. */
  readonly sha256: string;
}

/** An archive that waits for its upload, or has been uploaded. */
export interface UploadView {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly state: 'waiting' | 'uploading' | 'uploaded' | 'refused';
  readonly sentBytes: number;
  /** UTC, for people. */
  readonly addedAt: string;
  /** One sentence: what it waits for, or why it was refused; null: nothing to say. */
  readonly detail: string | null;
}
