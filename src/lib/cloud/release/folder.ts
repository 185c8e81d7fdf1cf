import { lstat, readdir, readlink, rename, rm, symlink, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { GwError, systemReason } from '../../error/index.ts';
import { syncFolder } from '../../lifecycle/index.ts';
import { isVersion } from './version.ts';

/** The symbolic link to the folder of the version that the launcher starts; without it the base installation. */
const CURRENT = 'current';
export const PARTIAL_SUFFIX = '.partial';
const PACKAGE_NAME = /^[0-9a-f]{16}\.tar/;
/** The draft of the link, replaced by renaming. */
const LINK_DRAFT = `.${CURRENT}.draft`;

/** `1.2.3`, or `1.2.3_2` where that name was in use: the second installation of a version. */
export function versionOfFolder(name: string): string | null {
  const version = name.replace(/_\d{1,2}$/, '');
  return isVersion(version) ? version : null;
}

/** The first free folder for a version among those in use. */
export function folderFor(version: string, inUse: readonly (string | null)[]): string {
  for (let number = 2, name = version; ; number += 1) {
    if (!inUse.includes(name)) return name;
    name = `${version}_${number}`;
  }
}

/** Folders of installed versions, sorted by name. */
export async function installedFolders(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return entries
    .filter((entry) => entry.isDirectory() && versionOfFolder(entry.name) !== null)
    .map(({ name }) => name)
    .sort();
}

/** The folder that `current` names; null without the link: the base installation. Rejects for anything but a link. */
export async function readCurrent(dir: string): Promise<string | null> {
  try {
    return await readlink(join(dir, CURRENT));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new GwError('FILE_UNREADABLE', `${join(dir, CURRENT)} is not a symbolic link (${systemReason({ code })}).`, {
      cause: error,
    });
  }
}

/** Makes a folder the current one, atomically and durably; null: the base installation. */
export async function switchCurrent(dir: string, folder: string | null): Promise<void> {
  const path = join(dir, CURRENT);
  if (folder === null) {
    await unlink(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  } else {
    const draft = join(dir, LINK_DRAFT);
    await rm(draft, { force: true });
    await symlink(folder, draft);
    await rename(draft, path);
  }
  await syncFolder(dir);
}

export async function isThere(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}

export function packagePath(dir: string, sha256: string): string {
  return join(dir, `${sha256.slice(0, 16)}.tar`);
}

/** Removes packages, unfinished folders, and versions that are not kept. Anything else in the folder stays. */
export async function prune(dir: string, keep: readonly (string | null)[]): Promise<void> {
  for (const name of await installedFolders(dir)) {
    if (!keep.includes(name)) await removeFolder(dir, name);
  }
  await removeUnfinished(dir);
}

/** Removes downloaded packages, also partial ones, and unfinished folders. */
export async function removeUnfinished(dir: string): Promise<void> {
  const names = await readdir(dir).catch(() => []);
  for (const name of names) {
    if (PACKAGE_NAME.test(name) || isPartial(name)) await rm(join(dir, name), { recursive: true, force: true });
  }
}

/** Under another name first, so that an interrupted removal leaves no folder that looks installed. */
async function removeFolder(dir: string, name: string): Promise<void> {
  const partial = join(dir, `${name}${PARTIAL_SUFFIX}`);
  await rm(partial, { recursive: true, force: true });
  await rename(join(dir, name), partial);
  await rm(partial, { recursive: true, force: true });
}

function isPartial(name: string): boolean {
  return name.endsWith(PARTIAL_SUFFIX) && versionOfFolder(name.slice(0, -PARTIAL_SUFFIX.length)) !== null;
}
