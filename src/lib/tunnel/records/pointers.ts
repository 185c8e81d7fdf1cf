import { rename } from 'node:fs/promises';
import { readJsonBytes } from '../../json/index.ts';
import { readWhole, replaceFile } from '../../lifecycle/index.ts';

/** The two small files beside the records: head and sent. Replaced atomically and durably. */

const MAX_BYTES = 4_096;
const ownerOnly = { mode: 0o600, folderMode: 0o700, durable: true };

const HEAD_FORMAT = 'gw/support-session-head/1';
const SENT_FORMAT = 'gw/support-session-sent/1';

/** The last record, and the first that was not removed by rotation. */
export interface Head {
  readonly seq: number;
  readonly hash: string;
  readonly firstSeq: number;
}

export type PointerRead<T> =
  | { readonly kind: 'read'; readonly value: T }
  | { readonly kind: 'missing' }
  /** There, but its content is not of this format. */
  | { readonly kind: 'damaged' };

/** Rejects with the error of the operating system. */
export async function readHead(path: string): Promise<PointerRead<Head>> {
  return await readPointer(path, HEAD_FORMAT, ({ seq, hash, firstSeq }) => {
    if (!isCount(seq) || !isCount(firstSeq) || firstSeq < 1 || seq < firstSeq) return null;
    return typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash) ? { seq, hash, firstSeq } : null;
  });
}

/** Rejects with the error of the operating system. */
export async function readSent(path: string): Promise<PointerRead<number>> {
  return await readPointer(path, SENT_FORMAT, ({ seq }) => (isCount(seq) ? seq : null));
}

/** Throws FILE_UNWRITABLE. */
export async function writeHead(path: string, { seq, hash, firstSeq }: Head): Promise<void> {
  await replaceFile(path, `${JSON.stringify({ format: HEAD_FORMAT, seq, hash, firstSeq })}\n`, ownerOnly);
}

/** Throws FILE_UNWRITABLE. */
export async function writeSent(path: string, seq: number): Promise<void> {
  await replaceFile(path, `${JSON.stringify({ format: SENT_FORMAT, seq })}\n`, ownerOnly);
}

/** Keeps a damaged file under another name. Rejects with the error of the operating system. */
export async function setAside(path: string, stamp: string): Promise<string> {
  const kept = `${path}.damaged-${stamp}-${crypto.randomUUID().slice(0, 8)}`;
  await rename(path, kept);
  return kept;
}

async function readPointer<T>(
  path: string,
  format: string,
  parse: (value: Readonly<Record<string, unknown>>) => T | null,
): Promise<PointerRead<T>> {
  let bytes: Uint8Array;
  try {
    bytes = await readWhole(path, MAX_BYTES);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return { kind: 'missing' };
    // Not a regular file, or far too large.
    if (code === 'EISDIR' || code?.startsWith('it ')) return { kind: 'damaged' };
    throw error;
  }
  const read = readJsonBytes(bytes, 'file');
  if (!read.ok || typeof read.value !== 'object' || read.value === null) return { kind: 'damaged' };
  const fields = read.value as Readonly<Record<string, unknown>>;
  const value = fields.format === format ? parse(fields) : null;
  return value === null ? { kind: 'damaged' } : { kind: 'read', value };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
