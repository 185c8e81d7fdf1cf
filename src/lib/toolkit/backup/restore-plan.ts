import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BOOTS_FILE, bootsAfter, bootsIn } from '../../fleet/index.ts';
import { isRecord, readJsonBytes } from '../../json/index.ts';
import { isDraftName, openExisting, readBounded } from '../../lifecycle/index.ts';
import { loadSite, type Site } from '../../site/index.ts';
import { placeOf } from './manifest.ts';
import { type Source, sourcesOf, stateKinds } from './parts.ts';
import type { SecretFile } from './secrets.ts';

/** A file that is to be restored. */
export interface PlannedFile {
  /** As in the manifest. */
  readonly path: string;
  readonly to: string;
  readonly bytes: number;
  readonly sha256: string;
  /** What is written in place of the content in the archive; null: that content. */
  readonly content: Uint8Array | null;
  readonly action: 'write' | 'same' | 'conflict';
}

export interface RestorePlan {
  readonly files: readonly PlannedFile[];
  /** What is there and differs, or belongs to a folder that is restored whole. */
  readonly conflicts: readonly string[];
  /** What a person allows to be moved: a whole folder, or a file. */
  readonly moves: readonly { readonly from: string; readonly to: string }[];
  /** Why what is there must not be moved. */
  readonly heldBy: { readonly what: string; readonly remedy: string } | null;
  readonly boots: { readonly from: number; readonly to: number | null } | null;
}

interface Wanted {
  readonly files: readonly { readonly path: string; readonly bytes: number; readonly sha256: string }[];
  /** Empty where they are left out: what is there of them stays. */
  readonly secrets: readonly SecretFile[];
  /** Small files of the archive, by their path. */
  readonly contents: ReadonlyMap<string, Uint8Array>;
  readonly createdAt: Date;
  readonly now: Date;
  /** Folders in which nothing is written through a link. */
  readonly roots: readonly string[];
}

/** Compares the archive with what is there. Rejects with the error of the operating system. */
export async function planRestore(site: Site, wanted: Wanted): Promise<RestorePlan> {
  const sources = sourcesOf(site);
  const bootsPath = join(site.stateDir, BOOTS_FILE);
  let boots: RestorePlan['boots'] = null;
  const files: PlannedFile[] = [];
  for (const { path, bytes, sha256 } of wanted.files) {
    const to = placeOf(site.dir, path);
    const kept = to === bootsPath ? bootsIn(wanted.contents.get(path) ?? new Uint8Array()) : null;
    if (kept === null) {
      files.push({
        path,
        to,
        bytes,
        sha256,
        content: null,
        action: await actionOf(to, { bytes, sha256 }, wanted.roots),
      });
      continue;
    }
    const ageS = (wanted.now.getTime() - wanted.createdAt.getTime()) / 1000;
    const content = bootsAfter(kept, ageS);
    // One that an interrupted restore has written, or that has counted on since.
    const there = await readBounded(to, 4_096).catch(() => null);
    const counted = there?.kind === 'bytes' ? bootsIn(there.bytes) : null;
    const least = bootsIn(bootsAfter(kept, 0) ?? new Uint8Array());
    const isDone = counted !== null && least !== null && counted >= least;
    boots = { from: kept, to: isDone ? counted : content && bootsIn(content) };
    const body = content ?? wanted.contents.get(path) ?? new Uint8Array();
    const planned = { path, to, ...sizeOf(body), content: body };
    files.push({ ...planned, action: isDone ? 'same' : await actionOf(to, planned, wanted.roots) });
  }
  for (const { path, content } of wanted.secrets) {
    const planned = { path, to: placeOf(site.dir, path), ...sizeOf(content), content };
    files.push({ ...planned, action: await actionOf(planned.to, planned, wanted.roots) });
  }
  const targets = new Set(files.map(({ to }) => to));
  const hasSecrets = wanted.secrets.length > 0;
  // What is there of secrets stays where none are restored.
  const restored = sources.filter(
    ({ treat }) => treat !== 'not' && treat !== 'media' && (hasSecrets || treat !== 'secret'),
  );
  // Restored whole: what else is there would be taken for a part of it.
  const whole = restored.filter(({ is }) => is === 'folder');
  const further: string[] = [];
  for (const { path, treat, is } of restored) {
    const there =
      is === 'folder'
        ? await filesIn(path, (name) => treat !== 'state' || isRestored(name, hasSecrets))
        : (await lstat(path).catch(noneIfMissing)) === null
          ? []
          : [path];
    further.push(...there.filter((each) => !targets.has(each)));
  }
  const conflicts = [...files.filter(({ action }) => action === 'conflict').map(({ to }) => to), ...further];
  const units = [...new Set(conflicts.map((path) => unitOf(path, whole)))].toSorted();
  const stamp = wanted.now.toISOString().replace(/[-:]|\.\d+/g, '');
  const moves = units.map((from) => ({ from, to: `${from}.before-restore-${stamp}` }));
  return { files, conflicts, moves, heldBy: await heldBy(site, units), boots };
}

