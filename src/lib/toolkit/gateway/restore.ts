import { lstat, readdir, realpath, rename, rm, statfs } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { GwError } from '../../error/index.ts';
import { assertOwnFolder, createFile, ensureFolder, isDraftName, syncFolder } from '../../lifecycle/index.ts';
import { parseSite, type Site } from '../../site/index.ts';
import { plural } from '../../text/index.ts';
import { afterRestore, conflictLine } from '../backup/aftermath.ts';
import { openedSecrets, viewArchive } from '../backup/archive-view.ts';
import { placeOf } from '../backup/manifest.ts';
import { strangersOf } from '../backup/parts.ts';
import { type ReadBackup, readBackup } from '../backup/read.ts';
import { hashOf, type PlannedFile, planRestore, type RestorePlan, siteThere } from '../backup/restore-plan.ts';
import type { LookForGateway } from '../backup/running.ts';
import { invalidBackup, type SecretFile } from '../backup/secrets.ts';
import type { Line } from '../finding.result.ts';
import { finding } from '../finding.ts';
import type { CheckContext } from '../toolkit.ts';
import { conclude } from '../verdict.ts';
import type { GatewayRestore } from './backup.result.ts';

/** Files that are read into memory: their content decides. */
const SMALL_BYTES = 1024 * 1024;
const MAX_SMALL_BYTES = 64 * 1024 * 1024;
const LATCH_FILE = 'stop-latch.json';

/** What changes the disk. */
export interface RestoreDisk {
  readonly create: typeof createFile;
  readonly rename: (from: string, to: string) => Promise<void>;
}

export interface RestoreOptions {
  readonly archive: string;
  /** Folder of the site file. */
  readonly into: string;
  /** Asked for only where there are secrets; null: they are left out. */
  readonly passphrase: () => Promise<string | null>;
  /** false: a dry run. */
  readonly write: boolean;
  readonly moveAside: boolean;
  /** Folders outside of `into` in which files may be written. */
  readonly alsoIn: readonly string[];
  readonly now: Date;
  readonly look: LookForGateway;
}

/**
 * Restores a gateway from its backup. The whole archive is verified before the first byte is written; nothing is replaced or
 * removed; each file is new, whole and durable under its name, and the site file is the last one, without which no
 * `gw serve` starts. So an interrupted restore is repeated, and goes on with what is missing. Throws ARCHIVE_INVALID,
 * FILE_UNREADABLE, PASSPHRASE_WRONG, SITE_FILE_INVALID, USAGE, FILE_EXISTS, FILE_UNWRITABLE, INTERRUPTED.
 */
export async function restoreGateway(
  options: RestoreOptions,
  context: CheckContext,
  disk: RestoreDisk = { create: createFile, rename },
): Promise<GatewayRestore> {
  const { archive, moveAside, look, write } = options;
  context.onProgress('reading the archive');
  const { read, contents } = await readWhole(archive);
  const passphrase = read.secrets === null ? null : await options.passphrase();
  const secrets =
    read.secrets === null || passphrase === null
      ? []
      : await openedSecrets(read.manifest, read.secrets, passphrase, archive);
  const into = await rootOf(options.into);
  const site = siteOf(read, contents, into, archive);
  const roots = [into, ...(await Promise.all(options.alsoIn.map(rootOf)))];
  for (const root of roots) await assertOwnFolder(root);
  const outside = [...read.manifest.files, ...secrets].map(({ path }) => path).filter(isAbsolute);
  const notAllowed = outside.filter((path) => !roots.some((root) => path.startsWith(`${root}/`)));
  const plan = () => planRestore(site, { ...wantedOf(read, secrets, contents, options), roots });
  context.onProgress('comparing with what is there');
  let planned = await plan();
  const running = await runningAt(site, look);
  const first = [
    finding(
      'archive',
      'Archive',
      'ok' as const,
      `whole: ${plural(read.manifest.files.length, 'file')}, each with its SHA-256`,
    ),
    secretsLine(read, passphrase),
    running === null
      ? finding('gateway', 'Running gateway', 'ok' as const, 'none of this robot is seen on this machine')
      : finding('gateway', 'Running gateway', 'wrong' as const, running, 'End it: systemctl stop gw'),
    outsideLine(notAllowed, outside),
    conflictLine(planned, moveAside),
  ];
  const after = (boots: RestorePlan['boots']) =>
    afterRestore({
      ...{ site, manifest: read.manifest, boots, hasSecrets: secrets.length > 0, now: options.now },
      latch: contents.get(relativeOf(read, site, LATCH_FILE)),
    });
  const isRefused = first.some(({ verdict }) => verdict === 'wrong');
  const result = (state: GatewayRestore['state'], lines: Line[], movedAside: RestorePlan['moves']): GatewayRestore => {
    const findings = [...lines];
    const shown = viewArchive({ ...read, file: resolve(archive), findings });
    const { files } = planned;
    return {
      ...{ ...shown, verdict: conclude(findings), state, site: site.path, movedAside: [...movedAside] },
      files: files.map(({ to, bytes, action }) => ({ path: to, bytes, action })),
    };
  };
  if (isRefused || !write) {
    return result(
      isRefused ? 'refused' : 'dry-run',
      [...first, ...after(planned.boots)],
      moveAside ? planned.moves : [],
    );
  }

  const { moves } = planned;
  await assertSpace(into, planned.files);
  for (const root of roots) await ensureFolder(root, 0o700);
  for (const { from, to } of siteFirst(moves, site)) {
    await disk.rename(from, to);
    await syncFolder(dirname(from));
  }
  if (moves.length > 0) {
    planned = await plan();
    if (planned.conflicts.length > 0) {
      throw new GwError('FILE_EXISTS', `Still in the way: ${planned.conflicts.slice(0, 5).join(', ')}.`, {
        remedy: 'Move it away by hand, then run the command again.',
      });
    }
  }
  await writeFiles(options.archive, read, planned.files, { disk, context, site, contents });
  context.onProgress('reading back');
  const lines = [...first, await readBackLine(planned.files), await stillNone(look, site), ...after(planned.boots)];
  await removeOwnDrafts(planned.files);
  return result('restored', lines, moves);
}

