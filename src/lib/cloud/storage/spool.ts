import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, readdir, realpath, rename, rm, stat, statfs } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { GwError, systemReason } from '../../error/index.ts';
import {
  type Clock,
  createFile,
  ensureFolder,
  lockName,
  openExisting,
  openFresh,
  privateFolderProblem,
  readWhole,
  removeLeftDrafts,
  replaceFile,
  sha256,
  syncFolder,
  systemClock,
} from '../../lifecycle/index.ts';

/** Folder of the uploads below `stateDir`. */
export const UPLOADS_FOLDER = join('cloud', 'uploads');

/** A file of the spool that is no entry. */
export interface BrokenEntry {
  readonly id: string;
  readonly detail: string;
}

/** Project decision: bounds of the spool. */
export const spoolLimits = { maxEntries: 100, maxBytes: 2_000_000_000, maxUploaded: 20, reserveBytes: 256_000_000 };

const META = /^(\d{8}-[0-9a-f]{8})\.json$/;
const DATA = /^(\d{8}-[0-9a-f]{8})\.data$/;
const NAME = /^(?=.{1,200}$)[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/;
const meta = z.object({
  /** Path in the object storage, below the folder of this device. */
  name: z.string('no valid name').regex(NAME, 'no valid name'),
  bytes: z.int('no valid size').min(0, 'no valid size'),
  sha256: z.string('no valid SHA-256').regex(/^[0-9a-f]{64}$/, 'no valid SHA-256'),
  /** UTC, for people. */
  addedAt: z.string('no valid time').max(40, 'no valid time'),
  state: z.enum(['waiting', 'uploaded', 'refused'], 'no valid state'),
  /** Why it was refused; null otherwise. */
  detail: z.string().nullable().catch(null),
});

/**
 * An entry of the spool: `<id>.json`, and `<id>.data` with the archive until it is uploaded. The data is complete
 * before the JSON exists, and goes after the JSON says 'uploaded'.
 */
export interface SpoolEntry extends Readonly<z.infer<typeof meta>> {
  /** Digits in the order of adding, and random ones. */
  readonly id: string;
}

const MAX_META_BYTES = 4_096;
const COPY_BYTES = 1024 * 1024;
/** The lock is held for the writes of one small file. */
const LOCK_POLL_MS = 50;
/** Data without JSON: a command that adds it may still be running. */
const ORPHAN_LEFT_MS = 3_600_000;

export const dataPath = (dir: string, id: string) => join(dir, `${id}.data`);
const metaPath = (dir: string, id: string) => join(dir, `${id}.json`);

export interface UploadRequest {
  /** The archive; it stays where it is. */
  readonly file: string;
  /** `maps/<file name>` */
  readonly name: string;
  /** SHA-256 of the file as it was verified; another content is refused. */
  readonly sha256?: string;
  readonly signal?: AbortSignal;
  readonly now?: Date;
  /** Paces the wait for another command that writes to the spool. */
  readonly clock?: Clock;
  readonly limits?: Partial<typeof spoolLimits>;
}

/** The entries, the oldest first, and files that are damaged. Rejects with the error of the operating system. */
export async function readSpool(dir: string): Promise<{ entries: SpoolEntry[]; broken: BrokenEntry[] }> {
  const names = (await readdir(dir).catch(nullIfMissing)) ?? [];
  const entries: SpoolEntry[] = [];
  const broken: BrokenEntry[] = [];
  for (const name of names.sort()) {
    const id = META.exec(name)?.[1];
    if (id === undefined) continue;
    try {
      entries.push(parseMeta(id, Buffer.from(await readWhole(join(dir, name), MAX_META_BYTES)).toString()));
    } catch (error) {
      // Removed meanwhile by another process.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') continue;
      broken.push({ id, detail: `${name} is damaged (${reasonOf(error)}); ${id}.data is not uploaded` });
    }
  }
  return { entries, broken };
}

/**
 * Copies an archive into the spool; safe while the gateway uses it, and after a crash it is there as a whole or not at
 * all. The same archive under the same name is added once. Throws FILE_UNREADABLE, FILE_UNWRITABLE (also for a full
 * spool, and a folder of another user), FILE_EXISTS for another content under the same name.
 */
export async function addUpload(
  dir: string,
  request: UploadRequest,
): Promise<{ readonly entry: SpoolEntry; readonly isNew: boolean }> {
  const { file, name, signal, clock = systemClock, now = clock.wall() } = request;
  const limits = { ...spoolLimits, ...request.limits };
  if (!NAME.test(name)) {
    throw new GwError('USAGE', `'${basename(name)}' cannot be a name in the object storage.`, {
      remedy: 'Rename the file: letters, digits, ., _ and -, not beginning with a dot.',
    });
  }
  await openFolder(dir);
  const { entries } = await readSpool(dir);
  await assertCapacity(dir, file, entries, limits);
  const draft = `${dataPath(dir, nextId(entries))}.draft`;
  try {
    const copied = await copy(file, draft, signal);
    // From the look at the names to the new one, so that of two commands only one finds a name free.
    await using _lock = await lockSpool(dir, clock, signal);
    const present = (await readSpool(dir)).entries;
    const id = nextId(present);
    if (request.sha256 !== undefined && request.sha256 !== copied.sha256) {
      throw new GwError('FILE_UNREADABLE', `${file} has changed since it was verified.`, { remedy: 'Run it again.' });
    }
    const same = present.find((entry) => entry.name === name);
    if (same !== undefined && same.sha256 === copied.sha256) {
      if (same.state !== 'refused') return { entry: same, isNew: false };
    } else if (same !== undefined) {
      throw new GwError('FILE_EXISTS', `Another archive with the name ${name} was added at ${same.addedAt}.`, {
        remedy: 'Rename the file: every archive needs a name of its own in the object storage.',
      });
    }
    const entry: SpoolEntry = { id, name, ...copied, addedAt: now.toISOString(), state: 'waiting', detail: null };
    await onDisk(dir, async () => {
      await rename(draft, dataPath(dir, id));
      await syncFolder(dir);
    });
    await createFile(metaPath(dir, id), metaText(entry), { mode: 0o600 });
    await onDisk(dir, () => syncFolder(dir));
    // A refused one is replaced by the new entry, which is tried at once.
    if (same !== undefined) await removeEntry(dir, same.id);
    return { entry, isNew: true };
  } finally {
    await rm(draft, { force: true }).catch(() => {});
  }
}

function nextId(entries: readonly SpoolEntry[]): string {
  const number = Math.max(0, ...entries.map(({ id }) => Number(id.slice(0, 8)))) + 1;
  return `${String(number).padStart(8, '0')}-${randomBytes(4).toString('hex')}`;
}

function lockSpool(dir: string, clock: Clock, signal?: AbortSignal): Promise<AsyncDisposable> {
  return onDisk(dir, async () => {
    const name = `gw-uploads-${sha256(await realpath(dir))}`;
    for (;;) {
      signal?.throwIfAborted();
      try {
        return await lockName(name);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      }
      await clock.sleep(LOCK_POLL_MS, signal);
    }
  });
}

/** Creates the spool, private to the user of the gateway. Throws FILE_UNWRITABLE. */
export async function openFolder(dir: string): Promise<void> {
  const state = join(dir, '..', '..');
  const [owner, user] = [(await stat(state).catch(() => undefined))?.uid, process.getuid?.()];
  if (owner !== undefined && user !== undefined && owner !== user) {
    throw new GwError('FILE_UNWRITABLE', `${state} belongs to user ${owner}, and this is user ${user}.`, {
      remedy: 'Run gw as the user of `gw serve`.',
    });
  }
  await onDisk(dir, () => ensureFolder(dir, 0o700));
  const problem = await onDisk(dir, () => privateFolderProblem(dir));
  if (problem === null) return;
  throw new GwError('FILE_UNWRITABLE', `${dir} cannot hold uploads: ${problem.text}.`, { remedy: problem.remedy });
}

function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : error instanceof RangeError ? error.message : 'not JSON';
}

