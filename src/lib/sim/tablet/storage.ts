import { createHash } from 'node:crypto';
import type { Clock } from '../../lifecycle/index.ts';

/** Up to this size a file is stored whole; of a larger one its beginning, size and hash. */
const MAX_WHOLE_FILE_BYTES = 16 * 1024 * 1024;
/** Total stored content; beyond it only beginnings, sizes and hashes are stored. */
const MAX_KEPT_BYTES = 128 * 1024 * 1024;
/** Beyond it new files are refused. */
const MAX_KEPT_WITH_HEADS_BYTES = 192 * 1024 * 1024;
/** More than enough for the manifest of a package. */
const HEAD_BYTES = 1024 * 1024;
const MAX_ENTRIES = 10_000;
const MAX_PATH_LENGTH = 4096;
const MAX_NAME_LENGTH = 255;
/** User id of the shell. */
const SHELL_USER = 2000;

/** Error for a file that is not stored whole. */
export const NOT_KEPT = 'this simulated tablet stores only the beginning and the hash of a file this large';

export type StorageProblem =
  | 'No such file or directory'
  | 'Not a directory'
  | 'Is a directory'
  | 'Permission denied'
  | 'Read-only file system'
  | 'File exists'
  | 'File name too long'
  | 'No space left on device';

export interface Content {
  readonly size: number;
  readonly sha256: string;
  /** The first bytes; all of them if `isWhole`. */
  readonly head: Buffer;
  readonly isWhole: boolean;
}

interface Common {
  readonly mode: number;
  readonly mtimeS: number;
  readonly uid: number;
}
interface FileEntry extends Common {
  readonly kind: 'file';
  readonly content: Content;
}
interface FolderEntry extends Common {
  readonly kind: 'folder';
}
export type Entry = FileEntry | FolderEntry;

/** Receives the bytes of one file. */
export interface Sink {
  /** False when there is no free space. */
  add(bytes: Buffer): boolean;
  /** The received content. */
  finish(): Content;
  /** Discards the content and frees its space. */
  drop(): void;
}

export function contentOf(bytes: Buffer): Content {
  return {
    size: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    head: bytes,
    isWhole: true,
  };
}

export interface StorageOptions {
  readonly clock: Clock;
  /** Size of the data partition, and the bytes in use at the start. */
  readonly capacityBytes: number;
  readonly usedBytes: number;
  readonly isFull: () => boolean;
}

