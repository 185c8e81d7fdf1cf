import { GwError } from '../../error/index.ts';
import { sha256 } from '../../lifecycle/index.ts';
import { readSecret, type Site } from '../../site/index.ts';

/** Name of the value under which records of checklists keep it. */
export const PASSWORD_VALUE = 'device-password';

const ID_CHARS = 16;

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
    return parsePasswordHash(text) === null ? null : sha256(text).slice(0, ID_CHARS);
  } catch (error) {
    if (error instanceof GwError) return null;
    throw error;
  }
}