/** Throws RangeError for JSON that is no entry, SyntaxError for other text. */
export function parseMeta(id: string, text: string): SpoolEntry {
  const parsed = meta.safeParse(JSON.parse(text));
  if (!parsed.success) throw new RangeError(parsed.error.issues[0]?.message ?? 'no entry');
  return { id, ...parsed.data };
}

function metaText({ id: _id, ...meta }: SpoolEntry): string {
  return `${JSON.stringify(meta)}\n`;
}

/**
 * Replaces the JSON of an entry; durable when it resolves. An uploaded entry loses its data. An entry that was removed
 * stays removed. Throws FILE_UNWRITABLE.
 */
export async function writeEntry(dir: string, entry: SpoolEntry): Promise<void> {
  if (!(await isInSpool(dir, entry.id))) return;
  await replaceFile(metaPath(dir, entry.id), metaText(entry), { mode: 0o600, folderMode: 0o700, durable: true });
  if (entry.state === 'uploaded') await rm(dataPath(dir, entry.id), { force: true }).catch(() => {});
}

/** False once the entry was removed. Throws FILE_UNWRITABLE. */
export async function isInSpool(dir: string, id: string): Promise<boolean> {
  return (await onDisk(dir, () => lstat(metaPath(dir, id)).catch(nullIfMissing))) !== null;
}