/** The files of the tablet in memory, with the permissions of the shell's user. */
export function createStorage({ clock, capacityBytes, usedBytes, isFull }: StorageOptions) {
  const entries = new Map<string, Entry>();
  let stored = 0;
  let keptBytes = 0;
  const now = () => Math.floor(clock.wall().getTime() / 1000);

  const freeBytes = () => (isFull() ? 0 : Math.max(0, capacityBytes - usedBytes - stored));

  function place(path: string, entry: Entry): void {
    remove(path);
    entries.set(path, entry);
  }

  function remove(path: string): void {
    const entry = entries.get(path);
    if (entry?.kind === 'file') {
      stored -= entry.content.size;
      keptBytes -= entry.content.head.length;
    }
    entries.delete(path);
  }

  /** An absolute path without `.` and `..`; `/sdcard` is another name of the shared storage. */
  function resolve(path: string): string | StorageProblem {
    if (path === '') return 'No such file or directory';
    const parts = path.split('/').filter((part) => part !== '' && part !== '.');
    if (path.length > MAX_PATH_LENGTH || parts.some((part) => part.length > MAX_NAME_LENGTH))
      return 'File name too long';
    let at = '';
    for (const [index, part] of parts.entries()) {
      if (part === '..') at = at.slice(0, Math.max(0, at.lastIndexOf('/')));
      else at = at === '' && part === 'sdcard' ? '/storage/emulated/0' : `${at}/${part}`;
      if (entries.get(at)?.kind === 'file' && index < parts.length - 1) return 'Not a directory';
    }
    return at === '' ? '/' : at;
  }

  const isBase = (path: string) => path === '/data/local/tmp' || path === '/storage/emulated/0';
  const isWritable = (path: string) => /^\/(data\/local\/tmp|storage\/emulated\/0)(\/|$)/.test(path);

  /** The path at which an entry may be created; its folder exists. */
  function target(path: string): { readonly at: string } | StorageProblem {
    const at = resolve(path);
    if (!at.startsWith('/')) return at as StorageProblem;
    if (!isWritable(at)) return at.startsWith('/data/') ? 'Permission denied' : 'Read-only file system';
    const parent = entries.get(at.slice(0, at.lastIndexOf('/')));
    if (!parent) return 'No such file or directory';
    if (parent.kind !== 'folder') return 'Not a directory';
    if (!entries.has(at) && entries.size >= MAX_ENTRIES) return 'No space left on device';
    return { at };
  }

  function find(path: string): Entry | StorageProblem {
    const at = resolve(path);
    if (!at.startsWith('/')) return at as StorageProblem;
    return entries.get(at) ?? 'No such file or directory';
  }

  function makeFolder(path: string, parents: boolean): StorageProblem | undefined {
    const whole = resolve(path);
    if (!whole.startsWith('/')) return whole as StorageProblem;
    const existing = entries.get(whole);
    if (existing) return parents && existing.kind === 'folder' ? undefined : 'File exists';
    if (parents) {
      const above = makeFolder(whole.slice(0, whole.lastIndexOf('/')) || '/', true);
      if (above !== undefined) return above;
    }
    const where = target(whole);
    if (typeof where === 'string') return where;
    place(where.at, { kind: 'folder', mode: 0o40771, mtimeS: now(), uid: SHELL_USER });
    return undefined;
  }

  function children(at: string): string[] {
    const prefix = at === '/' ? '/' : `${at}/`;
    return [...entries.keys()].filter(
      (path) => path !== '/' && path.startsWith(prefix) && !path.slice(prefix.length).includes('/'),
    );
  }

  /** Opens a sink; its bytes count as used until they are stored or discarded. */
  function openSink(): Sink {
    const hash = createHash('sha256');
    let head: Buffer[] = [];
    let headBytes = 0;
    let size = 0;
    let isWhole = true;
    const release = () => {
      stored -= size;
      keptBytes -= headBytes;
    };
    return {
      add(bytes) {
        if (bytes.length > freeBytes() || keptBytes + bytes.length > MAX_KEPT_WITH_HEADS_BYTES) return false;
        size += bytes.length;
        stored += bytes.length;
        hash.update(bytes);
        if (!isWhole) return true;
        keptBytes -= headBytes;
        isWhole = size <= MAX_WHOLE_FILE_BYTES && keptBytes + size <= MAX_KEPT_BYTES;
        // A copy releases the larger buffer of the socket behind a small piece.
        head.push(Buffer.from(bytes));
        if (!isWhole) head = [Buffer.from(Buffer.concat(head).subarray(0, HEAD_BYTES))];
        headBytes = isWhole ? size : Math.min(size, HEAD_BYTES);
        keptBytes += headBytes;
        return true;
      },
      finish() {
        release();
        return { size, sha256: hash.digest('hex'), head: Buffer.concat(head), isWhole };
      },
      drop: release,
    };
  }

  return {
    freeBytes,
    capacityBytes,
    find,
    makeFolder,
    openSink,
    /** Why a file must not be created here; undefined when it may. */
    refusal(path: string): StorageProblem | undefined {
      const where = target(path);
      if (typeof where === 'string') return where;
      return entries.get(where.at)?.kind === 'folder' ? 'Is a directory' : undefined;
    },
    write(path: string, content: Content, mode = 0o644, mtimeS = now()): StorageProblem | undefined {
      const where = target(path);
      if (typeof where === 'string') return where;
      if (entries.get(where.at)?.kind === 'folder') return 'Is a directory';
      place(where.at, { kind: 'file', content, mode: 0o100000 | (mode & 0o777), mtimeS, uid: SHELL_USER });
      stored += content.size;
      keptBytes += content.head.length;
      return undefined;
    },
    /** Removes a file, or a folder with its content. */
    remove(path: string, folders: boolean): StorageProblem | undefined {
      const at = resolve(path);
      if (!at.startsWith('/')) return at as StorageProblem;
      const entry = entries.get(at);
      if (!entry) return 'No such file or directory';
      if (!isWritable(at) || isBase(at)) return 'Permission denied';
      if (entry.kind === 'folder' && !folders) return 'Is a directory';
      for (const path of [...entries.keys()].filter((path) => path.startsWith(`${at}/`))) remove(path);
      remove(at);
      return undefined;
    },
    /** The absolute path of an existing or new file. */
    path(path: string): string | StorageProblem {
      return resolve(path);
    },
    /** The absolute path of a folder. */
    folder(path: string): { readonly at: string } | StorageProblem {
      const at = resolve(path);
      if (!at.startsWith('/')) return at as StorageProblem;
      const entry = entries.get(at);
      if (!entry) return 'No such file or directory';
      return entry.kind === 'folder' ? { at } : 'Not a directory';
    },
    list(path: string): readonly (readonly [name: string, entry: Entry])[] | StorageProblem {
      const at = resolve(path);
      if (!at.startsWith('/')) return at as StorageProblem;
      const entry = entries.get(at);
      if (!entry) return 'No such file or directory';
      if (entry.kind !== 'folder') return 'Not a directory';
      if (/^\/data(\/(local|app))?$/.test(at)) return 'Permission denied';
      return children(at)
        .map((path) => [path.slice(path.lastIndexOf('/') + 1), entries.get(path) ?? entry] as const)
        .sort(([one], [other]) => (one < other ? -1 : 1));
    },
    /** Changes as the system, without permission checks. */
    system: {
      folder(path: string, mode = 0o755, uid = 0): void {
        place(path, { kind: 'folder', mode: 0o40000 | mode, mtimeS: now(), uid });
      },
      file(path: string, content: Content, mode = 0o644): void {
        place(path, { kind: 'file', content, mode: 0o100000 | mode, mtimeS: now(), uid: 1000 });
        stored += content.size;
        keptBytes += content.head.length;
      },
      remove(path: string): void {
        for (const below of [...entries.keys()].filter((entry) => entry.startsWith(`${path}/`))) remove(below);
        remove(path);
      },
    },
  };
}

export type Storage = ReturnType<typeof createStorage>;

/** The files for a program with the working directory `folder`. */
export function filesSeenFrom(storage: Storage, folder: string) {
  const at = (path: string) => (path === '' || path.startsWith('/') ? path : `${folder}/${path}`);
  return {
    find: (path: string) => storage.find(at(path)),
    list: (path: string) => storage.list(at(path)),
    path: (path: string) => storage.path(at(path)),
    makeFolder: (path: string, parents: boolean) => storage.makeFolder(at(path), parents),
    remove: (path: string, folders: boolean) => storage.remove(at(path), folders),
    freeBytes: storage.freeBytes,
  };
}

export type Files = ReturnType<typeof filesSeenFrom>;
