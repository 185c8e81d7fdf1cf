import { constants, type FileHandle, open } from 'node:fs/promises';

/**
 * Opens an existing regular file without following a link, which another user may have placed; for writing, only one
 * without a second hard link. Does not wait for the other end of a pipe. Rejects with the error of the operating
 * system, or with UnsuitableFile.
 */
export async function openExisting(path: string, flags: number = constants.O_RDWR): Promise<FileHandle> {
  const file = await open(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((cause) => {
    throw cause.code === 'ELOOP' ? new UnsuitableFile(path, 'it is a symbolic link', cause) : cause;
  });
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new UnsuitableFile(path, 'it is not a regular file');
    const isWriting = (flags & (constants.O_WRONLY | constants.O_RDWR)) !== 0;
    if (isWriting && stats.nlink > 1) {
      throw new UnsuitableFile(path, `it has ${stats.nlink} hard links; replace it by a copy`);
    }
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Something else has the name of the file: a link, a pipe, a folder; or it has further names. */
export class UnsuitableFile extends Error {
  override readonly name = 'UnsuitableFile';
  /** The reason, in words. */
  readonly code: string;
  constructor(path: string, code: string, cause?: unknown) {
    super(`${path}: ${code}`, { cause });
    this.code = code;
  }
}
