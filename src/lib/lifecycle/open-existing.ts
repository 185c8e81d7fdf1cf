import { constants, type FileHandle, open } from 'node:fs/promises';

/**
 * Opens a file that is there: a regular one, and not through a link, which somebody else may have put there; for
 * writing into it only one that has no second name. Does not wait for the other end of a pipe. Rejects with the error of the operating
 * system, or one whose `code` says what else is in its place.
 */
export async function openExisting(path: string, flags: number = constants.O_RDWR): Promise<FileHandle> {
  const file = await open(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((cause) => {
    throw cause.code === 'ELOOP' ? wrong(path, 'it is a symbolic link', cause) : cause;
  });
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw wrong(path, 'it is not a regular file');
    const isWriting = (flags & (constants.O_WRONLY | constants.O_RDWR)) !== 0;
    if (isWriting && stats.nlink > 1)
      throw wrong(path, `it has ${stats.nlink} names; copy it and put the copy in its place`);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

function wrong(path: string, code: string, cause?: unknown): Error {
  return Object.assign(new Error(`${path}: ${code}`, { cause }), { code });
}