function isRestored(name: string, hasSecrets: boolean): boolean {
  const kind = stateKinds[name.replace(/~\d+$/, '')];
  return kind !== 'not' && (hasSecrets || kind !== 'secret');
}

const unitOf = (path: string, whole: readonly Source[]) =>
  whole.find((source) => path.startsWith(`${source.path}/`))?.path ?? path;

const sizeOf = (content: Uint8Array) => ({
  bytes: content.byteLength,
  sha256: createHash('sha256').update(content).digest('hex'),
});

type Expected = Pick<PlannedFile, 'bytes' | 'sha256'>;

async function actionOf(to: string, expected: Expected, roots: readonly string[]): Promise<PlannedFile['action']> {
  if (await isThrough(dirname(to), roots)) return 'conflict';
  const stats = await lstat(to).catch(noneIfMissing);
  if (stats === null) return 'write';
  if (!stats.isFile() || stats.size !== expected.bytes) return 'conflict';
  return (await hashOf(to)) === expected.sha256 ? 'same' : 'conflict';
}

/** Whether a link, or a file, is in the way. */
async function isThrough(folder: string, roots: readonly string[]): Promise<boolean> {
  for (let at = folder; !roots.includes(at) && at !== dirname(at); at = dirname(at)) {
    const stats = await lstat(at).catch(noneIfMissing);
    if (stats !== null && !stats.isDirectory()) return true;
  }
  return false;
}

function noneIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  throw error;
}

/** SHA-256 of a regular file; rejects for a link. */
export async function hashOf(path: string): Promise<string> {
  await using file = await openExisting(path, constants.O_RDONLY);
  const hash = createHash('sha256');
  for await (const part of file.createReadStream({ autoClose: false })) hash.update(part as Buffer);
  return hash.digest('hex');
}

/** Everything in a folder that is no folder itself, nor the draft of a file. */
async function filesIn(folder: string, isWanted: (name: string) => boolean): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    noneIfMissing(error);
    return [];
  });
  const found: string[] = [];
  for (const entry of entries.filter(({ name }) => isWanted(name) && !isDraftName(name))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) found.push(...(await filesIn(path, () => true)));
    else found.push(path);
  }
  return found.toSorted();
}

/**
 * The site file that is there, whose state may lie in another folder than that of the archive; null: none. `unreadable`:
 * where its state lies is not known.
 */
export async function siteThere(path: string): Promise<Site | 'unreadable' | null> {
  if ((await lstat(path).catch(noneIfMissing)) === null) return null;
  return await loadSite(path).catch(() => 'unreadable' as const);
}

/** A stop or a wrong pose that is known here must not be forgotten, whoever moves what. */
async function heldBy({ stateDir, path }: Site, units: readonly string[]): Promise<RestorePlan['heldBy']> {
  const isMoved = units.some((unit) => stateDir === unit || stateDir.startsWith(`${unit}/`));
  const folders = isMoved ? [stateDir] : [];
  if (units.includes(path)) {
    const there = await siteThere(path);
    if (there === 'unreadable') {
      return {
        what: `where its stop latch lies is not known, since this site file cannot be read: ${path}`,
        remedy: 'Look for a stop at the robot, then move this file away by hand.',
      };
    }
    // Without this site file no gateway reads that folder any more.
    if (there !== null && there.stateDir !== stateDir) folders.push(there.stateDir);
  }
  for (const folder of folders) {
    const what = await heldIn(folder);
    if (what !== null) {
      return { what, remedy: 'Clear it at the robot first (`gw motion clear`, or set the pose): no restore lifts it.' };
    }
  }
  return null;
}

async function heldIn(stateDir: string): Promise<string | null> {
  const alarm = join(stateDir, 'pose-alarm.json');
  if ((await lstat(alarm).catch(noneIfMissing)) !== null) return `a pose that is wrong or not known: ${alarm}`;
  const latch = join(stateDir, 'stop-latch.json');
  if ((await lstat(latch).catch(noneIfMissing)) === null) return null;
  const read = await readBounded(latch, 64 * 1024).catch(() => null);
  const json = read?.kind === 'bytes' ? readJsonBytes(read.bytes, 'file') : null;
  const isReleased = json?.ok === true && isRecord(json.value) && json.value.latched === false;
  return isReleased ? null : `a stop: ${latch}`;
}
