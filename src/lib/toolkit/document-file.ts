import { createFile, replaceFile } from '../lifecycle/index.ts';

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
