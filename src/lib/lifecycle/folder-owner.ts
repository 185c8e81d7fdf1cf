import { stat } from 'node:fs/promises';
import { GwError } from '../error/index.ts';

export interface FolderProblem {
  /** Goes after the name of the folder and a colon. */
  readonly text: string;
  readonly remedy: string;
}

const OTHERS_WRITE = 0o022;

/**
 * Why what lies in a folder cannot be relied on: it belongs to neither root nor the user of this process, or others may
 * write to it. Whoever may write there can put a link in the place of any file. null: nothing is wrong, or there is no
 * folder yet. Rejects with the error of the operating system. Project decision.
 */
export async function folderProblem(path: string): Promise<FolderProblem | null> {
  const user = process.getuid?.();
  if (user === undefined) return null;
  const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (stats === null) return null;
  if (!stats.isDirectory()) return { text: 'it is not a folder', remedy: 'Move it away, or name another folder.' };
  if (stats.uid !== 0 && stats.uid !== user) {
    return {
      text: `it belongs to user ${stats.uid}, and gw runs as user ${user}`,
      remedy: `Run gw as user ${stats.uid} when \`gw serve\` does. Otherwise look at what is in it, then give it to the user of gw: chown -R ${user} ${path}`,
    };
  }
  const mode = stats.mode & 0o7777;
  if ((mode & OTHERS_WRITE) === 0) return null;
  return {
    text: `other users may write to it (mode ${mode.toString(8).padStart(3, '0')})`,
    remedy: `Look at what is in it, then close it to them: chmod go-w ${path}`,
  };
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
