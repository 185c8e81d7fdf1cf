import { constants, type Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { snapshotOutbox } from '../../cloud/index.ts';
import { GwError } from '../../error/index.ts';
import { isDraftName, openExisting } from '../../lifecycle/index.ts';
import { isCredential, type Site } from '../../site/index.ts';
import type { CheckContext } from '../toolkit.ts';
import { copyAside } from './copy-aside.ts';
import { archivePath, type BackedUpFile, bounds, choices } from './manifest.ts';
import { type Source, sourcesOf, stateKinds } from './parts.ts';
import type { SecretFile } from './secrets.ts';

const MAX_CHECKLIST_BYTES = 256 * 1024;
/** How often a folder is read again whose names changed meanwhile. */
const TRIES = 10;

/** A file of the backup, copied aside: the archive is packed from the copy. */
export interface StagedFile extends BackedUpFile {
  readonly staged: string;
}

interface LeftOut {
  readonly path: string;
  readonly holds: string;
  readonly reason: string;
  readonly anew: string;
}

export interface Collected {
  readonly files: readonly StagedFile[];
  readonly secrets: readonly (SecretFile & { readonly holds: string; readonly anew: string })[];
  readonly leftOut: readonly LeftOut[];
}

interface Wanted {
  /** Empty folder, for the copies. */
  readonly staging: string;
  readonly withMedia: boolean;
  readonly withSecrets: boolean;
}

type Item = Pick<Source, 'holds' | 'anew'> & { readonly from: string; readonly isSecret: boolean };

/**
 * Copies what a gateway is, while `gw serve` may run: each folder is read again while its names change, files of lines end at
 * their last whole line, and what points into them is read before them. What cannot be read is listed as left out. Throws
 * FILE_UNREADABLE for the site file, FILE_UNWRITABLE, INTERRUPTED.
 */
export async function collectGateway(site: Site, wanted: Wanted, context: CheckContext): Promise<Collected> {
  const files: StagedFile[] = [];
  const secrets: Collected['secrets'][number][] = [];
  const leftOut: LeftOut[] = [];
  const seen = new Set<string>();
  let copies = 0;

  const sources = sourcesOf(site);
  const secretPlaces = secretPlacesOf(site, sources);
  /** A secret file in a folder that is kept in the clear stays secret. */
  const isMisplaced = (path: string, isSecret: boolean) =>
    !isSecret && secretPlaces.some((place) => path === place || path.startsWith(`${place}/`));

  const leave = ({ from, holds, anew }: Omit<Item, 'isSecret'>, reason: string) =>
    leftOut.push({
      path: archivePath(site.dir, from) ?? from.replace(/\P{ASCII}|\p{Cc}/gu, '?'),
      holds,
      reason,
      anew,
    });

  /** Rejects with the error of the system. */
  async function take({ from, holds, anew, isSecret }: Item): Promise<() => void> {
    context.signal.throwIfAborted();
    const path = archivePath(site.dir, from);
    if (path === null) return () => void leave({ from, holds, anew }, 'its name is not plain text');
    if (isSecret && !wanted.withSecrets) return () => void leave({ from, holds, anew }, choices.secret);
    context.onProgress(`reading ${path}`);
    if (isSecret) {
      const content = await readSecretBytes(from);
      return () => void secrets.push({ path, content, holds, anew });
    }
    copies += 1;
    const staged = join(wanted.staging, String(copies));
    if (isOutbox(from)) await snapshotOutbox(from, staged, `${staged}.draft`);
    const size = isOutbox(from) ? await copyAside(staged, null) : await copyAside(from, staged);
    return () => void files.push({ path, holds, staged, ...size });
  }

  async function takeFile(item: Item): Promise<void> {
    if (seen.has(item.from) || isMisplaced(item.from, item.isSecret)) return;
    seen.add(item.from);
    try {
      (await take(item))();
    } catch (error) {
      fail(item, error);
    }
  }

  function fail(item: Omit<Item, 'isSecret'>, error: unknown): void {
    context.signal.throwIfAborted();
    if (error instanceof GwError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOSPC' || code === 'EDQUOT') {
      throw new GwError('FILE_UNWRITABLE', `${wanted.staging} cannot be written: no space left for the copies.`, {
        cause: error,
      });
    }
    leave(item, `it cannot be read (${code ?? message})`);
  }

  /** All files of a folder, as they were together. */
  async function takeFolder({ from, ...rest }: Item): Promise<void> {
    try {
      for (let attempt = 1; ; attempt += 1) {
        const before = await listFiles(from);
        const done: (() => void)[] = [];
        let isStill = true;
        const left = before.files.filter(({ path }) => !seen.has(path) && !isMisplaced(path, rest.isSecret));
        for (const { path } of left) {
          const taken = await take({ ...rest, from: path }).catch((error: NodeJS.ErrnoException) => {
            if (error.code === 'ENOENT') isStill = false;
            else return () => fail({ ...rest, from: path }, error);
            return () => {};
          });
          done.push(taken);
        }
        const after = await listFiles(from);
        if (isStill && before.mark === after.mark) {
          for (const keep of done) keep();
          for (const { path } of left) seen.add(path);
          for (const odd of before.odd) leave({ ...rest, from: odd.path }, odd.reason);
          return;
        }
        if (attempt === TRIES) return void leave({ ...rest, from }, 'its files changed each time it was read');
      }
    } catch (error) {
      fail({ ...rest, from }, error);
    }
  }

  async function takeState(source: Source): Promise<void> {
    const names = await readdir(source.path, { withFileTypes: true });
    for (const entry of names.toSorted(byName)) {
      const kind = stateKinds[entry.name.replace(/~\d+$/, '')];
      const from = join(source.path, entry.name);
      const item = kind === 'secret' ? { ...ofTablet, from, isSecret: true } : { ...source, from, isSecret: false };
      if (kind === 'not' || isDraftName(entry.name)) continue;
      if (kind === undefined) leave(item, 'gw does not know it');
      else if (entry.isDirectory()) await takeFolder(item);
      else if (entry.isFile()) await takeFile(item);
      else leave(item, 'it is neither a file nor a folder');
    }
  }

  async function takeSource(source: Source): Promise<void> {
    const { treat, is, path, mayBeAbsent } = source;
    const item = { ...source, from: path, isSecret: treat === 'secret' };
    if (treat === 'not') return;
    if (isCredential(path)) return void leave(item, choices.credential);
    const there = await stat(path).catch((error: NodeJS.ErrnoException) => error);
    if (there instanceof Error) {
      if (there.code !== 'ENOENT') fail(item, there);
      else if (mayBeAbsent !== true) leave(item, 'the site file names it, and it is not there');
    } else if (there.isDirectory() !== (is === 'folder')) leave(item, `it is no ${is}`);
    else if (treat === 'media' && !wanted.withMedia) {
      const { files: media } = await listFiles(path).catch(() => ({ files: [null] }));
      if (media.length > 0) leave(item, choices.media);
    } else if (treat === 'state') await takeState(source).catch((error) => fail(item, error));
    else if (is === 'folder') await takeFolder(item);
    else await takeFile(item);
  }

  const siteItem = { from: site.path, holds: 'site file', anew: '', isSecret: false };
  seen.add(site.path);
  const siteFile = await take(siteItem).catch((cause) => {
    throw new GwError('FILE_UNREADABLE', `${site.path} cannot be read (${cause.code ?? cause.message}).`, { cause });
  });
  siteFile();
  for (const source of sources.filter(({ treat }) => treat === 'secret')) await takeSource(source);
  const media = sources.find(({ treat }) => treat === 'media');
  for (const source of sources.filter(({ treat }) => treat !== 'secret')) await takeSource(source);
  const inMedia = (path: string) => media !== undefined && path.startsWith(`${media.path}/`);
  for (const from of await ownChecklists(site)) {
    if (inMedia(from)) continue;
    await takeFile({ from, holds: 'own checklist', anew: 'Write the checklist again.', isSecret: false });
  }
  return { files, secrets, leftOut };
}

/** The only secret in the state folder. */
const ofTablet = { holds: 'key for the tablet', anew: 'Authorise this gateway at the tablet again: `gw kiosk setup`.' };

function secretPlacesOf({ stateDir }: Site, sources: readonly Source[]): string[] {
  const inState = Object.keys(stateKinds).filter((name) => stateKinds[name] === 'secret');
  return [
    ...sources.filter(({ treat }) => treat === 'secret').map(({ path }) => path),
    ...inState.map((name) => join(stateDir, name)),
  ];
}

const byName = (a: Dirent, b: Dirent) => (a.name < b.name ? -1 : 1);

interface Listed {
  readonly files: readonly { readonly path: string }[];
  readonly odd: readonly { readonly path: string; readonly reason: string }[];
  /** Another one where a file came, went, or was begun anew. */
  readonly mark: string;
}

/** Files of lines last, since other files point into them. Rejects with the error of the system. */
async function listFiles(folder: string): Promise<Listed> {
  const files: { path: string; mark: string }[] = [];
  const odd: { path: string; reason: string }[] = [];
  /** Listed, and not there any more: the next look lists them no more. */
  const gone: string[] = [];
  async function walk(dir: string): Promise<void> {
    const entries = await readdir(dir, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT' || dir === folder) throw error;
      gone.push(dir);
      return [];
    });
    const names = new Set(entries.map(({ name }) => name));
    for (const entry of entries.toSorted(byName)) {
      const path = join(dir, entry.name);
      if (isDraftName(entry.name) || isOfDatabase(entry.name, names)) continue;
      if (entry.isDirectory()) await walk(path);
      else if (/^outbox\.db\.(new|draft)/.test(entry.name))
        odd.push({ path, reason: 'it is unfinished; the next start of gw finishes it' });
      else if (!entry.isFile()) odd.push({ path, reason: 'it is neither a file nor a folder' });
      else files.push({ path, mark: path.endsWith('.jsonl') ? `${path} ${await inodeOf(path)}` : path });
    }
  }
  await walk(folder);
  files.sort((a, b) => Number(a.path.endsWith('.jsonl')) - Number(b.path.endsWith('.jsonl')));
  return {
    files,
    odd,
    mark: [...files.map(({ mark }) => mark), ...odd.map(({ path }) => path), ...gone].toSorted().join('\n'),
  };
}

