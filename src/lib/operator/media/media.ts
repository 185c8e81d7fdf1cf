import { randomBytes } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { constants, type FileHandle, lstat, open, readdir, rename, rm, statfs, unlink } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { type Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { z } from 'zod';
import { GwError } from '../../error/index.ts';
import { ensureFolder, openFresh } from '../../lifecycle/index.ts';
import type { mediaItemSchema } from '../answers/answers.ts';
import { type ByteRange, byteRange } from './byte-range.ts';
import { type FileContent, fileContent } from './file-content.ts';
import { createReceivedBytes } from './young-garbage.ts';

/** @source specification, 'Limits': media library files up to 200 MB */
export const MAX_MEDIA_BYTES = 200_000_000;

const MAX_LISTED = 1_000;
const LOOKED_AT_ONCE = 32;
const MAX_CONCURRENT_UPLOADS = 2;
const PART_PREFIX = '.upload-';

/** Types that a browser may show; everything else is offered for download. */
const contentTypes: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.avif': 'image/avif',
  '.mp4': 'video/mp4',
  '.webm': 'video/webm',
  '.mp3': 'audio/mpeg',
  '.m4a': 'audio/mp4',
  '.ogg': 'audio/ogg',
  '.wav': 'audio/wav',
  '.pdf': 'application/pdf',
  '.txt': 'text/plain; charset=utf-8',
};

type MediaItem = Readonly<z.infer<typeof mediaItemSchema>>;

export interface OpenMedia extends MediaItem {
  /** Whether a browser may show it in place. */
  readonly inline: boolean;
  /** Which part of it is the content; null: the whole file. */
  readonly range: ByteRange | null;
  readonly content: FileContent;
}

export type StoreOutcome =
  | { readonly kind: 'stored'; readonly item: MediaItem; readonly replaced: boolean }
  | { readonly kind: 'bad-name' | 'too-large' | 'quota' | 'no-space' | 'busy' };

/** The files that the tablet can show: one flat folder, written and deleted by signed-in persons. */
export interface MediaLibrary {
  /** Removes the parts of uploads that a power cut interrupted. A missing folder is an empty library. */
  tidy(): Promise<void>;
  /** The first 1,000 by name, and how many files there are beyond them. */
  list(): Promise<{ readonly files: readonly MediaItem[]; readonly more: number }>;
  /** How many bytes it still takes, within the quota and the free space of the disk; null: not known. */
  leftBytes(): Promise<number | null>;
  /** null: file not found. `range` is the header of the request. */
  open(name: string, range?: string): Promise<OpenMedia | null>;
  /**
   * The file appears under its name only when it is complete and `whole` has resolved; an aborted upload leaves nothing.
   * Errors of the content and of `whole` are passed on.
   */
  store(name: string, content: Readable, whole?: () => Promise<void>): Promise<StoreOutcome>;
  /** false: file not found. */
  remove(name: string): Promise<boolean>;
}

/**
 * A name that is safe as a file name, in a header and on a page: letters, digits, spaces and `. _ - ( )`,
 * beginning with a letter or digit and not ending with a space or dot, at most 120 characters and 200 bytes.
 * null when the name is invalid.
 */
export function mediaName(input: string): string | null {
  const name = input.normalize('NFC');
  if (!/^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._()-]{0,119}$/u.test(name) || /[ .]$/.test(name)) return null;
  return Buffer.byteLength(name) <= 200 ? name : null;
}

export interface MediaLimits {
  /** Of one file. */
  readonly maxBytes?: number;
  /** Of all files together, including uploads in progress. */
  readonly quotaBytes?: number;
  /** Reserved free space on the disk, for the stop latch and the evidence. */
  readonly reserveBytes?: number;
}

/** An upload checks the free space again after this many bytes. */
const SPACE_CHECK_INTERVAL_BYTES = 4_000_000;

/** Memory of one upload that waits to be written. */
const WRITE_BYTES = 512 * 1024;

