import { createHash } from 'node:crypto';
import type { Clock } from '../../lifecycle/index.ts';

/** Up to here a file is kept whole; of a longer one its two ends stay, its length and its hashes. */
const MOST_KEPT_OF_ONE = 16 * 1024 * 1024;
/** Content kept of all files together; what comes beyond it is counted and hashed only. */
const MOST_KEPT = 128 * 1024 * 1024;
/** Beyond it nothing more is taken, not even the ends of a file. */
const MOST_KEPT_WITH_ENDS = 192 * 1024 * 1024;
/** Enough of a package to find the list of its entries and its manifest. */
const END_BYTES = 1024 * 1024;
const MOST_ENTRIES = 10_000;
const MOST_LINKS = 8;
const LONGEST_PATH = 4096;
const LONGEST_NAME = 255;
/** The user of every shell on the bridge. */
const SHELL_USER = 2000;

/** What is said of a file whose middle was not kept. */
export const NOT_KEPT = 'this simulated tablet keeps only the ends and the hash of so long a file';

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
  /** The first bytes: all of them where `tail` is empty and the length fits. */
  readonly head: Buffer;
  /** The last bytes of a file that is not kept whole. */
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

/** Takes the bytes of one file as they come. */
export interface Sink {
  /** False: there is no room for them. */
  add(bytes: Buffer): boolean;
  /** What came. */
  finish(): Content;
  /** Gives up; the room is free again. */
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
  /** Bytes of the data partition, and how many of them are in use before anybody puts something there. */
  readonly capacityBytes: number;
  readonly usedBytes: number;
  readonly isFull: () => boolean;
}

/** The files of the tablet, in memory, as the shell's user sees them. */
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

  /** Follows links; the last one only where asked. Paths are absolute afterwards, without `.` and `..`. */
  function resolve(path: string, follow: boolean, depth = 0): string | StorageProblem {
    if (path === '') return 'No such file or directory';
    if (depth > MOST_LINKS) return 'Too many symbolic links encountered';
    const parts = path.split('/').filter((part) => part !== '' && part !== '.');
    if (path.length > LONGEST_PATH || parts.some((part) => part.length > LONGEST_NAME)) return 'File name too long';
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

  /** Where something may be put; its folder exists. */
  function target(path: string, follow = true): { readonly at: string } | StorageProblem {
    const at = resolve(path, follow);
    if (!at.startsWith('/')) return at as StorageProblem;
    if (!isWritable(at)) return at.startsWith('/data/') ? 'Permission denied' : 'Read-only file system';
    const parent = entries.get(at.slice(0, at.lastIndexOf('/')));
    if (!parent) return 'No such file or directory';
    if (parent.kind !== 'folder') return 'Not a directory';
    if (!entries.has(at) && entries.size >= MOST_ENTRIES) return 'No space left on device';
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

  /** Room for content on its way; it counts as used until it is stored or dropped. */
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

    /** From now on only the two ends are kept. */
    function loseMiddle(): void {
      isWhole = false;
      const all = Buffer.concat(head);
      keptBytes -= headBytes;
      // Copies, so that the rest of the memory is given back.
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
        if (bytes.length > freeBytes() || keptBytes + bytes.length > MOST_KEPT_WITH_ENDS) return false;
        size += bytes.length;
        stored += bytes.length;
        hash.update(bytes);
        if (isWhole && (size > MOST_KEPT_OF_ONE || keptBytes + bytes.length > MOST_KEPT)) loseMiddle();
        if (!isWhole) keepTail(bytes);
        else {
          // Small pieces stand in larger buffers of the socket, which a copy lets go.
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
    /** Whether a file may be put here; undefined when it may. */
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
    /** Takes away a file, a link, or a folder with all that is in it. */
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
    /** The absolute path of something that is there, without links; of a file that is not there, where it would be. */
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
    /** What the system itself puts there, whatever the shell may. */
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

/** The files as a program sees them whose folder is `folder`. */
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
