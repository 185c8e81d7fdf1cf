import { constants, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { type ByteRange, byteRange } from './byte-range.ts';
import { type FileContent, fileContent } from './file-content.ts';
import { absent, createMediaFolder, type MediaItem } from './media-folder.ts';
import { createUploads, type UploadLimits, type UploadOutcome } from './uploads.ts';

/** @source specification, 'Limits': media library files up to 200 MB */
export const MAX_MEDIA_BYTES = 200_000_000;

const MAX_LISTED = 1_000;

export interface OpenMedia extends MediaItem {
  /** Whether a browser may show it in place. */
  readonly inline: boolean;
  /** Which part of it is the content; null: the whole file. */
  readonly range: ByteRange | null;
  readonly content: FileContent;
}

export type StoreOutcome = UploadOutcome | { readonly kind: 'bad-name' };

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

export function createMediaLibrary(dir: string, limits: Partial<UploadLimits> = {}): MediaLibrary {
  const { maxBytes = MAX_MEDIA_BYTES, quotaBytes = Number.POSITIVE_INFINITY, reserveBytes = 0 } = limits;
  const folder = createMediaFolder(dir);
  const uploads = createUploads(folder, { maxBytes, quotaBytes, reserveBytes });

  return {
    tidy: folder.removeParts,
    async list() {
      const safe = (await folder.entries())
        .filter((entry) => entry.isFile() && mediaName(entry.name) === entry.name)
        .map(({ name }) => name)
        .sort();
      return { files: await folder.itemsOf(safe.slice(0, MAX_LISTED)), more: Math.max(0, safe.length - MAX_LISTED) };
    },
    leftBytes: uploads.leftBytes,
    async open(input, header) {
      const name = mediaName(input);
      const item = name === null ? null : await folder.itemOf(name);
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
      return name === null ? { kind: 'bad-name' } : uploads.store(name, content, whole);
    },
    async remove(input) {
      const name = mediaName(input);
      if (name === null || (await folder.itemOf(name)) === null) return false;
      try {
        await unlink(join(dir, name));
        return true;
      } catch (error) {
        // Another request deleted it meanwhile.
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
        throw folder.unwritable(error);
      }
    },
  };
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
