import { createHash } from 'node:crypto';
import type { Clock } from '../../lifecycle/index.ts';

/** Up to this size a file is stored whole; of a larger one both ends, size and hash. */
const MAX_WHOLE_FILE_BYTES = 16 * 1024 * 1024;
/** Total stored content; beyond it only ends, size and hash are stored. */
const MAX_KEPT_BYTES = 128 * 1024 * 1024;
/** Beyond it new files are refused. */
const MAX_KEPT_WITH_ENDS_BYTES = 192 * 1024 * 1024;
/** Enough to find the directory and the manifest of a package. */
const END_BYTES = 1024 * 1024;
const MAX_ENTRIES = 10_000;
const MAX_LINKS = 8;
const MAX_PATH_LENGTH = 4096;
const MAX_NAME_LENGTH = 255;
/** User id of the shell. */
const SHELL_USER = 2000;

/** Error for a file whose middle is not stored. */
export const NOT_KEPT = 'this simulated tablet stores only the ends and the hash of a file this large';

export type StorageProblem =
  | 'No such file or directory'
  | 'Not a directory'
  | 'Is a directory'
  | 'Permission denied'
  | 'Read-only file system'
  | 'File exists'
  | 'File name too long'
  | 'No space left on device'
  | 'Too many symbolic links encountered';

