import { constants, open } from 'node:fs/promises';

/** Result of a bounded read. */
export type BoundedRead =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'folder' }
  /** A device, a pipe, a socket. */
  | { readonly kind: 'special' }
  | { readonly kind: 'too-large'; readonly size: number };

/**
 * Reads a whole file of at most `maxBytes`, up to its size when it was opened. Rejects with the error of the operating
 * system.
 */
export async function readBounded(path: string, maxBytes: number): Promise<BoundedRead> {
  // O_NONBLOCK: opening a pipe would wait for its other end.
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const stats = await file.stat();
  if (!stats.isFile()) return { kind: stats.isDirectory() ? 'folder' : 'special' };
  const { size } = stats;
  if (size > maxBytes) return { kind: 'too-large', size };
  // In as few reads as possible; readFile takes a hundred for a large file.
  const bytes = Buffer.allocUnsafeSlow(size);
  let end = 0;
  while (end < size) {
    const { bytesRead } = await file.read(bytes, end, size - end, end);
    // The file was truncated meanwhile.
    if (bytesRead === 0) break;
    end += bytesRead;
  }
  return { kind: 'bytes', bytes: bytes.subarray(0, end) };
}

/**
 * Like `readBounded`, for a file written by gw: anything but a regular file of at most that size is an error whose
 * `code` gives the reason in place of the system error code.
 */
export async function readWhole(path: string, maxBytes: number): Promise<Uint8Array> {
  const read = await readBounded(path, maxBytes);
  switch (read.kind) {
    case 'bytes':
      return read.bytes;
    case 'folder':
      throw Object.assign(new Error(`${path} is a folder`), { code: 'EISDIR' });
    case 'special':
      throw Object.assign(new Error(`${path} is not a regular file`), { code: 'it is not a regular file' });
    case 'too-large':
      throw Object.assign(new Error(`${path} has ${read.size} bytes`), { code: `it has more than ${maxBytes} bytes` });
  }
}
