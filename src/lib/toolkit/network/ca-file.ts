import type { GwError } from '../../error/index.ts';
import { readBounded } from '../../lifecycle/index.ts';

const MAX_BYTES = 1024 * 1024;

/**
 * Reads a CA file (PEM); the caller parses the certificates. `refuse` makes the error from a reason that follows the file
 * name.
 */
export async function readCaFile(path: string, refuse: (why: string, cause?: unknown) => GwError): Promise<string> {
  const read = await readBounded(path, MAX_BYTES).catch((cause: NodeJS.ErrnoException) => {
    throw refuse(`cannot be read (${cause.code ?? 'unknown reason'})`, cause);
  });
  if (read.kind === 'too-large') throw refuse(`is larger than ${MAX_BYTES} bytes`);
  if (read.kind !== 'bytes') throw refuse('is not a regular file');
  return Buffer.from(read.bytes).toString();
}
