import { GwError, systemReason } from '../../error/index.ts';
import { readBounded } from '../../lifecycle/index.ts';
import { type CaCertificates, readCaCertificates } from '../../x509/index.ts';

const MAX_BYTES = 1024 * 1024;

/** Why a CA file is refused: `problem` follows its name. */
export interface CaRefusal {
  readonly problem: string;
  readonly remedy: string | null;
  readonly cause?: unknown;
}

/** Reads a CA file, for every command in the same way; `refuse` makes the error. */
export async function readCaFile(path: string, refuse: (why: CaRefusal) => GwError): Promise<CaCertificates> {
  const read = await readBounded(path, MAX_BYTES).catch((cause: NodeJS.ErrnoException) => {
    throw refuse({ problem: `cannot be read (${systemReason(cause)})`, remedy: null, cause });
  });
  if (read.kind === 'too-large') throw refuse({ problem: `is larger than ${MAX_BYTES} bytes`, remedy: null });
  if (read.kind !== 'bytes') throw refuse({ problem: 'is not a regular file', remedy: null });
  const found = readCaCertificates(read.bytes);
  if (!found.ok) throw refuse(found);
  return found;
}

/** Reads the CA file of a key of the site file, null without one. Throws SITE_FILE_INVALID when it is refused. */
export async function readSiteCa(path: string | undefined, key: string): Promise<CaCertificates | null> {
  if (path === undefined) return null;
  return readCaFile(
    path,
    ({ problem, remedy, cause }) =>
      new GwError('SITE_FILE_INVALID', `${path} (${key}) ${problem}.`, {
        remedy: remedy ?? 'Write the CA certificates (PEM) of the cloud operator to this file.',
        cause,
      }),
  );
}
