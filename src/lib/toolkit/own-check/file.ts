import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { constants, lstat, open, readlink, stat } from 'node:fs/promises';
import { systemReason } from '../../error/index.ts';
import { readWhole } from '../../lifecycle/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { NOT_CHECKED, type NotChecked, THIS_MACHINE, textOf } from './place.ts';

export interface FileOptions {
  readonly path: string;
  /** Reads the text. */
  readonly content: boolean;
  /** Reads the whole file for its hash. */
  readonly sha256: boolean;
  readonly timeoutS: number;
}

/** Result of the check `file`; of a symbolic link the result is of what the link leads to. */
export interface FileCheck {
  readonly from: string;
  readonly path: string;
  readonly exists: boolean | NotChecked;
  readonly type?: FileType;
  /** Target of a symbolic link. */
  readonly linkTo?: string;
  /** Four octal digits. */
  readonly mode?: string;
  /** By name; not-checked where this machine has no name for the id. */
  readonly owner?: string | NotChecked;
  readonly ownerId?: number;
  readonly group?: string | NotChecked;
  readonly groupId?: number;
  readonly size?: number;
  readonly content?: string | NotChecked;
  readonly sha256?: string | NotChecked;
  readonly detail: string;
}

type FileType = 'file' | 'folder' | 'pipe' | 'socket' | 'device';

const MAX_CONTENT_BYTES = 1024 * 1024;
const MAX_HASHED_BYTES = 4 * 1024 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;
const MAX_NAMES_BYTES = 4 * 1024 * 1024;

/** Looks at one file of this machine. Opens only a regular file, and only for its content or hash. */
export async function checkFile(
  { clock }: Pick<Toolkit, 'clock'>,
  options: FileOptions,
  { signal }: CheckContext,
): Promise<FileCheck> {
  const { path } = options;
  signal.throwIfAborted();
  const base = { from: THIS_MACHINE, path };
  let stats: Stats;
  let linkTo: string | undefined;
  try {
    if ((await lstat(path)).isSymbolicLink()) linkTo = await readlink(path);
    stats = await stat(path);
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') {
      // What is behind a folder that may not be read is not known.
      return {
        ...base,
        exists: NOT_CHECKED,
        detail: `${path} could not be looked at (${systemReason({ code })}), ${THIS_MACHINE}`,
      };
    }
    const why = linkTo === undefined ? 'does not exist' : `is a link to ${linkTo}, which does not exist`;
    return {
      ...base,
      exists: false,
      ...(linkTo !== undefined && { linkTo }),
      detail: `${path} ${why}, ${THIS_MACHINE}`,
    };
  }
  const type = typeOf(stats);
  const read = await readParts(options, type, { clock, signal });
  const mode = (stats.mode & 0o7777).toString(8).padStart(4, '0');
  const owner = await nameOf(stats.uid, '/etc/passwd');
  const group = await nameOf(stats.gid, '/etc/group');
  const notes = read.why === undefined ? '' : `; ${read.why}`;
  const what = `${type} of ${owner === NOT_CHECKED ? stats.uid : owner}, mode ${mode}, ${stats.size} bytes`;
  return {
    ...base,
    exists: true,
    type,
    ...(linkTo !== undefined && { linkTo }),
    mode,
    owner,
    ownerId: stats.uid,
    group,
    groupId: stats.gid,
    size: stats.size,
    ...(read.content !== undefined && { content: read.content }),
    ...(read.sha256 !== undefined && { sha256: read.sha256 }),
    detail: `${path}: ${what}${notes}, ${THIS_MACHINE}`,
  };
}

function typeOf(stats: Stats): FileType {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'folder';
  if (stats.isFIFO()) return 'pipe';
  return stats.isSocket() ? 'socket' : 'device';
}

interface Parts {
  readonly content?: string | NotChecked;
  readonly sha256?: string | NotChecked;
  /** Why one of them is not checked. */
  readonly why?: string;
}

async function readParts(
  options: FileOptions,
  type: FileType,
  { clock, signal }: Pick<Toolkit, 'clock'> & Pick<CheckContext, 'signal'>,
): Promise<Parts> {
  const { path, content, sha256, timeoutS } = options;
  if (!content && !sha256) return {};
  const none = { ...(content && { content: NOT_CHECKED }), ...(sha256 && { sha256: NOT_CHECKED }) } as const;
  if (type !== 'file') return { ...none, why: `not read: it is a ${type}` };
  try {
    // O_NONBLOCK: a pipe may have taken its place meanwhile.
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await file.stat();
    if (!stats.isFile()) return { ...none, why: 'not read: it is no regular file' };
    if (stats.size > (sha256 ? MAX_HASHED_BYTES : MAX_CONTENT_BYTES)) return { ...none, why: 'not read: too large' };
    const hash = createHash('sha256');
    const kept: Buffer[] = [];
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    const endsAt = clock.monotonicMs() + timeoutS * 1_000;
    let total = 0;
    for (;;) {
      signal.throwIfAborted();
      if (clock.monotonicMs() > endsAt) return { ...none, why: `not read to its end within ${timeoutS} s` };
      const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, null);
      if (bytesRead === 0) break;
      total += bytesRead;
      // Also a file without a size, or one that grows: of the kernel, or a log.
      if (total > (sha256 ? MAX_HASHED_BYTES : MAX_CONTENT_BYTES)) return { ...none, why: 'not read: too large' };
      hash.update(buffer.subarray(0, bytesRead));
      if (total <= MAX_CONTENT_BYTES) kept.push(Buffer.from(buffer.subarray(0, bytesRead)));
    }
    const text = total > MAX_CONTENT_BYTES ? NOT_CHECKED : textOf(Buffer.concat(kept));
    return {
      ...(content && { content: text }),
      ...(sha256 && { sha256: hash.digest('hex') }),
      ...(content && text === NOT_CHECKED && { why: 'its content is no text, or more than 1 MiB' }),
    };
  } catch (error) {
    signal.throwIfAborted();
    return { ...none, why: `not read (${(error as NodeJS.ErrnoException).code})` };
  }
}

/** The name of an id in the text of /etc/passwd or /etc/group; undefined when it has none. */
export function nameOfId(id: number, text: string): string | undefined {
  for (const line of text.split('\n')) {
    const [name, , field] = line.split(':', 3);
    if (name && field !== undefined && /^\d{1,10}$/.test(field) && Number(field) === id) return name;
  }
  return undefined;
}

async function nameOf(id: number, path: string): Promise<string | NotChecked> {
  try {
    return nameOfId(id, Buffer.from(await readWhole(path, MAX_NAMES_BYTES)).toString('utf8')) ?? NOT_CHECKED;
  } catch {
    return NOT_CHECKED;
  }
}
