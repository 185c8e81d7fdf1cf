import { GwError } from '../error/index.ts';
import { createFile, replaceFile } from '../lifecycle/index.ts';

/** Throws USAGE for a binary format without an output file. */
export function assertPrintable(format: string, out: string | undefined): void {
  if (format !== 'pdf' || out !== undefined) return;
  throw new GwError('USAGE', 'A PDF cannot be printed to stdout.', { remedy: 'Name an output file with --out FILE.' });
}

/**
 * Writes a document atomically. Returns its size in bytes. Throws FILE_EXISTS without `force`, FILE_UNWRITABLE.
 */
export async function writeDocument(
  path: string,
  text: string | Uint8Array,
  { force }: { readonly force: boolean },
): Promise<number> {
  await (force ? replaceFile : createFile)(path, text);
  return Buffer.byteLength(text);
}