/** An error of whoever sends the content: not one of this folder. */
class SenderFault extends Error {
  constructor(cause: unknown) {
    super('the sender failed', { cause });
  }
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

export function createMediaLibrary(dir: string, limits: MediaLimits = {}): MediaLibrary {
  const { maxBytes = MAX_MEDIA_BYTES, quotaBytes = Number.POSITIVE_INFINITY, reserveBytes = 0 } = limits;
  let uploads = 0;
  /** Bytes of uploads in progress. */
  let incoming = 0;

  async function itemOf(name: string): Promise<MediaItem | null> {
    const stat = await lstat(join(dir, name)).catch(absent);
    if (!stat?.isFile()) return null;
    const contentType = contentTypes[extname(name).toLowerCase()] ?? 'application/octet-stream';
    return { name, bytes: stat.size, contentType, modified: stat.mtime.toISOString() };
  }

  const names = async () => (await entries()).map(({ name }) => name);

  async function entries(): Promise<Dirent[]> {
    try {
      return await readdir(dir, { withFileTypes: true });
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (code === 'ENOENT') return [];
      throw new GwError('FILE_UNREADABLE', `The media folder ${dir} cannot be read (${code ?? 'unknown reason'}).`, {
        remedy:
          'Make it readable for the user that runs gw, or name another folder in operator.mediaDir of the site file.',
        cause,
      });
    }
  }

  /** A few at a time: the disk threads are those that save a stop. */
  async function itemsOf(names: readonly string[]): Promise<MediaItem[]> {
    const items: MediaItem[] = [];
    for (let at = 0; at < names.length; at += LOOKED_AT_ONCE) {
      const some = await Promise.all(names.slice(at, at + LOOKED_AT_ONCE).map(itemOf));
      items.push(...some.filter((item) => item !== null));
    }
    return items;
  }

  async function storedBytes(): Promise<number> {
    // An upload in progress counts by its received bytes.
    const stored = (await names()).filter((name) => !name.startsWith(PART_PREFIX));
    return (await itemsOf(stored)).reduce((sum, { bytes }) => sum + bytes, 0);
  }

  async function hasSpace(bytes: number): Promise<boolean> {
    const { bavail, bsize } = await statfs(dir);
    return bavail * bsize - bytes >= reserveBytes;
  }

  /** null when it was written completely; otherwise the reason. Throws SenderFault for every error that is not ours. */
  async function write(
    file: FileHandle,
    content: Readable,
    whole: () => Promise<void>,
  ): Promise<'too-large' | 'quota' | 'no-space' | null> {
    const stored = await storedBytes();
    let bytes = 0;
    let untilCheck = 0;
    let refusal: 'too-large' | 'quota' | 'no-space' | null = null;
    let failure: unknown;
    const received = createReceivedBytes();

    async function take(chunks: readonly Buffer[]): Promise<typeof refusal> {
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

    function taken(chunks: readonly Buffer[], done: (error?: Error | null) => void): void {
      take(chunks).then(
        (because) => {
          refusal = because;
          done(because === null ? null : new Error(because));
        },
        (error: Error) => {
          failure = error;
          done(error);
        },
      );
    }

    // What arrives during a write is written together: a change of thread for each 64 KiB took longer than the writing.
    const sink = new Writable({
      highWaterMark: WRITE_BYTES,
      write: (chunk: Buffer, _encoding, done) => taken([chunk], done),
      writev: (chunks, done) =>
        taken(
          chunks.map(({ chunk }) => chunk as Buffer),
          done,
        ),
    });
    try {
      await pipeline(content, sink).catch((error: unknown) => {
        if (refusal === null) throw failure ?? new SenderFault(error);
      });
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

  /** Errors of the operating system name the folder; all others are passed on. */
  function unwritable(cause: unknown): unknown {
    const { code, syscall } = cause as NodeJS.ErrnoException;
    if (syscall === undefined) return cause;
    return new GwError('FILE_UNWRITABLE', `The media folder ${dir} cannot be written (${code ?? 'unknown reason'}).`, {
      remedy: 'Make it a folder that the user running gw may write, or name another one in operator.mediaDir.',
      cause,
    });
  }

  async function receive(name: string, content: Readable, whole: () => Promise<void>): Promise<StoreOutcome> {
    const part = join(dir, PART_PREFIX + randomBytes(8).toString('hex'));
    try {
      await ensureFolder(dir);
      const file = await openFresh(part);
      try {
        const kind = await write(file, content, whole);
        if (kind !== null) return { kind };
      } finally {
        await file.close();
      }
      const replaced = (await itemOf(name)) !== null;
      await rename(part, join(dir, name));
      const item = await itemOf(name);
      return item ? { kind: 'stored', item, replaced } : { kind: 'no-space' };
    } catch (error) {
      if (error instanceof SenderFault) throw error.cause;
      if (['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '')) return { kind: 'no-space' };
      throw unwritable(error);
    } finally {
      // A part that cannot be removed now is removed at the next start.
      await rm(part, { force: true }).catch(() => {});
    }
  }

  return {
    async tidy() {
      for (const name of await names()) if (name.startsWith(PART_PREFIX)) await rm(join(dir, name), { force: true });
    },
    async list() {
      const safe = (await entries())
        .filter((entry) => entry.isFile() && mediaName(entry.name) === entry.name)
        .map(({ name }) => name)
        .sort();
      return { files: await itemsOf(safe.slice(0, MAX_LISTED)), more: Math.max(0, safe.length - MAX_LISTED) };
    },
    async leftBytes() {
      // The folder is created by the first upload.
      const disk = await statfs(dir).catch(() => statfs(dirname(dir)).catch(() => null));
      if (disk === null) return null;
      const free = disk.bavail * disk.bsize - reserveBytes;
      return Math.max(0, Math.min(quotaBytes - (await storedBytes()) - incoming, free));
    },
    async open(input, header) {
      const name = mediaName(input);
      const item = name === null ? null : await itemOf(name);
      if (!item) return null;
      const inline = item.contentType !== 'application/octet-stream';
      // The file may have been replaced by a link or a pipe since it was checked.
      const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
      const file = await open(join(dir, item.name), flags).catch(absent);
      if (!file) return null;
      if ((await file.stat()).isFile()) {
        const range = byteRange(header, item.bytes);
        const { first, last } = range ?? { first: 0, last: Math.max(0, item.bytes - 1) };
        return { ...item, inline, range, content: fileContent(file, first, last) };
      }
      await file.close();
      return null;
    },
    async store(input, content, whole = async () => {}) {
      const name = mediaName(input);
      if (name === null) return { kind: 'bad-name' };
      if (uploads >= MAX_CONCURRENT_UPLOADS) return { kind: 'busy' };
      uploads += 1;
      try {
        return await receive(name, content, whole);
      } finally {
        uploads -= 1;
      }
    },
    async remove(input) {
      const name = mediaName(input);
      if (name === null || (await itemOf(name)) === null) return false;
      try {
        await unlink(join(dir, name));
        return true;
      } catch (error) {
        // Another request deleted it meanwhile.
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
        throw unwritable(error);
      }
    },
  };
}

function absent(error: NodeJS.ErrnoException): null {
  if (['ENOENT', 'ENOTDIR'].includes(error.code ?? '')) return null;
  throw error;
}
