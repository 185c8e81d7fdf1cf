import { GwError } from '../../error/index.ts';
import { readBounded, sha256 } from '../../lifecycle/index.ts';
import { readSecret, type Site } from '../../site/index.ts';

/** Name of the value under which records of checklists keep it. */
export const PASSWORD_VALUE = 'device-password';

const ID_CHARS = 16;
const MAX_FORMER_BYTES = 16 * 1024;

const passwordIdOf = (hash: string) => sha256(hash).slice(0, ID_CHARS);

/** Beside the file with the hash: those of the passwords before it, one a line, the newest last. Project decision. */
export const formerHashesPath = (passwordFile: string) => `${passwordFile}.former`;

/** The hashes of the passwords that were set before; none where the file is missing or cannot be read. */
export async function formerPasswordHashes(passwordFile: string): Promise<readonly string[]> {
  const { parsePasswordHash } = await import('../../operator/index.ts');
  const read = await readBounded(formerHashesPath(passwordFile), MAX_FORMER_BYTES).catch(() => null);
  if (read?.kind !== 'bytes') return [];
  const lines = Buffer.from(read.bytes).toString('utf8').split('\n');
  return lines.map((line) => line.trim()).filter((line) => parsePasswordHash(line) !== null);
}

/** The ids of the passwords that were set before, as records have them. */
export async function formerPasswordIds({ operator: { passwordFile } }: Site): Promise<readonly string[]> {
  return passwordFile === undefined ? [] : (await formerPasswordHashes(passwordFile)).map(passwordIdOf);
}

/**
 * The id of the device password that is set: the beginning of the SHA-256 of its stored hash. That hash has a random
 * salt, so the id says nothing of the password, and two robots with one password have two ids. null: none is set, or its
 * file cannot be read. Project decision.
 */
export async function currentPasswordId({ operator: { passwordFile } }: Site): Promise<string | null> {
  if (passwordFile === undefined) return null;
  const { parsePasswordHash } = await import('../../operator/index.ts');
  try {
    const text = (await readSecret(passwordFile, 'operator.passwordFile')).trim();
    return parsePasswordHash(text) === null ? null : passwordIdOf(text);
  } catch (error) {
    if (error instanceof GwError) return null;
    throw error;
  }
}
