import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, realpath, rm } from 'node:fs/promises';
import { readJsonBytes } from '../../json/index.ts';
import { openExisting, openFresh } from '../../lifecycle/index.ts';

const CHUNK_BYTES = 1024 * 1024;

/** Copies a file up to its size when it was opened; without `to` reads it. Rejects with the error of the system. */
export async function copyAside(from: string, to: string | null): Promise<{ bytes: number; sha256: string }> {
  await using file = await openExisting(await realpath(from), constants.O_RDONLY);
  const { size } = await file.stat();
  const bytes = from.endsWith('.jsonl') ? await endOfLines(file, size) : size;
  const hash = createHash('sha256');
  await using target = to === null ? null : await openFresh(to, 0o600);
  const buffer = Buffer.allocUnsafeSlow(Math.max(1, Math.min(CHUNK_BYTES, bytes)));
  for (let at = 0; at < bytes; ) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, bytes - at), at);
    if (bytesRead === 0) {
      if (to !== null) await rm(to, { force: true });
      // It was cut meanwhile: read again.
      throw Object.assign(new Error(), { code: 'ENOENT' });
    }
    hash.update(buffer.subarray(0, bytesRead));
    await target?.writeFile(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** Where the last whole line ends: another process may be writing the next one. */
async function endOfLines(file: FileHandle, size: number): Promise<number> {
  const buffer = Buffer.allocUnsafeSlow(Math.max(1, Math.min(CHUNK_BYTES, size)));
  for (let end = size; end > 0; ) {
    const length = Math.min(buffer.length, end);
    const { bytesRead } = await file.read(buffer, 0, length, end - length);
    if (end === size && isWholeLine(buffer.subarray(0, bytesRead))) return size;
    const found = buffer.subarray(0, bytesRead).lastIndexOf('\n');
    if (found !== -1) return end - length + found + 1;
    end -= length;
  }
  return 0;
}

/** Whether a person has left out the last line end: what is begun is no whole JSON. */
function isWholeLine(tail: Buffer): boolean {
  const line = tail.subarray(tail.lastIndexOf('\n') + 1);
  return line.length === 0 || readJsonBytes(line, 'file').ok;
}