function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

async function removeEntry(dir: string, id: string): Promise<void> {
  await rm(metaPath(dir, id), { force: true }).catch(() => {});
  await rm(dataPath(dir, id), { force: true }).catch(() => {});
}

/**
 * Removes what a crash left, refused entries that were replaced, and uploaded entries beyond the bound. Returns the
 * entries that are left. Never rejects.
 */
export async function tidySpool(
  dir: string,
  entries: readonly SpoolEntry[],
  now: Date,
): Promise<readonly SpoolEntry[]> {
  const uploaded = entries.filter(({ state }) => state === 'uploaded');
  const removed = new Set([
    ...uploaded.slice(0, -spoolLimits.maxUploaded),
    ...entries.filter((entry, at) => entry.state === 'refused' && isReplaced(entry, entries.slice(at + 1))),
  ]);
  for (const { id } of removed) await removeEntry(dir, id);
  for (const { id } of uploaded) await rm(dataPath(dir, id), { force: true }).catch(() => {});
  await removeLeftDrafts(dir, now);
  const names = new Set(await readdir(dir).catch(() => []));
  for (const name of names) {
    const id = DATA.exec(name.replace(/\.draft$/, ''))?.[1];
    if (id === undefined || (names.has(`${id}.json`) && !name.endsWith('.draft'))) continue;
    const { mtimeMs } = await stat(join(dir, name)).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (now.getTime() - mtimeMs > ORPHAN_LEFT_MS) await rm(join(dir, name), { force: true }).catch(() => {});
  }
  return entries.filter((entry) => !removed.has(entry));
}

/** The command that adds an archive anew writes the new entry before it removes the refused one. */
function isReplaced({ name, sha256 }: SpoolEntry, later: readonly SpoolEntry[]): boolean {
  return later.some((entry) => entry.name === name && entry.sha256 === sha256);
}

async function assertCapacity(dir: string, file: string, entries: readonly SpoolEntry[], limits: typeof spoolLimits) {
  const { size } = await stat(file).catch((cause: NodeJS.ErrnoException) => {
    throw new GwError('FILE_UNREADABLE', `${file} cannot be read (${systemReason(cause)}).`, { cause });
  });
  const kept = entries.filter(({ state }) => state !== 'uploaded');
  const bytes = kept.reduce((sum, entry) => sum + entry.bytes, 0);
  if (kept.length >= limits.maxEntries || bytes + size > limits.maxBytes) {
    const most = `${limits.maxEntries} archives or ${Math.floor(limits.maxBytes / 1_000_000)} MB`;
    throw new GwError(
      'FILE_UNWRITABLE',
      `${dir} is full: ${kept.length} archives wait for their upload (at most ${most}).`,
      {
        remedy: 'See with `gw cloud status` why they are not uploaded.',
      },
    );
  }
  const { bavail, bsize } = await onDisk(dir, () => statfs(dir));
  if (bavail * bsize - size >= limits.reserveBytes) return;
  throw new GwError('FILE_UNWRITABLE', `Too little free space for ${dir}: the archive has ${size} bytes.`, {
    remedy: 'Free disk space on the gateway.',
  });
}

async function copy(file: string, to: string, signal?: AbortSignal): Promise<{ bytes: number; sha256: string }> {
  const source = await realpath(file)
    .then((path) => openExisting(path, constants.O_RDONLY))
    .catch((cause: NodeJS.ErrnoException) => {
      throw new GwError('FILE_UNREADABLE', `${file} cannot be read (${systemReason(cause)}).`, { cause });
    });
  try {
    return await onDisk(to, async () => {
      await using target = await openFresh(to, 0o600);
      const hash = createHash('sha256');
      const chunk = Buffer.allocUnsafeSlow(COPY_BYTES);
      let bytes = 0;
      for (;;) {
        signal?.throwIfAborted();
        const { bytesRead } = await source.read(chunk, 0, chunk.length, bytes);
        if (bytesRead === 0) break;
        hash.update(chunk.subarray(0, bytesRead));
        await target.writeFile(chunk.subarray(0, bytesRead));
        bytes += bytesRead;
      }
      await target.sync();
      return { bytes, sha256: hash.digest('hex') };
    });
  } finally {
    await source.close();
  }
}

async function onDisk<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (typeof code !== 'string' || cause instanceof GwError) throw cause;
    throw new GwError('FILE_UNWRITABLE', `${path} cannot be written (${systemReason({ code })}).`, { cause });
  }
}
