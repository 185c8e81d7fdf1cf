import type { GwError } from '../../error/index.ts';
import { readBounded } from '../../lifecycle/index.ts';

const MOST_BYTES = 1024 * 1024;

/**
 * The text of a file with the certificates (PEM) of an authority; whether it holds any is for the caller to judge.
 * `refuse` makes the error of why it cannot be read, in words that follow its name.
 */
export async function readAuthorityFile(
  path: string,
  refuse: (why: string, cause?: unknown) => GwError,
): Promise<string> {
  const read = await readBounded(path, MOST_BYTES).catch((cause: NodeJS.ErrnoException) => {
    throw refuse(`cannot be read (${cause.code ?? 'unknown reason'})`, cause);
  });
  if (read.kind === 'too-large') throw refuse('is larger than any file of certificates');
  if (read.kind !== 'bytes') throw refuse('is not a regular file');
  return Buffer.from(read.bytes).toString();
}
