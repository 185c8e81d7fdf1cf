import { constants, type FileHandle, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { GwError } from '../../../error/index.ts';
import { openExisting } from '../../../lifecycle/index.ts';
import { CURRENT_FILE, HEAD_FILE, listFolder, MAX_ROTATED_FILES } from '../../records/files.ts';
import { type Head, type PointerRead, readHead } from '../../records/pointers.ts';

const MAX_ATTEMPTS = 20;

export interface SourceFile {
  readonly path: string;
  readonly handle: FileHandle;
  /** At the moment of `head`; what was appended since is not read. */
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
    const { code } = cause as NodeJS.ErrnoException;
    if (cause instanceof GwError) throw cause;
    const why = code === 'ENOENT' ? 'it does not exist' : (code ?? 'unknown reason');
    throw new GwError('FILE_UNREADABLE', `The session records ${path} cannot be read: ${why}.`, {
      remedy:
        'Name the folder or the file with --records, or run the command on the gateway as the user of `gw serve`. Without a support session there are no records yet.',
      cause,
    });
  }
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
  const close = async () => {
    for (const { handle } of files) await handle.close();
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
      if (handle !== null) files.push({ path: one, handle, bytes: (await handle.stat()).size, isCurrent });
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
