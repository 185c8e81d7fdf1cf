import { GwError } from '../error/index.ts';
import { createFile, replaceFile } from '../lifecycle/index.ts';

/** Throws USAGE for a format that is no text when no file was named for it. */
export function assertPrintable(format: string, out: string | undefined): void {
  if (format !== 'pdf' || out !== undefined) return;
  throw new GwError('USAGE', 'A PDF is not printed to the terminal.', { remedy: 'Name its file with --out FILE.' });
}

/**
 * Writes a document that a person asked for, whole or not at all. Returns its size in bytes. Throws FILE_EXISTS
 * without `force`, FILE_UNWRITABLE.
 */
export async function writeDocument(
  path: string,
  text: string | Uint8Array,
  { force }: { readonly force: boolean },
): Promise<number> {
  await (force ? replaceFile : createFile)(path, text);
  return Buffer.byteLength(text);
}
