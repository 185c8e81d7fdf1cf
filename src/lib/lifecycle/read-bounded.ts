import { constants, open } from 'node:fs/promises';

/** What was found where a person named a file. */
export type BoundedRead =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'folder' }
  /** A device, a pipe, a socket. */
  | { readonly kind: 'special' }
  | { readonly kind: 'too-large'; readonly size: number };

/**
 * Reads a whole file of at most so many bytes, as long as it was when it was opened: one that grows meanwhile gives no
 * more. Rejects with the error of the operating system.
 */
export async function readBounded(path: string, mostBytes: number): Promise<BoundedRead> {
  // Not to wait for the other end, should the path be a pipe.
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const stats = await file.stat();
  if (!stats.isFile()) return { kind: stats.isDirectory() ? 'folder' : 'special' };
  const { size } = stats;
  if (size > mostBytes) return { kind: 'too-large', size };
  // In as few reads as the system allows; the usual way takes a hundred for a large file, and waits between them.
  const bytes = Buffer.allocUnsafeSlow(size);
  let end = 0;
  while (end < size) {
    const { bytesRead } = await file.read(bytes, end, size - end, end);
    // Shorter than a moment ago: somebody writes it.
    if (bytesRead === 0) break;
    end += bytesRead;
  }
  return { kind: 'bytes', bytes: bytes.subarray(0, end) };
}

/**
 * As `readBounded`, for a file that gw itself wrote: anything but a regular file of at most that size is an error
 * whose `code` says so in the place of the operating system's.
 */
export async function readWhole(path: string, mostBytes: number): Promise<Uint8Array> {
  const read = await readBounded(path, mostBytes);
  switch (read.kind) {
    case 'bytes':
      return read.bytes;
    case 'folder':
      throw Object.assign(new Error(`${path} is a folder`), { code: 'EISDIR' });
    case 'special':
      throw Object.assign(new Error(`${path} is not a regular file`), { code: 'it is not a regular file' });
    case 'too-large':
      throw Object.assign(new Error(`${path} has ${read.size} bytes`), { code: `it has more than ${mostBytes} bytes` });
  }
}