async function inodeOf(path: string): Promise<number | null> {
  return await stat(path).then(
    ({ ino }) => ino,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    },
  );
}

const isOutbox = (path: string) => basename(path) === 'outbox.db';
/** What SQLite keeps beside the outbox in use: it is in the copy. */
const isOfDatabase = (name: string, names: ReadonlySet<string>) =>
  /^outbox\.db-(wal|shm|journal)$/.test(name) && names.has('outbox.db');

async function readSecretBytes(path: string): Promise<Buffer> {
  await using file = await openExisting(path, constants.O_RDONLY);
  const { size } = await file.stat();
  if (size > bounds.secretsBytes / 4) throw Object.assign(new Error(), { code: `it has ${size} bytes` });
  return await file.readFile();
}

/** YAML files beside the site file, and in `checklists` there, that have the steps of a checklist. */
async function ownChecklists(site: Site): Promise<string[]> {
  const found: string[] = [];
  for (const dir of [site.dir, join(site.dir, 'checklists')]) {
    const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
    for (const entry of entries.toSorted(byName)) {
      const path = join(dir, entry.name);
      if (!entry.isFile() || !/\.ya?ml$/.test(entry.name) || path === site.path) continue;
      if (await isChecklist(path)) found.push(path);
    }
  }
  return found;
}

async function isChecklist(path: string): Promise<boolean> {
  try {
    await using file = await openExisting(path, constants.O_RDONLY);
    const { size } = await file.stat();
    return size <= MAX_CHECKLIST_BYTES && /^(?:steps|sections):/m.test(await file.readFile('utf8'));
  } catch {
    return false;
  }
}
