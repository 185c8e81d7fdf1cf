import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { GwError, systemReason } from '../error/index.ts';

export interface FolderProblem {
  /** Continues a sentence after the path of the folder. */
  readonly text: string;
  readonly remedy: string;
}

const OTHERS_WRITE = 0o022;
const OTHERS_ENTER = 0o077;
const NOT_FOLDER = { text: 'it is not a folder', remedy: 'Move it away, or name another folder.' };

/**
 * Why the content of a folder is not trustworthy: its owner is neither root nor the user of this process, or others may
 * write to it and so replace any file by a link. null: no problem, or no folder yet. Rejects with the error of the
 * operating system. Project decision.
 */
export async function folderProblem(path: string): Promise<FolderProblem | null> {
  const user = process.getuid?.();
  if (user === undefined) return null;
  const stats = await statOf(path);
  if (stats === null) return null;
  if (!stats.isDirectory()) return NOT_FOLDER;
  if (stats.uid !== 0 && stats.uid !== user) {
    return {
      text: `it belongs to user ${stats.uid}, and gw runs as user ${user}`,
      remedy: `Run gw as user ${stats.uid} if \`gw serve\` does. Otherwise inspect its content, then change the owner: chown -R ${user} ${path}`,
    };
  }
  const mode = stats.mode & 0o7777;
  if ((mode & OTHERS_WRITE) === 0) return null;
  return {
    text: `other users may write to it (mode ${octal(mode)})`,
    remedy: `Inspect its content, then remove their write permission: chmod go-w ${path}`,
  };
}

/**
 * Why a folder is not private to this user: it has another owner, including root (whose files this user could not
 * read), or others may access it. null: no problem, or no folder yet. Rejects with the error of the operating system.
 * Project decision.
 */
export async function privateFolderProblem(path: string): Promise<FolderProblem | null> {
  const stats = await statOf(path);
  if (stats === null) return null;
  if (!stats.isDirectory()) return NOT_FOLDER;
  const user = process.getuid?.();
  if (user !== undefined && stats.uid !== user) {
    return {
      text: `it belongs to user ${stats.uid}, and this is user ${user}`,
      remedy: 'Run gw as the user of `gw serve`.',
    };
  }
  const mode = stats.mode & 0o777;
  if ((mode & OTHERS_ENTER) === 0) return null;
  return {
    text: `it is open to other users (mode ${octal(mode)})`,
    remedy: `Remove the access of other users: chmod 700 ${path}`,
  };
}

async function statOf(path: string): Promise<Stats | null> {
  return stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
}

function octal(mode: number): string {
  return mode.toString(8).padStart(3, '0');
}

/** For folders of gw. Throws FILE_UNWRITABLE when others may write to the folder. */
export async function assertOwnFolder(path: string): Promise<void> {
  const problem = await folderProblem(path).catch((error: NodeJS.ErrnoException) => ({
    text: `it cannot be inspected (${systemReason(error)})`,
    remedy: undefined,
  }));
  if (problem === null) return;
  const { text, remedy } = problem;
  throw new GwError('FILE_UNWRITABLE', `${path} cannot be used as a folder of gw: ${text}.`, { remedy });
}