async function readWhole(archive: string) {
  const contents = new Map<string, Uint8Array>();
  let kept = 0;
  const read = await readBackup(archive, async ({ path, bytes }, parts) => {
    const isKept = !path.includes('/') || [LATCH_FILE, 'heartbeat-boots.json'].includes(basename(path));
    if (!isKept || bytes > SMALL_BYTES || kept + bytes > MAX_SMALL_BYTES) return;
    kept += bytes;
    contents.set(path, await joined(parts));
  });
  return { read, contents };
}

async function joined(parts: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const part of parts) all.push(part);
  return Buffer.concat(all);
}

/** Without the links of the folders above it; a folder that is not there yet is named as it is. */
async function rootOf(folder: string): Promise<string> {
  const path = resolve(folder);
  return await realpath(path).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT' || dirname(path) === path) throw error;
    return join(await rootOf(dirname(path)), basename(path));
  });
}

function siteOf(
  { manifest }: ReadBackup,
  contents: ReadonlyMap<string, Uint8Array>,
  into: string,
  archive: string,
): Site {
  const content = contents.get(manifest.siteFile);
  if (content === undefined) throw invalidBackup(archive, [`${manifest.siteFile} is no site file`]);
  const { files, secrets } = manifest;
  const strangers = (site: Site) => strangersOf(site, files, secrets?.files ?? []);
  const site = parseSite(content, join(into, manifest.siteFile));
  if (site.chassis.serial !== manifest.serial) throw invalidBackup(archive, ['its site file is of another robot']);
  const problems = strangers(site);
  if (problems.length === 0) return site;
  if (strangers(parseSite(content, join(manifest.siteDir, manifest.siteFile))).length > 0)
    throw invalidBackup(archive, problems);
  throw new GwError('USAGE', `Its site file names files below ${manifest.siteDir} by their whole path.`, {
    remedy: `Restore it to the same folder: --into ${manifest.siteDir}`,
  });
}

function wantedOf(
  { manifest }: ReadBackup,
  secrets: readonly SecretFile[],
  contents: ReadonlyMap<string, Uint8Array>,
  { now }: RestoreOptions,
) {
  return { files: manifest.files, secrets, contents, now, createdAt: new Date(manifest.createdAt) };
}

function relativeOf({ manifest }: ReadBackup, site: Site, name: string): string {
  const wanted = join(site.stateDir, name);
  return manifest.files.find(({ path }) => placeOf(site.dir, path) === wanted)?.path ?? '';
}

function secretsLine({ manifest: { secrets } }: ReadBackup, passphrase: string | null): Line {
  const [id, title] = ['secrets', 'Secrets'];
  if (secrets === null) return finding(id, title, 'not-applicable', 'none in the archive');
  const count = plural(secrets.files.length, 'file');
  return passphrase === null
    ? finding(id, title, 'not-checked', `${count}, left out`, 'Name the passphrase: --passphrase-file FILE.')
    : finding(id, title, 'ok', `${count}, opened with the passphrase`);
}

function outsideLine(notAllowed: readonly string[], outside: readonly string[]): Line {
  const [id, title] = ['outside', 'Files outside of the folder'];
  if (outside.length === 0) return finding(id, title, 'not-applicable', 'none');
  if (notAllowed.length === 0)
    return finding(id, title, 'ok', `${outside.length}, in the folders that --also-in names`);
  const folders = [...new Set(notAllowed.map((path) => dirname(path)))].toSorted();
  return finding(
    id,
    title,
    'wrong',
    notAllowed.slice(0, 5).join(', '),
    `Allow it: ${folders.map((folder) => `--also-in ${folder}`).join(' ')}`,
  );
}

