import { GwError, type Tried } from '../../error/index.ts';
import { createBackoff, systemClock } from '../../lifecycle/index.ts';
import { foreignCoding } from '../../net/index.ts';
import { shorten } from '../../text/index.ts';
import { type StorageAddress, signedHeaders, storageAddress } from './address.ts';
import { transferLimits } from './limits.ts';
import type { DownloadTarget, TransferOptions } from './model.ts';
import { describeFile, onDisk, openPartial, type PartialFile } from './partial-file.ts';
import { AttemptFailure, type StorageReply, statusFailure, storageRequest } from './request.ts';

/** The part of a file that an answer 206 holds; positions count from 0 and include `last`. */
interface ContentRange {
  readonly first: number;
  readonly last: number;
  /** Size of the whole file; null: not given (`*`). */
  readonly total: number | null;
}

/** At most 15 digits, so that every accepted number is exact. */
const FORM = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/i;

/**
 * Downloads a file of known size and hash; resolves when it is complete, synced and has its name. What an earlier run
 * left in the partial file is continued where the storage honours Range. Throws STORAGE_REFUSED (another file, a URL
 * outside `storageUrl`, answers that do not change by trying again), STORAGE_NOT_REACHABLE after `maxTries` failed
 * attempts in a row, FILE_UNWRITABLE, and the reason of the signal. No error contains the query of the URL.
 */
export async function download(target: DownloadTarget, options: TransferOptions): Promise<void> {
  const { clock = systemClock, signal, onProgress } = options;
  const limits = { ...transferLimits, ...options.limits };
  const present = await onDisk(target.path, () => describeFile(target.path, signal));
  if (present?.bytes === target.bytes && present.sha256 === target.sha256) return;
  await using partial = await openPartial(target.path, target.bytes);
  const beganMs = clock.monotonicMs();
  const backoff = createBackoff({ firstMs: limits.firstBackoffMs, maxMs: limits.maxBackoffMs }, clock);
  let tried: Tried | undefined;
  let failed = 0;
  let expired = 0;
  let isExpired = false;
  let mayResume = true;
  let mismatches = 0;
  /** What the last answer says of its coding, for a file that is another one. */
  let coding: string | null = null;
  /** The most bytes that were ever there: a transfer that always starts anew makes no progress. */
  let reached = partial.size;

  for (;;) {
    signal.throwIfAborted();
    try {
      if (partial.size < target.bytes) {
        const { url, headers } = await options.url({ expired: isExpired });
        isExpired = false;
        const address = storageAddress(url, { method: 'GET', storageUrl: options.storageUrl });
        tried = address.tried;
        await attempt(address, signedHeaders(headers, address.tried));
      }
      if ((await partial.sha256(signal)) === target.sha256) return await partial.finish();
      throw new AttemptFailure('mismatch', 'the SHA-256 of the received file is not the announced one');
    } catch (error) {
      await react(asFailure(error, signal));
    }
  }

  async function attempt(address: StorageAddress, headers: Readonly<Record<string, string>>): Promise<void> {
    const from = mayResume ? partial.size : 0;
    const range = from > 0 ? { range: `bytes=${from}-${target.bytes - 1}` } : {};
    await storageRequest(
      { ...options, address, clock, limits, method: 'GET', headers: { ...headers, ...range } },
      async (reply, moved) => {
        coding = foreignCoding(reply.header('content-encoding'));
        await prepare(reply, from, target, partial);
        for await (const chunk of reply.body) {
          moved(chunk.byteLength);
          if (partial.size + chunk.byteLength > target.bytes) {
            throw new AttemptFailure('mismatch', `more than the announced ${target.bytes} bytes came`);
          }
          await partial.append(chunk);
          onProgress?.(partial.size);
        }
      },
    );
    if (partial.size === target.bytes) return;
    throw new AttemptFailure(
      'again',
      `the answer ended after ${partial.size} of ${target.bytes} bytes${labelOf(coding)}`,
    );
  }

  async function react({ kind, message }: AttemptFailure): Promise<void> {
    if (partial.size >= reached + limits.progressBytes) {
      reached = partial.size;
      failed = 0;
      expired = 0;
      backoff.reset();
    }
    switch (kind) {
      case 'mismatch':
        await partial.truncate();
        mayResume = true;
        reached = 0;
        failed = 0;
        mismatches += 1;
        if (mismatches < 2) return;
        await partial.discard();
        throw storageRefused(`${message}, twice${labelOf(coding)}`, tried);
      case 'refused':
        throw storageRefused(message, tried);
      case 'expired':
        isExpired = true;
        expired += 1;
        if (expired >= limits.maxExpired) throw storageRefused(`${message}, ${expired} times in a row`, tried);
        return;
      case 'whole':
        mayResume = false;
        break;
      case 'again':
        break;
    }
    failed += 1;
    if (failed >= limits.maxTries) {
      const at = { ...(tried ?? { address: 'object storage' }), forMs: Math.round(clock.monotonicMs() - beganMs) };
      throw new GwError('STORAGE_NOT_REACHABLE', `Download failed ${failed} times: ${message}.`, { tried: at });
    }
    await clock.sleep(backoff.nextMs(), signal);
  }
}

