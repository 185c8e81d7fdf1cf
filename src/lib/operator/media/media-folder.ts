import { randomBytes } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { lstat, readdir, rm } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { z } from 'zod';
import { GwError, systemReason } from '../../error/index.ts';
import type { mediaItemSchema } from '../answers/answers.ts';

const LOOKED_AT_ONCE = 32;
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

export type MediaItem = Readonly<z.infer<typeof mediaItemSchema>>;

/** The files of the media folder, and beside them the parts of uploads in progress. A missing folder is an empty one. */
export function createMediaFolder(dir: string) {
  /** Rejects with FILE_UNREADABLE. */
  async function entries(): Promise<Dirent[]> {
    try {
      return await readdir(dir, { withFileTypes: true });
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (code === 'ENOENT') return [];
      throw new GwError('FILE_UNREADABLE', `The media folder ${dir} cannot be read (${systemReason({ code })}).`, {
        remedy:
          'Make it readable for the user that runs gw, or name another folder in operator.mediaDir of the site file.',
        cause,
      });
    }
  }

  const names = async () => (await entries()).map(({ name }) => name);

  /** null: not found, or no file. */
  async function itemOf(name: string): Promise<MediaItem | null> {
    const stat = await lstat(join(dir, name)).catch(absent);
    if (!stat?.isFile()) return null;
    const contentType = contentTypes[extname(name).toLowerCase()] ?? 'application/octet-stream';
    return { name, bytes: stat.size, contentType, modified: stat.mtime.toISOString() };
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

  return {
    dir,
    entries,
    itemOf,
    itemsOf,

    async storedBytes(): Promise<number> {
      // An upload in progress counts by its received bytes.
      const stored = (await names()).filter((name) => !name.startsWith(PART_PREFIX));
      return (await itemsOf(stored)).reduce((sum, { bytes }) => sum + bytes, 0);
    },

    /** The path of the part of one more upload. */
    newPart: (): string => join(dir, PART_PREFIX + randomBytes(8).toString('hex')),

    async removeParts(): Promise<void> {
      for (const name of await names()) if (name.startsWith(PART_PREFIX)) await rm(join(dir, name), { force: true });
    },

    /** Errors of the operating system name the folder; all others are passed on. */
    unwritable(cause: unknown): unknown {
      const { code, syscall } = cause as NodeJS.ErrnoException;
      if (syscall === undefined) return cause;
      return new GwError('FILE_UNWRITABLE', `The media folder ${dir} cannot be written (${systemReason({ code })}).`, {
        remedy: 'Make it a folder that the user running gw may write, or name another one in operator.mediaDir.',
        cause,
      });
    },
  };
}

export type MediaFolder = ReturnType<typeof createMediaFolder>;

/** For a file that is gone: null. Any other error is passed on. */
export function absent(error: NodeJS.ErrnoException): null {
  if (['ENOENT', 'ENOTDIR'].includes(error.code ?? '')) return null;
  throw error;
}
