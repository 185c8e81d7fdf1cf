import { createHash } from 'node:crypto';
import { constants, type FileHandle, rename, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { GwError, systemReason } from '../../error/index.ts';
import { ensureFolder, openExisting, openFresh, syncFolder, UnsuitableFile } from '../../lifecycle/index.ts';

/** A download under way: `<path>.partial`, readable by its owner only. All methods throw FILE_UNWRITABLE. */
export interface PartialFile extends AsyncDisposable {
  /** Bytes that it has. */
  readonly size: number;
  truncate(): Promise<void>;
  append(chunk: Uint8Array): Promise<void>;
  sha256(signal: AbortSignal): Promise<string>;
  /** Syncs it and gives it its final name. */
  finish(): Promise<void>;
  /** Removes it. */
  discard(): Promise<void>;
}

const HASH_CHUNK_BYTES = 1024 * 1024;

/** Opens the partial file of a download, a new one unless there is one of at most `maxBytes`. */
export async function openPartial(path: string, maxBytes: number): Promise<PartialFile> {
  const partial = `${path}.partial`;
  const file = await onDisk(partial, async () => {
    await ensureFolder(dirname(path), 0o700);
    const left = await openIfThere(partial);
    if (left !== null) return left;
    // A link or a pipe in its place, or none.
    await rm(partial, { force: true });
    await (await openFresh(partial, 0o600)).close();
    return openExisting(partial);
  });
  let size = 0;
  try {
    size = await onDisk(partial, async () => {
      await file.chmod(0o600);
      const found = (await file.stat()).size;
      if (found <= maxBytes) return found;
      await file.truncate(0);
      return 0;
    });
  } catch (error) {
    await file.close();
    throw error;
  }
  return {
    get size() {
      return size;
    },
    async truncate() {
      await onDisk(partial, () => file.truncate(0));
      size = 0;
    },
    async append(chunk) {
      await onDisk(partial, async () => {
        let written = 0;
        while (written < chunk.byteLength) {
          const { bytesWritten } = await file.write(chunk, written, chunk.byteLength - written, size + written);
          written += bytesWritten;
        }
      });
      size += chunk.byteLength;
    },
    sha256: (signal) => onDisk(partial, () => hashOf(file, signal)),
    async finish() {
      await onDisk(path, async () => {
        await file.sync();
        await rename(partial, path);
        await syncFolder(dirname(path));
      });
    },
    async discard() {
      await onDisk(partial, async () => {
        await rm(partial, { force: true });
        await syncFolder(dirname(path));
      });
    },
    async [Symbol.asyncDispose]() {
      await file.close();
    },
  };
}

/**
 * Size and SHA-256 of a regular file, read in bounded pieces; null when there is none. Rejects with the error of the
 * operating system.
 */
export async function describeFile(
  path: string,
  signal: AbortSignal,
): Promise<{ bytes: number; sha256: string } | null> {
  const file = await openIfThere(path, constants.O_RDONLY);
  if (file === null) return null;
  try {
    return { bytes: (await file.stat()).size, sha256: await hashOf(file, signal) };
  } finally {
    await file.close();
  }
}

/** null without a file; one that cannot be opened at the moment is there. */
async function openIfThere(path: string, flags?: number): Promise<FileHandle | null> {
  try {
    return await openExisting(path, flags);
  } catch (error) {
    if (error instanceof UnsuitableFile || (error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

async function hashOf(file: FileHandle, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  const chunk = Buffer.allocUnsafeSlow(HASH_CHUNK_BYTES);
  for (let at = 0; ; ) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
    if (bytesRead === 0) return hash.digest('hex');
    hash.update(chunk.subarray(0, bytesRead));
    at += bytesRead;
  }
}

/** Turns an error of the operating system into FILE_UNWRITABLE. */
export async function onDisk<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (typeof code !== 'string' || cause instanceof GwError) throw cause;
    throw new GwError(
      'FILE_UNWRITABLE',
      `${basename(path)} in ${dirname(path)} cannot be written (${systemReason({ code })}).`,
      {
        cause,
      },
    );
  }
}
