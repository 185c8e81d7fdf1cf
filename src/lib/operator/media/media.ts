import { randomBytes } from 'node:crypto';
import { constants, type FileHandle, lstat, open, readdir, rename, rm, statfs, unlink } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { GwError } from '../../error/index.ts';
import { ensureFolder, openFresh } from '../../lifecycle/index.ts';

/** @source specification, 'Limits': media library files up to 200 MB */
export const MEDIA_MOST_BYTES = 200_000_000;

const MOST_LISTED = 1_000;
const UPLOADS_AT_ONCE = 2;
const PART_PREFIX = '.upload-';

/** What a browser may show; everything else is offered for download. */
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

interface MediaItem {
  readonly name: string;
  readonly bytes: number;
  readonly contentType: string;
  /** UTC, for people. */
  readonly modified: string;
}

interface OpenMedia extends MediaItem {
  /** Whether a browser may show it in place. */
  readonly inline: boolean;
  readonly stream: ReturnType<FileHandle['createReadStream']>;
}

export type StoreOutcome =
  | { readonly kind: 'stored'; readonly item: MediaItem; readonly replaced: boolean }
  | { readonly kind: 'bad-name' | 'too-large' | 'quota' | 'no-space' | 'busy' };

/** The files that the tablet can show: one flat folder, written and deleted by signed-in persons. */
export interface MediaLibrary {
  /** Removes what an upload left behind that a power cut ended. A folder that is not there is an empty library. */
  tidy(): Promise<void>;
  list(): Promise<readonly MediaItem[]>;
  /** Null when there is no such file. */
  open(name: string): Promise<OpenMedia | null>;
  /** The file appears under its name only when it is whole; an upload that breaks off leaves nothing. */
  store(name: string, content: Readable): Promise<StoreOutcome>;
  /** False when there is no such file. */
  remove(name: string): Promise<boolean>;
}

/**
 * A name that is safe as a file name, in a header and on a page: letters, digits, spaces and `. _ - ( )`,
 * beginning with a letter or digit and not ending with a space or dot, at most 120 characters and 200 bytes.
 * Null when it is none.
 */
export function mediaName(input: string): string | null {
  const name = input.normalize('NFC');
  if (!/^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._()-]{0,119}$/u.test(name) || /[ .]$/.test(name)) return null;
  return Buffer.byteLength(name) <= 200 ? name : null;
}

export interface MediaLimits {
  /** Of one file. */
  readonly mostBytes?: number;
  /** Of all files together, uploads under way among them. */
  readonly quotaBytes?: number;
  /** What stays free on the disk: the stop latch and the evidence need room more than a picture does. */
  readonly reserveBytes?: number;
}

/** Written so many bytes, an upload looks again at how much room the disk has. */
const LOOK_EVERY_BYTES = 4_000_000;

export function createMediaLibrary(dir: string, limits: MediaLimits = {}): MediaLibrary {
  const { mostBytes = MEDIA_MOST_BYTES, quotaBytes = Number.POSITIVE_INFINITY, reserveBytes = 0 } = limits;
  let uploads = 0;
  /** Of uploads that are under way. */
  let incoming = 0;

  async function itemOf(name: string): Promise<MediaItem | null> {
    const stat = await lstat(join(dir, name)).catch(absent);
    if (!stat?.isFile()) return null;
    const contentType = contentTypes[extname(name).toLowerCase()] ?? 'application/octet-stream';
    return { name, bytes: stat.size, contentType, modified: stat.mtime.toISOString() };
  }

  async function names(): Promise<string[]> {
    try {
      return (await readdir(dir).catch(absent)) ?? [];
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      throw new GwError('FILE_UNWRITABLE', `The media folder ${dir} cannot be read (${code ?? 'unknown reason'}).`, {
        remedy: 'Mend it, or name a folder in operator.mediaDir of the site file.',
        cause,
      });
    }
  }

  async function storedBytes(): Promise<number> {
    let bytes = 0;
    for (const name of await names()) {
      // A file under way counts by what has arrived of it.
      if (!name.startsWith(PART_PREFIX)) bytes += (await itemOf(name))?.bytes ?? 0;
    }
    return bytes;
  }

  async function hasRoom(bytes: number): Promise<boolean> {
    const { bavail, bsize } = await statfs(dir);
    return bavail * bsize - bytes >= reserveBytes;
  }

  /** Null when it was written whole; otherwise why it was not. */
  async function write(file: FileHandle, content: Readable): Promise<'too-large' | 'quota' | 'no-space' | null> {
    const stored = await storedBytes();
    let bytes = 0;
    let untilLook = 0;
    try {
      for await (const chunk of content) {
        const { length } = chunk as Buffer;
        bytes += length;
        incoming += length;
        untilLook -= length;
        if (bytes > mostBytes) return 'too-large';
        if (stored + incoming > quotaBytes) return 'quota';
        if (untilLook <= 0) {
          if (!(await hasRoom(length))) return 'no-space';
          untilLook = LOOK_EVERY_BYTES;
        }
        await file.write(chunk as Buffer);
      }
      await file.sync();
      return null;
    } finally {
      incoming -= bytes;
    }
  }

  async function receive(name: string, content: Readable): Promise<StoreOutcome> {
    await ensureFolder(dir);
    const part = join(dir, PART_PREFIX + randomBytes(8).toString('hex'));
    try {
      const file = await openFresh(part);
      try {
        const kind = await write(file, content);
        if (kind !== null) return { kind };
      } finally {
        await file.close();
      }
      const replaced = (await itemOf(name)) !== null;
      await rename(part, join(dir, name));
      const item = await itemOf(name);
      return item ? { kind: 'stored', item, replaced } : { kind: 'no-space' };
    } catch (error) {
      if (['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '')) return { kind: 'no-space' };
      throw error;
    } finally {
      await rm(part, { force: true });
    }
  }

  return {
    async tidy() {
      for (const name of await names()) if (name.startsWith(PART_PREFIX)) await rm(join(dir, name), { force: true });
    },
    async list() {
      const safe = (await names()).filter((name) => mediaName(name) === name).sort();
      const items = await Promise.all(safe.slice(0, MOST_LISTED).map(itemOf));
      return items.filter((item) => item !== null);
    },
    async open(input) {
      const name = mediaName(input);
      const item = name === null ? null : await itemOf(name);
      if (!item) return null;
      const inline = item.contentType !== 'application/octet-stream';
      // The file that was looked at a moment ago may be a link or a pipe by now.
      const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
      const file = await open(join(dir, item.name), flags).catch(absent);
      if (!file) return null;
      if ((await file.stat()).isFile()) {
        return { ...item, inline, stream: file.createReadStream({ end: Math.max(0, item.bytes - 1) }) };
      }
      await file.close();
      return null;
    },
    async store(input, content) {
      const name = mediaName(input);
      if (name === null) return { kind: 'bad-name' };
      if (uploads >= UPLOADS_AT_ONCE) return { kind: 'busy' };
      uploads += 1;
      try {
        return await receive(name, content);
      } finally {
        uploads -= 1;
      }
    },
    async remove(input) {
      const name = mediaName(input);
      if (name === null || (await itemOf(name)) === null) return false;
      await unlink(join(dir, name));
      return true;
    },
  };
}

function absent(error: NodeJS.ErrnoException): null {
  if (['ENOENT', 'ENOTDIR'].includes(error.code ?? '')) return null;
  throw error;
}
