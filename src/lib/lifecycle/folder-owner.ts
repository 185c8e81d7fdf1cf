import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { GwError } from '../error/index.ts';

export interface FolderProblem {
  /** Goes after the name of the folder and a colon. */
  readonly text: string;
  readonly remedy: string;
}

const OTHERS_WRITE = 0o022;
const OTHERS_ENTER = 0o077;
const NOT_FOLDER = { text: 'it is not a folder', remedy: 'Move it away, or name another folder.' };

/**
 * Why what lies in a folder cannot be relied on: it belongs to neither root nor the user of this process, or others may
 * write to it. Whoever may write there can put a link in the place of any file. null: nothing is wrong, or there is no
 * folder yet. Rejects with the error of the operating system. Project decision.
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
      remedy: `Run gw as user ${stats.uid} when \`gw serve\` does. Otherwise look at what is in it, then give it to the user of gw: chown -R ${user} ${path}`,
    };
  }
  const mode = stats.mode & 0o7777;
  if ((mode & OTHERS_WRITE) === 0) return null;
  return {
    text: `other users may write to it (mode ${octal(mode)})`,
    remedy: `Look at what is in it, then close it to them: chmod go-w ${path}`,
  };
}

/**
 * Why a folder does not hold a secret or a socket of this user alone: it belongs to somebody else, root included (what
 * root writes there its user could not read), or others may look into it. null: nothing is wrong, or there is no folder
 * yet. Rejects with the error of the operating system. Project decision.
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
    remedy: `Close it to all other users: chmod 700 ${path}`,
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

/** For what gw keeps. Throws FILE_UNWRITABLE, with what makes the folder one that others may write to. */
export async function assertOwnFolder(path: string): Promise<void> {
  const problem = await folderProblem(path).catch((error: NodeJS.ErrnoException) => ({
    text: `it cannot be looked at (${error.code ?? 'unknown reason'})`,
    remedy: undefined,
  }));
  if (problem === null) return;
  const { text, remedy } = problem;
  throw new GwError('FILE_UNWRITABLE', `${path} cannot hold what gw keeps: ${text}.`, { remedy });
}