export interface Content {
  readonly size: number;
  readonly sha256: string;
  /** The first bytes; all of them if `isWhole`. */
  readonly head: Buffer;
  /** The last bytes of a file that is not stored whole. */
  readonly tail: Buffer;
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
interface LinkEntry extends Common {
  readonly kind: 'link';
  readonly target: string;
}
export type Entry = FileEntry | FolderEntry | LinkEntry;

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
    tail: Buffer.alloc(0),
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
      keptBytes -= entry.content.head.length + entry.content.tail.length;
    }
    entries.delete(path);
  }

  /** Resolves links, the last one only on request, to an absolute path without `.` and `..`. */
  function resolve(path: string, follow: boolean, depth = 0): string | StorageProblem {
    if (path === '') return 'No such file or directory';
    if (depth > MAX_LINKS) return 'Too many symbolic links encountered';
    const parts = path.split('/').filter((part) => part !== '' && part !== '.');
    if (path.length > MAX_PATH_LENGTH || parts.some((part) => part.length > MAX_NAME_LENGTH))
      return 'File name too long';
    let at = '';
    for (const [index, part] of parts.entries()) {
      if (part === '..') {
        at = at.slice(0, Math.max(0, at.lastIndexOf('/')));
        continue;
      }
      const next = `${at}/${part}`;
      const entry = entries.get(next);
      const isLast = index === parts.length - 1;
      if (entry?.kind === 'link' && (follow || !isLast)) {
        const target = entry.target.startsWith('/') ? entry.target : `${at}/${entry.target}`;
        return resolve([target, ...parts.slice(index + 1)].join('/'), follow, depth + 1);
      }
      if (entry?.kind === 'file' && !isLast) return 'Not a directory';
      at = next;
    }
    return at === '' ? '/' : at;
  }

  const isBase = (path: string) => path === '/data/local/tmp' || path === '/storage/emulated/0';
  const isWritable = (path: string) => /^\/(data\/local\/tmp|storage\/emulated\/0)(\/|$)/.test(path);

  /** The path at which an entry may be created; its folder exists. */
  function target(path: string, follow = true): { readonly at: string } | StorageProblem {
    const at = resolve(path, follow);
    if (!at.startsWith('/')) return at as StorageProblem;
    if (!isWritable(at)) return at.startsWith('/data/') ? 'Permission denied' : 'Read-only file system';
    const parent = entries.get(at.slice(0, at.lastIndexOf('/')));
    if (!parent) return 'No such file or directory';
    if (parent.kind !== 'folder') return 'Not a directory';
    if (!entries.has(at) && entries.size >= MAX_ENTRIES) return 'No space left on device';
    return { at };
  }

  function find(path: string, follow = true): Entry | StorageProblem {
    const at = resolve(path, follow);
    if (!at.startsWith('/')) return at as StorageProblem;
    return entries.get(at) ?? 'No such file or directory';
  }

  function makeFolder(path: string, parents: boolean): StorageProblem | undefined {
    const whole = resolve(path, true);
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
    const head: Buffer[] = [];
    let tail: Buffer[] = [];
    let headBytes = 0;
    let tailBytes = 0;
    let size = 0;
    let isWhole = true;
    const release = () => {
      stored -= size;
      keptBytes -= headBytes + tailBytes;
    };

    /** Keeps only the two ends from now on. */
    function loseMiddle(): void {
      isWhole = false;
      const all = Buffer.concat(head);
      keptBytes -= headBytes;
      // Copies, so that the rest of the buffers is released.
      const first = Buffer.from(all.subarray(0, END_BYTES));
      const last = Buffer.from(all.subarray(Math.max(END_BYTES, all.length - END_BYTES)));
      head.splice(0, head.length, first);
      tail = [last];
      headBytes = first.length;
      tailBytes = last.length;
      keptBytes += headBytes + tailBytes;
    }

    function keepTail(bytes: Buffer): void {
      tail.push(Buffer.from(bytes));
      tailBytes += bytes.length;
      keptBytes += bytes.length;
      while (tail.length > 1 && tailBytes - (tail[0]?.length ?? 0) >= END_BYTES) {
        const gone = tail.shift()?.length ?? 0;
        tailBytes -= gone;
        keptBytes -= gone;
      }
    }

    return {
      add(bytes) {
        if (bytes.length > freeBytes() || keptBytes + bytes.length > MAX_KEPT_WITH_ENDS_BYTES) return false;
        size += bytes.length;
        stored += bytes.length;
        hash.update(bytes);
        if (isWhole && (size > MAX_WHOLE_FILE_BYTES || keptBytes + bytes.length > MAX_KEPT_BYTES)) loseMiddle();
        if (!isWhole) keepTail(bytes);
        else {
          // A copy releases the larger buffer of the socket behind a small piece.
          head.push(Buffer.from(bytes));
          headBytes += bytes.length;
          keptBytes += bytes.length;
        }
        return true;
      },
      finish() {
        release();
        return { size, sha256: hash.digest('hex'), head: Buffer.concat(head), tail: Buffer.concat(tail), isWhole };
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
      keptBytes += content.head.length + content.tail.length;
      return undefined;
    },
    link(path: string, to: string): StorageProblem | undefined {
      const where = target(path);
      if (typeof where === 'string') return where;
      if (entries.get(where.at)?.kind === 'folder') return 'Is a directory';
      place(where.at, { kind: 'link', target: to, mode: 0o120777, mtimeS: now(), uid: SHELL_USER });
      return undefined;
    },
    /** Removes a file, a link, or a folder with its content. */
    remove(path: string, folders: boolean): StorageProblem | undefined {
      const at = resolve(path, false);
      if (!at.startsWith('/')) return at as StorageProblem;
      const entry = entries.get(at);
      if (!entry) return 'No such file or directory';
      if (!isWritable(at) || isBase(at)) return 'Permission denied';
      if (entry.kind === 'folder' && !folders) return 'Is a directory';
      for (const path of [...entries.keys()].filter((path) => path.startsWith(`${at}/`))) remove(path);
      remove(at);
      return undefined;
    },
    /** The absolute path without links of an existing or new file. */
    path(path: string): string | StorageProblem {
      return resolve(path, true);
    },
    /** The absolute path of a folder, without links. */
    folder(path: string): { readonly at: string } | StorageProblem {
      const at = resolve(path, true);
      if (!at.startsWith('/')) return at as StorageProblem;
      const entry = entries.get(at);
      if (!entry) return 'No such file or directory';
      return entry.kind === 'folder' ? { at } : 'Not a directory';
    },
    list(path: string): readonly (readonly [name: string, entry: Entry])[] | StorageProblem {
      const at = resolve(path, true);
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
        keptBytes += content.head.length + content.tail.length;
      },
      link(path: string, to: string): void {
        place(path, { kind: 'link', target: to, mode: 0o120644, mtimeS: now(), uid: 0 });
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
    find: (path: string, follow = true) => storage.find(at(path), follow),
    list: (path: string) => storage.list(at(path)),
    path: (path: string) => storage.path(at(path)),
    makeFolder: (path: string, parents: boolean) => storage.makeFolder(at(path), parents),
    remove: (path: string, folders: boolean) => storage.remove(at(path), folders),
    freeBytes: storage.freeBytes,
  };
}

export type Files = ReturnType<typeof filesSeenFrom>;