/** Without its site file no gateway starts with half of a state. */
function siteFirst(moves: RestorePlan['moves'], site: Site) {
  return moves.toSorted((a, b) => Number(b.from === site.path) - Number(a.from === site.path));
}

async function assertSpace(into: string, files: readonly PlannedFile[]): Promise<void> {
  let folder = into;
  while ((await lstat(folder).catch(() => null)) === null) folder = dirname(folder);
  const { bavail, bsize } = await statfs(folder);
  const needed = files.filter(({ action }) => action === 'write').reduce((sum, { bytes }) => sum + bytes, 0);
  if (bavail * bsize > needed) return;
  throw new GwError('FILE_UNWRITABLE', `${into} has ${bavail * bsize} bytes free, and ${needed} are needed.`);
}

interface Writing {
  readonly disk: RestoreDisk;
  readonly context: CheckContext;
  readonly site: Site;
  readonly contents: ReadonlyMap<string, Uint8Array>;
}

async function writeFiles(
  archive: string,
  read: ReadBackup,
  files: readonly PlannedFile[],
  writing: Writing,
): Promise<void> {
  const { disk, context, site, contents } = writing;
  const left = new Map(files.filter(({ action }) => action === 'write').map((file) => [file.path, file]));
  const options = { mode: 0o600, folderMode: 0o700, durable: true };
  const last = left.get(read.manifest.siteFile);
  const ofArchive = (path: string) => (path === read.manifest.siteFile ? undefined : left.get(path));
  const again = await readBackup(archive, async ({ path }, parts) => {
    const file = ofArchive(path);
    if (file === undefined || file.content !== null) return;
    context.signal.throwIfAborted();
    context.onProgress(`writing ${file.to}`);
    await disk.create(file.to, () => parts, options);
  });
  if (again.sha256 !== read.sha256) throw invalidBackup(archive, ['it was changed while it was read']);
  for (const { to, content } of left.values()) {
    context.signal.throwIfAborted();
    if (content !== null) await disk.create(to, content, options);
  }
  await syncFolders(
    files.map(({ to }) => to),
    site.dir,
  );
  const content = contents.get(read.manifest.siteFile);
  if (last !== undefined && content !== undefined) await disk.create(last.to, content, options);
}

/** Folders that were made for the files. */
async function syncFolders(paths: readonly string[], root: string): Promise<void> {
  const folders = new Set<string>([root]);
  for (const path of paths) {
    for (let at = dirname(path); at.startsWith(`${root}/`); at = dirname(at)) folders.add(at);
  }
  for (const folder of folders) await syncFolder(folder);
  // It may be a folder that this user may not read.
  await syncFolder(dirname(root)).catch(() => {});
}

async function readBackLine(files: readonly PlannedFile[]): Promise<Line> {
  const [id, title] = ['files', 'Files'];
  const differing: string[] = [];
  for (const { to, sha256, path } of files) {
    const found = await hashOf(to).catch(() => null);
    // A counter may be further than the archive says.
    if (found !== sha256 && basename(path) !== 'heartbeat-boots.json') differing.push(to);
    if (found === null && !differing.includes(to)) differing.push(to);
  }
  return differing.length === 0
    ? finding(id, title, 'ok', `${plural(files.length, 'file')}, each read back`)
    : finding(
        id,
        title,
        'wrong',
        `read back otherwise: ${differing.slice(0, 5).join(', ')}`,
        'Check the disk, then run it again.',
      );
}

/** Of the archive, or of another site file that is there: both would lose what they work with. */
async function runningAt(site: Site, look: LookForGateway): Promise<string | null> {
  const running = await look(site);
  const there = running === null ? await siteThere(site.path) : null;
  if (there === null || there === 'unreadable') return running;
  const isOther = there.stateDir !== site.stateDir || there.chassis.serial !== site.chassis.serial;
  return isOther ? await look(there) : running;
}

async function stillNone(look: LookForGateway, site: Site): Promise<Line> {
  const running = await look(site);
  return running === null
    ? finding('gateway-after', 'Running gateway, afterwards', 'ok', 'none was started meanwhile')
    : finding('gateway-after', 'Running gateway, afterwards', 'wrong', running, 'End it, and run the command again.');
}

/** Of files that are whole now: an interrupted restore has begun them. */
async function removeOwnDrafts(files: readonly PlannedFile[]): Promise<void> {
  const names = Map.groupBy(files, ({ to }) => dirname(to));
  for (const [folder, inIt] of names) {
    const drafts = (await readdir(folder).catch(() => [])).filter(isDraftName);
    const own = drafts.filter((name) => inIt.some(({ to }) => name.startsWith(`.${basename(to)}.`)));
    for (const name of own) await rm(join(folder, name), { force: true });
  }
}
