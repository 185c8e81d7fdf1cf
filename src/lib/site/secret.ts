import { constants, type FileHandle, open } from 'node:fs/promises';
import { basename } from 'node:path';
import { GwError } from '../error/index.ts';

const MAX_BYTES = 64 * 1024;
const OTHERS = 0o077;
/**
 * Where the file system has access control lists, systemd lets the user of the service read a credential of root by one,
 * and its mask stands in place of the mode of the group: 0440. The folder is for that user alone.
 */
const OTHERS_OF_CREDENTIAL = 0o037;
/** Where systemd puts the credentials of its services. @source systemd.exec(5), 'Credentials' */
const CREDENTIALS = '/run/credentials/';

/** Whether a secret comes from systemd, which makes its file when the service starts: no command writes it. */
export const isCredential = (path: string) => path.startsWith(CREDENTIALS);

/** The error of `readSecret` for a credential of a service that does not run here. */
export const isAbsentCredential = ({ details }: GwError) => details?.absentCredential === true;

/**
 * Reads a secret that the site file names. `what` is its key, for the error. A line end after the secret is stripped.
 * Throws SECRET_UNREADABLE; no message ever contains the content of the file.
 *
 * The file must be regular, owned by the user of this process or by root, and not accessible to others. A symbolic link
 * is rejected, so that it cannot be redirected to another file later. Project decision.
 */
export async function readSecret(path: string, what = 'a secret'): Promise<string> {
  const refuse = (why: string, remedy?: string, cause?: unknown) =>
    new GwError('SECRET_UNREADABLE', `Secret file ${path} (${what}) is unusable: ${why}.`, {
      remedy,
      cause,
      ...(isCredential(path) && isNotFound(cause) && { details: { absentCredential: true } }),
    });

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
      `Change its owner: chown ${user} ${path}`,
    );
  }
  if ((stats.mode & (isCredential(path) ? OTHERS_OF_CREDENTIAL : OTHERS)) !== 0) {
    const mode = (stats.mode & 0o777).toString(8).padStart(3, '0');
    const remedy = isCredential(path)
      ? 'Let systemd make it, by LoadCredential= in the unit.'
      : `Remove their access: chmod 600 ${path}`;
    throw refuse(`other users may access it (mode ${mode})`, remedy);
  }
  if (stats.size > MAX_BYTES)
    throw refuse(`it has ${stats.size} bytes, more than ${MAX_BYTES}`, 'Name the right file.');
  const secret = decode(await file.readFile())?.replace(/\r?\n$/, '');
  if (secret === undefined) throw refuse('it is not UTF-8 text', 'Name the right file.');
  if (secret === '') throw refuse('it is empty', 'Write the secret into it.');
  return secret;
}

const isNotFound = (cause: unknown) =>
  ['ENOENT', 'ENOTDIR'].includes((cause as NodeJS.ErrnoException | undefined)?.code ?? '');

function openFailure(cause: unknown, path: string): [why: string, remedy: string | undefined] {
  switch ((cause as NodeJS.ErrnoException).code) {
    case 'ENOENT':
    case 'ENOTDIR':
      if (isCredential(path)) {
        return [
          'file not found; it is a credential of systemd, which is there only while its service runs',
          `Name its source in the unit, and start the service: LoadCredential=${basename(path)}:FILE (docs/install.md).`,
        ];
      }
      return ['file not found', 'Create it with the secret as its content, readable for its owner only (mode 600).'];
    case 'ELOOP':
      return ['it is a symbolic link', 'Name the file itself; a link could be redirected later.'];
    case 'EACCES':
    case 'EPERM':
      return ['permission denied for this user', `Change its owner to the user that runs gw, then: chmod 600 ${path}`];
    default:
      return [(cause as NodeJS.ErrnoException).code ?? 'the operating system denied access', undefined];
  }
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
