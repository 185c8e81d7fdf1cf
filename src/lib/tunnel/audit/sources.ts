import { constants, type FileHandle, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { GwError, systemReason } from '../../error/index.ts';
import { onAbort, openExisting } from '../../lifecycle/index.ts';
import { CURRENT_FILE, HEAD_FILE, listFolder, MAX_ROTATED_FILES, partsOf } from '../records/files.ts';
import { type Head, type PointerRead, readHead } from '../records/pointers.ts';

const MAX_ATTEMPTS = 20;

export interface SourceFile {
  readonly path: string;
  /** Its bytes; each part is valid until the next one is read. Rejects with FILE_UNREADABLE. */
  parts(): AsyncIterable<Uint8Array>;
  /** Of a file at the moment of `head`, since what was appended later is not read; of a stream those that were read. */
  readonly bytes: number;
  /** Whether records may be appended to it now. */
  readonly isCurrent: boolean;
}

/** The records at one moment. */
export interface Sources extends AsyncDisposable {
  readonly files: readonly SourceFile[];
  readonly head: PointerRead<Head>;
  /** Whether rotation can have removed records before: it keeps its last files, and never removes a later one first. */
  readonly mayHaveRotated: boolean;
  readonly tornParts: number;
}

/**
 * Opens the files of the records, in their order, with the head of the same moment: gw may be writing. One file alone has
 * a head when it is the current one in its folder. Throws FILE_UNREADABLE.
 */
export async function openSources(path: string): Promise<Sources> {
  try {
    const isFolder = (await stat(path)).isDirectory();
    for (let attempt = 1; ; attempt += 1) {
      const sources = await openOnce(path, isFolder);
      if (sources !== null) return sources;
      if (attempt >= MAX_ATTEMPTS) throw new GwError('FILE_UNREADABLE', `${path} changes while it is read.`);
    }
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

/** A stream of records, such as files that were joined on another machine: without head.json. */
export function streamSource(name: string, input: Readable, signal: AbortSignal | undefined): Sources {
  const file = {
    path: name,
    bytes: 0,
    isCurrent: true,
    async *parts() {
      using _aborted = onAbort(signal, () => input.destroy(signal?.reason));
      for await (const part of readable(name, input)) {
        file.bytes += part.byteLength;
        yield part;
      }
    },
  };
  const none = { head: { kind: 'missing' }, mayHaveRotated: true, tornParts: 0 } as const;
  return { files: [file], ...none, [Symbol.asyncDispose]: async () => {} };
}

async function* readable(path: string, parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* parts;
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

function unreadable(path: string, cause: unknown): GwError {
  const { code } = cause as NodeJS.ErrnoException;
  if (cause instanceof GwError) return cause;
  const why = code === 'ENOENT' ? 'it does not exist' : systemReason({ code });
  return new GwError('FILE_UNREADABLE', `The session records ${path} cannot be read: ${why}.`, {
    remedy:
      'Name the folder or the file with --records, or run the command on the gateway as the user of `gw serve`. Without a support session there are no records yet.',
    cause,
  });
}

/** null: records were written meanwhile. */
async function openOnce(path: string, isFolder: boolean): Promise<Sources | null> {
  const dir = isFolder ? path : dirname(path);
  const hasHead = isFolder || basename(path) === CURRENT_FILE;
  const headNow = async () => (hasHead ? await readHead(join(dir, HEAD_FILE)) : ({ kind: 'missing' } as const));
  const head = await headNow();
  const { rotated, torn } = isFolder ? await listFolder(dir) : { rotated: [], torn: [] };
  const paths = isFolder ? [...rotated.map((file) => file.path), join(dir, CURRENT_FILE)] : [path];
  const files: SourceFile[] = [];
  const handles: FileHandle[] = [];
  const close = async () => {
    for (const handle of handles) await handle.close();
  };
  let isKept = false;
  try {
    for (const one of paths) {
      const isCurrent = one === paths.at(-1);
      const handle = await openExisting(one, constants.O_RDONLY).catch((error) => {
        if (error.code === 'ENOENT' && isFolder) return null;
        throw error;
      });
      // A rotated file was removed meanwhile; the current one was renamed, or there is none at all.
      if (handle === null && !isCurrent) return null;
      if (handle === null) continue;
      handles.push(handle);
      const bytes = (await handle.stat()).size;
      files.push({ path: one, bytes, isCurrent, parts: () => readable(one, partsOf(handle, bytes)) });
    }
    const isSameHead = JSON.stringify(await headNow()) === JSON.stringify(head);
    const listedAgain = isFolder ? (await listFolder(dir)).rotated.map((file) => file.path) : [];
    if (!isSameHead || listedAgain.join('\n') !== rotated.map((file) => file.path).join('\n')) return null;
    isKept = true;
    const isFull = rotated.length >= MAX_ROTATED_FILES && rotated.every(({ number }) => number > 1);
    const mayHaveRotated = isFull || !isFolder;
    return { files, head, mayHaveRotated, tornParts: torn.length, [Symbol.asyncDispose]: close };
  } finally {
    if (!isKept) await close();
  }
}
