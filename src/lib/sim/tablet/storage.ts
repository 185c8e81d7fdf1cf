import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import type { Clock } from '../../lifecycle/index.ts';

/** Up to this size a file is stored whole; of a larger one its beginning, size and hash. */
const MAX_WHOLE_FILE_BYTES = 16 * 1024 * 1024;
/** More than the manifest of a package. */
const HEAD_BYTES = 64 * 1024;
const MAX_ENTRIES = 1000;
const MAX_PATH_LENGTH = 1024;
/** What the user of the shell may write. */
const WRITABLE = /^\/(data\/local\/tmp|sdcard)\/./;

/** A request that the tablet refuses, with the text that it prints and its exit code. */
export class Refused extends Error {
  readonly code: number;

  constructor(text: string, code = 1) {
    super(text);
    this.code = code;
  }
}

export interface Content {
  readonly size: number;
  readonly sha256: string;
  /** The first bytes; all of them unless the file is too large to be stored whole. */
  readonly head: Buffer;
}

/** A file, or without content a folder. */
export interface Entry {
  readonly content?: Content;
  readonly mode: number;
  readonly mtimeS: number;
}

export interface StorageOptions {
  readonly clock: Clock;
  /** Size of the data partition, and the bytes in use at the start. */
  readonly capacityBytes: number;
  readonly usedBytes: number;
  readonly isFull: () => boolean;
}

/** The files of the tablet in memory, by absolute path, with the permissions of the shell's user. */
export function createStorage({ clock, capacityBytes, usedBytes, isFull }: StorageOptions) {
  const entries = new Map<string, Entry>();
  let receivedBytes = 0;
  const now = () => Math.floor(clock.wall().getTime() / 1000);
  const absolute = (path: string) => posix.resolve('/', path);

  function freeBytes(): number {
    const storedBytes = [...entries.values()].reduce((sum, { content }) => sum + (content?.size ?? 0), 0);
    return isFull() ? 0 : Math.max(0, capacityBytes - usedBytes - storedBytes - receivedBytes);
  }

  function find(path: string): Entry {
    const entry = entries.get(absolute(path));
    if (!entry) throw new Refused('No such file or directory');
    return entry;
  }

  const below = (folder: string) => [...entries.keys()].filter((path) => path.startsWith(`${folder}/`));

  /** Creates an entry with the folders above it, without permission checks. */
  function put(path: string, content?: Content, mode = content ? 0o644 : 0o771, mtimeS = now()): void {
    const at = absolute(path);
    const above = posix.dirname(at);
    if (!entries.has(above) && above !== at) put(above);
    entries.set(at, { mode: (content ? 0o100000 : 0o40000) | (mode & 0o777), mtimeS, ...(content && { content }) });
  }

  /** Removes an entry with everything below it, without permission checks. */
  function drop(path: string): void {
    for (const name of [path, ...below(path)]) entries.delete(name);
  }

  function assertWritable(path: string): string {
    const at = absolute(path);
    if (path.length > MAX_PATH_LENGTH) throw new Refused('File name too long');
    if (!WRITABLE.test(at)) throw new Refused(at.startsWith('/data/') ? 'Permission denied' : 'Read-only file system');
    for (let above = posix.dirname(at); above !== '/'; above = posix.dirname(above)) {
      if (entries.get(above)?.content) throw new Refused('Not a directory');
    }
    return at;
  }

  /** Throws Refused when a file must not be created here. */
  function assertCreatable(path: string): void {
    const entry = entries.get(assertWritable(path));
    if (entry && !entry.content) throw new Refused('Is a directory');
    if (entries.size >= MAX_ENTRIES) throw new Refused('No space left on device');
  }

  return {
    capacityBytes,
    freeBytes,
    find,
    put,
    drop,
    assertCreatable,
    /** The content of a file. Throws Refused, as the following functions do. */
    read(path: string): Content {
      const { content } = find(path);
      if (!content) throw new Refused('Is a directory');
      return content;
    },
    /** The bytes of a file that is stored whole. */
    bytes(path: string): Buffer {
      const { head, size } = this.read(path);
      if (head.length === size) return head;
      throw new Refused('this simulated tablet stores only the beginning and the hash of a file this large');
    },
    list(path: string): readonly (readonly [name: string, entry: Entry])[] {
      if (find(path).content) throw new Refused('Not a directory');
      const at = absolute(path);
      return [...entries]
        .filter(([name]) => name !== '/' && posix.dirname(name) === at)
        .map(([name, entry]) => [posix.basename(name), entry] as const)
        .sort(([one], [other]) => (one < other ? -1 : 1));
    },
    write(path: string, content: Content, mode?: number, mtimeS?: number): void {
      assertCreatable(path);
      put(path, content, mode, mtimeS);
    },
    makeFolder(path: string): void {
      const at = assertWritable(path);
      if (entries.has(at)) throw new Refused('File exists');
      assertCreatable(path);
      put(at);
    },
    remove(path: string, folders: boolean): void {
      if (!find(path).content && !folders) throw new Refused('Is a directory');
      drop(assertWritable(path));
    },
    /** Receives a file; its bytes count as used until they are stored or the sink is disposed. */
    openSink() {
      const hash = createHash('sha256');
      let kept: Buffer[] = [];
      let size = 0;
      let countedBytes = 0;
      return {
        /** False when there is no free space. */
        add(bytes: Buffer): boolean {
          if (bytes.length > freeBytes()) return false;
          size += bytes.length;
          countedBytes += bytes.length;
          receivedBytes += bytes.length;
          hash.update(bytes);
          // A copy releases the larger buffer of the socket behind a small piece.
          if (size <= MAX_WHOLE_FILE_BYTES) kept.push(Buffer.from(bytes));
          else if (kept.length > 1) kept = [Buffer.from(Buffer.concat(kept).subarray(0, HEAD_BYTES))];
          return true;
        },
        /** The received content. */
        finish(): Content {
          this[Symbol.dispose]();
          return { size, sha256: hash.digest('hex'), head: Buffer.concat(kept) };
        },
        [Symbol.dispose]() {
          receivedBytes -= countedBytes;
          countedBytes = 0;
        },
      };
    },
  };
}

export function contentOf(bytes: Buffer): Content {
  return { size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex'), head: bytes };
}

export type Storage = ReturnType<typeof createStorage>;
