/**
 * Errors of the operating system, in words. The standard texts of Linux where they say it to a person who does not
 * program.
 */
const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this user has no permission',
  EADDRINUSE: 'the address is in use',
  EADDRNOTAVAIL: 'this machine does not have the address',
  EBUSY: 'it is in use',
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EDQUOT: 'the disk quota is used up',
  EEXIST: 'it exists already',
  EHOSTUNREACH: 'no route to the host',
  EINVAL: 'not possible there',
  EIO: 'the disk reports an error',
  EISDIR: 'it is a folder',
  ELOOP: 'too many symbolic links',
  EMFILE: 'too many open files',
  ENAMETOOLONG: 'the name is too long',
  ENFILE: 'too many open files',
  ENETUNREACH: 'no network reaches it',
  ENODEV: 'no such device',
  ENOENT: 'no such file or folder',
  ENOSPC: 'no space left on the disk',
  ENOTDIR: 'a part of the path is no folder',
  ENOTEMPTY: 'the folder is not empty',
  EPERM: 'this user has no permission',
  EPIPE: 'its reader has ended',
  EROFS: 'the file system is read-only',
  ETIMEDOUT: 'no answer in time',
  ETXTBSY: 'the program is running',
};

/** Why the operating system refused, for a message; its code where no words are known. */
export function systemReason(cause: unknown): string {
  const { code } = (cause ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' && code !== '' ? (reasons[code] ?? code) : 'unknown reason';
}
