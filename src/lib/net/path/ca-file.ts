import { GwError } from '../../error/index.ts';
import { readBounded } from '../../lifecycle/index.ts';
import { certificatesOf } from '../probe/index.ts';

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

/** Reads the CA file of a key of the site file, null without one. Throws SITE_FILE_INVALID when it has no certificate. */
export async function readSiteCa(path: string | undefined, key: string): Promise<string | null> {
  if (path === undefined) return null;
  const refuse = (why: string, cause?: unknown) =>
    new GwError('SITE_FILE_INVALID', `${path} (${key}) ${why}.`, {
      remedy: 'Write the CA certificates (PEM) of the cloud operator to this file.',
      cause,
    });
  const text = await readCaFile(path, refuse);
  if (certificatesOf(text) === null) throw refuse('holds no valid certificate');
  return text;
}