/** Parses a Content-Range header of an answer 206; null for anything else. @source RFC 9110, 14.4 */
export function parseContentRange(header: string | undefined): ContentRange | null {
  const found = FORM.exec(header ?? '');
  if (found === null) return null;
  const [first, last] = [Number(found[1]), Number(found[2])];
  const total = found[3] === '*' ? null : Number(found[3]);
  return first > last || (total !== null && last >= total) ? null : { first, last, total };
}

/** Checks the head of the answer before anything is written, and makes the partial file fit it. */
async function prepare(reply: StorageReply, from: number, target: DownloadTarget, partial: PartialFile): Promise<void> {
  const { status, header } = reply;
  if (status === 416) throw new AttemptFailure('whole', 'the object storage refused to continue the download (416)');
  const failure = statusFailure(status, header);
  if (failure !== null) throw failure;
  if (status === 206) {
    const range = parseContentRange(header('content-range'));
    if (from === 0 || range === null || range.first !== from || range.last >= target.bytes) {
      throw new AttemptFailure('whole', 'the answer holds another part of the file than was asked for');
    }
    if (range.total !== null && range.total !== target.bytes) throw wrongSize(range.total, target);
    assertLength(header, range.last - range.first + 1, target);
  } else if (status === 200) {
    assertLength(header, target.bytes, target);
    // Range was not honoured, or not asked for: this is the file from its beginning.
    await partial.truncate();
  } else {
    throw new AttemptFailure('again', `the object storage answered with ${status}`);
  }
}

function assertLength(header: StorageReply['header'], expected: number, target: DownloadTarget): void {
  const length = header('content-length');
  if (length !== undefined && Number(length) !== expected) throw wrongSize(Number(length), target);
}

function wrongSize(bytes: number, target: DownloadTarget): AttemptFailure {
  return new AttemptFailure('mismatch', `the storage has ${bytes} bytes, announced were ${target.bytes}`);
}

/** Errors that are no failure of an attempt are thrown. */
export function asFailure(error: unknown, signal: AbortSignal): AttemptFailure {
  if (signal.aborted) throw signal.reason;
  if (error instanceof AttemptFailure) return error;
  if (error instanceof GwError && (error.code === 'CLOUD_NOT_CONNECTED' || error.code === 'CLOUD_NO_ANSWER')) {
    return new AttemptFailure('again', error.message.replace(/\.$/, ''), error);
  }
  throw error;
}

const labelOf = (coding: string | null) => (coding === null ? '' : ` (Content-Encoding: ${shorten(coding, 20)})`);

function storageRefused(message: string, tried: Tried | undefined): GwError {
  return new GwError('STORAGE_REFUSED', `Download refused: ${message}.`, { tried });
}
