import { access } from 'node:fs/promises';
import { GwError } from '../../error/index.ts';
import { replaceFile } from '../../lifecycle/index.ts';
import { hashPassword, PASSWORD_LEAST_LENGTH, PASSWORD_MOST_LENGTH } from '../../operator/index.ts';
import { loadSite } from '../../site/index.ts';
import type { OperatorPassword } from './password.result.ts';

/** What is wrong with a password that somebody wants to set; undefined when nothing is. */
export function passwordProblem(password: string): string | undefined {
  const { length } = [...password.normalize('NFC')];
  if (length < PASSWORD_LEAST_LENGTH) return `at least ${PASSWORD_LEAST_LENGTH} characters`;
  if (password.length > PASSWORD_MOST_LENGTH) return `at most ${PASSWORD_MOST_LENGTH} characters`;
  if (/\p{Cc}/u.test(password)) return 'no control characters';
  if (password.trim() !== password) return 'no spaces at its ends, which nobody sees';
  return undefined;
}

/** The file that the site file names for the hash. Throws SITE_FILE_INVALID with what to add when it names none. */
export async function passwordFileOf(sitePath: string): Promise<string> {
  const { path, operator } = await loadSite(sitePath);
  if (operator.passwordFile !== undefined) return operator.passwordFile;
  throw new GwError('SITE_FILE_INVALID', `${path} names no file for the device password.`, {
    remedy: 'Add under `operator:` the line `passwordFile: secrets/device-password`, then run this again.',
  });
}

/**
 * Writes the hash of a new device password, readable for its owner only, whole or not at all. Throws USAGE when it
 * is no password, SITE_FILE_INVALID, FILE_UNWRITABLE.
 */
export async function setOperatorPassword(sitePath: string, password: string): Promise<OperatorPassword> {
  const problem = passwordProblem(password);
  if (problem !== undefined) {
    throw new GwError('USAGE', `The device password must have ${problem}.`, { remedy: 'Choose another password.' });
  }
  const file = await passwordFileOf(sitePath);
  const replaced = await access(file).then(
    () => true,
    () => false,
  );
  await replaceFile(file, `${await hashPassword(password)}\n`, { mode: 0o600, folderMode: 0o700 });
  return { file, replaced };
}
