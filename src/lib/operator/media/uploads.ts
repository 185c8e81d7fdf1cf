import { type FileHandle, rename, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { ensureFolder, openFresh } from '../../lifecycle/index.ts';
import type { MediaFolder, MediaItem } from './media-folder.ts';
import { SenderFault, takeContent } from './take-content.ts';
import { createReceivedBytes } from './young-garbage.ts';

const MAX_CONCURRENT_UPLOADS = 2;

/** An upload checks the free space again after this many bytes. */
const SPACE_CHECK_INTERVAL_BYTES = 4_000_000;

export interface UploadLimits {
  /** Of one file. */
  readonly maxBytes: number;
  /** Of all files together, including uploads in progress. */
  readonly quotaBytes: number;
  /** Reserved free space on the disk, for the stop latch and the evidence. */
  readonly reserveBytes: number;
}

type Refusal = 'too-large' | 'quota' | 'no-space';

export type UploadOutcome =
  | { readonly kind: 'stored'; readonly item: MediaItem; readonly replaced: boolean }
  | { readonly kind: Refusal | 'busy' };

/** What the folder takes: a few uploads at once, within the quota and the free space of the disk. */
export function createUploads(folder: MediaFolder, { maxBytes, quotaBytes, reserveBytes }: UploadLimits) {
  const { dir } = folder;
  let uploads = 0;
  /** Bytes of uploads in progress. */
  let incoming = 0;

  async function hasSpace(bytes: number): Promise<boolean> {
    const { bavail, bsize } = await statfs(dir);
    return bavail * bsize - bytes >= reserveBytes;
  }

  /** null when it was written completely; otherwise the reason. Throws SenderFault for every error that is not ours. */
  async function write(file: FileHandle, content: Readable, whole: () => Promise<void>): Promise<Refusal | null> {
    const stored = await folder.storedBytes();
    let bytes = 0;
    let untilCheck = 0;
    const received = createReceivedBytes();

    async function take(chunks: readonly Buffer[]): Promise<Refusal | null> {
      const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
      bytes += length;
      incoming += length;
      untilCheck -= length;
      // Before the write: what was written before is garbage by now.
      received.add(length);
      if (bytes > maxBytes) return 'too-large';
      if (stored + incoming > quotaBytes) return 'quota';
      if (untilCheck <= 0) {
        if (!(await hasSpace(length))) return 'no-space';
        untilCheck = SPACE_CHECK_INTERVAL_BYTES;
      }
      await writeAll(file, chunks);
      return null;
    }

    try {
      const refusal = await takeContent(content, take);
      if (refusal !== null) return refusal;
      await whole().catch((error: unknown) => {
        throw new SenderFault(error);
      });
      await file.sync();
      return null;
    } finally {
      incoming -= bytes;
    }
  }

  async function receive(name: string, content: Readable, whole: () => Promise<void>): Promise<UploadOutcome> {
    const part = folder.newPart();
    try {
      await ensureFolder(dir);
      const file = await openFresh(part);
      try {
        const kind = await write(file, content, whole);
        if (kind !== null) return { kind };
      } finally {
        await file.close();
      }
      const replaced = (await folder.itemOf(name)) !== null;
      await rename(part, join(dir, name));
      const item = await folder.itemOf(name);
      return item ? { kind: 'stored', item, replaced } : { kind: 'no-space' };
    } catch (error) {
      if (error instanceof SenderFault) throw error.cause;
      if (['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '')) return { kind: 'no-space' };
      throw folder.unwritable(error);
    } finally {
      // A part that cannot be removed now is removed at the next start.
      await rm(part, { force: true }).catch(() => {});
    }
  }

  return {
    /** How many bytes it still takes, within the quota and the free space of the disk; null: not known. */
    async leftBytes(): Promise<number | null> {
      // The folder is created by the first upload.
      const disk = await statfs(dir).catch(() => statfs(dirname(dir)).catch(() => null));
      if (disk === null) return null;
      const free = disk.bavail * disk.bsize - reserveBytes;
      return Math.max(0, Math.min(quotaBytes - (await folder.storedBytes()) - incoming, free));
    },

    /**
     * The file appears under its name only when it is complete and `whole` has resolved; an aborted upload leaves nothing.
     * Errors of the content and of `whole` are passed on; throws FILE_UNWRITABLE and FILE_UNREADABLE.
     */
    async store(name: string, content: Readable, whole: () => Promise<void>): Promise<UploadOutcome> {
      if (uploads >= MAX_CONCURRENT_UPLOADS) return { kind: 'busy' };
      uploads += 1;
      try {
        return await receive(name, content, whole);
      } finally {
        uploads -= 1;
      }
    },
  };
}

/** One call may write less than all of it. */
async function writeAll(file: FileHandle, chunks: readonly Buffer[]): Promise<void> {
  for (let left = chunks.filter(({ length }) => length > 0); left.length > 0; ) {
    let { bytesWritten } = await file.writev(left);
    left = left.flatMap((chunk) => {
      const written = Math.min(bytesWritten, chunk.length);
      bytesWritten -= written;
      return written === chunk.length ? [] : [chunk.subarray(written)];
    });
  }
}
