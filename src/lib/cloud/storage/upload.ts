import { constants, type FileHandle } from 'node:fs/promises';
import { type Clock, openExisting } from '../../lifecycle/index.ts';
import { signedHeaders, storageAddress } from './address.ts';
import { transferLimits } from './limits.ts';
import type { SignedUrl, TransferLimits } from './model.ts';
import { AttemptFailure, statusFailure, storageRequest } from './request.ts';

export interface UploadOptions {
  /** A regular file of exactly `bytes`. */
  readonly path: string;
  readonly bytes: number;
  readonly signed: SignedUrl;
  readonly storageUrl: string | undefined;
  readonly trust: string | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onProgress: (bytes: number) => void;
  readonly limits?: Partial<TransferLimits> | undefined;
}

/** Several of them are in memory at a time; a slow connection still sends one within the idle time. */
const CHUNK_BYTES = 16 * 1024;
/** Project decision: a storage may check a large object before it answers. */
const ANSWER_MS = 120_000;
/**
 * Project decision: the last byte follows this much later. What was written may still be in the buffers of the network,
 * so only a byte that was not written shows that a storage answered without the whole archive.
 */
const LAST_BYTE_AFTER_MS = 2_000;

/**
 * One PUT of a file to a pre-signed URL, in bounded memory. Resolves when the storage has confirmed it with its status.
 * Throws an AttemptFailure, STORAGE_REFUSED for a URL that gw does not use, and the reason of the signal.
 */
export async function uploadOnce(options: UploadOptions): Promise<void> {
  const { path, bytes, signed, storageUrl, trust, clock, signal, onProgress } = options;
  const limits = { ...transferLimits, idleMs: ANSWER_MS, windowMs: ANSWER_MS, ...options.limits };
  const address = storageAddress(signed.url, { method: 'PUT', storageUrl });
  const headers = { ...signedHeaders(signed.headers, address.tried), 'content-length': String(bytes) };
  const file = await openExisting(path, constants.O_RDONLY);
  const over = new AbortController();
  try {
    const hold = () => clock.sleep(LAST_BYTE_AFTER_MS, over.signal).catch(() => {});
    const reader = readFrom(file, bytes, hold, onProgress);
    await storageRequest(
      { address, method: 'PUT', headers, body: reader.chunks(), trust, clock, limits, signal },
      async (reply) => {
        const failure = statusFailure(reply.status, reply.header);
        if (failure !== null) throw failure;
        if (!CONFIRMED.has(reply.status)) {
          throw new AttemptFailure('again', `the object storage answered with ${reply.status}`);
        }
        if (!reader.isAtEnd())
          throw new AttemptFailure('again', 'the object storage answered before it had everything');
      },
    ).catch((error: unknown) => {
      throw reader.error() ?? error;
    });
  } finally {
    over.abort();
    await file.close();
  }
}

const CONFIRMED: ReadonlySet<number> = new Set([200, 201, 204]);

function readFrom(file: FileHandle, bytes: number, hold: () => Promise<void>, onProgress: (bytes: number) => void) {
  let at = 0;
  let failure: unknown;
  return {
    isAtEnd: () => at === bytes,
    /** What went wrong with the file; undefined: nothing. */
    error: () => failure,
    async *chunks() {
      while (at < bytes) {
        const isLast = at === bytes - 1;
        if (isLast) await hold();
        // A new buffer each time: the transport may still hold the one before.
        const chunk = Buffer.allocUnsafe(isLast ? 1 : Math.min(CHUNK_BYTES, bytes - 1 - at));
        const { bytesRead } = await file.read(chunk, 0, chunk.length, at).catch((error: unknown) => {
          failure = error;
          throw error;
        });
        if (bytesRead === 0) {
          failure = new AttemptFailure('mismatch', `the file ended after ${at} of ${bytes} bytes`);
          throw failure;
        }
        at += bytesRead;
        yield chunk.subarray(0, bytesRead);
        onProgress(at);
      }
    },
  };
}
