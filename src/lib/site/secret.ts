import { constants, type FileHandle, open } from 'node:fs/promises';
import { GwError } from '../error/index.ts';

const MOST_BYTES = 64 * 1024;
const OTHERS = 0o077;

/**
 * Reads a secret that the site file names. `what` is the key that names it, for the error. A line end after the
 * secret does not belong to it. Throws SECRET_UNREADABLE; no message ever holds what is in the file.
 *
 * The file must be regular, belong to the user of this process or to root, and be closed to everybody else. A
 * symbolic link is refused rather than followed: what was checked and what is read are then the same file, and a
 * link cannot be turned to another file later. Decision of ours.
 */
export async function readSecret(path: string, what = 'a secret'): Promise<string> {
  const refuse = (why: string, remedy?: string, cause?: unknown) =>
    new GwError('SECRET_UNREADABLE', `The secret file ${path} (${what}) cannot be used: ${why}.`, { remedy, cause });

  let handle: FileHandle;
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (cause) {
    throw refuse(...openFailure(cause, path), cause);
  }
  await using file = handle;
  const stats = await file.stat();
  if (!stats.isFile())
    throw refuse(stats.isDirectory() ? 'it is a folder' : 'it is not a regular file', 'Name a regular file.');
  const user = process.getuid?.();
  if (user !== undefined && stats.uid !== user && stats.uid !== 0) {
    throw refuse(
      `it belongs to user ${stats.uid}, and this is user ${user}`,
      `Give it to its reader: chown ${user} ${path}`,
    );
  }
  if ((stats.mode & OTHERS) !== 0) {
    const mode = (stats.mode & 0o777).toString(8).padStart(3, '0');
    throw refuse(`others may open it too (mode ${mode})`, `Close it to everybody else: chmod 600 ${path}`);
  }
  if (stats.size > MOST_BYTES)
    throw refuse(`it has ${stats.size} bytes, more than ${MOST_BYTES}`, 'Name the right file.');
  const secret = decode(await file.readFile())?.replace(/\r?\n$/, '');
  if (secret === undefined) throw refuse('it is not text in UTF-8', 'Name the right file.');
  if (secret === '') throw refuse('it is empty', 'Write the secret into it.');
  return secret;
}

function openFailure(cause: unknown, path: string): [why: string, remedy: string | undefined] {
  switch ((cause as NodeJS.ErrnoException).code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return ['there is no such file', 'Write the secret into it, readable for its owner only (mode 600).'];
    case 'ELOOP':
      return ['it is a symbolic link', 'Name the file itself; a link could be turned to another file later.'];
    case 'EACCES':
    case 'EPERM':
      return ['this user may not open it', `Give it to the user that runs gw, then: chmod 600 ${path}`];
    default:
      return [(cause as NodeJS.ErrnoException).code ?? 'the operating system refused', undefined];
  }
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
