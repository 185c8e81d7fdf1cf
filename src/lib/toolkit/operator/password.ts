import { access } from 'node:fs/promises';
import { GwError } from '../../error/index.ts';
import { readWhole, replaceFile } from '../../lifecycle/index.ts';
import {
  hashPassword,
  MAX_PASSWORD_LENGTH,
  MIN_PASSWORD_LENGTH,
  parsePasswordHash,
  verifyPassword,
} from '../../operator/index.ts';
import { isCredential, loadSite } from '../../site/index.ts';
import type { OperatorPassword } from './operator.result.ts';

const MAX_HASH_BYTES = 4_096;

/** Why a new password is not acceptable; undefined when it is. */
export function passwordProblem(password: string): string | undefined {
  const { length } = [...password.normalize('NFC')];
  if (length < MIN_PASSWORD_LENGTH) return `at least ${MIN_PASSWORD_LENGTH} characters`;
  if (password.length > MAX_PASSWORD_LENGTH) return `at most ${MAX_PASSWORD_LENGTH} characters`;
  if (/\p{Cc}/u.test(password)) return 'no control characters';
  if (password.trim() !== password) return 'no leading or trailing spaces';
  return undefined;
}

/** The hash file that the site file names. Throws SITE_FILE_INVALID when it names none. */
export async function passwordFileOf(sitePath: string): Promise<string> {
  const { path, operator } = await loadSite(sitePath);
  const { passwordFile } = operator;
  if (passwordFile !== undefined && isCredential(passwordFile)) {
    throw new GwError('SITE_FILE_INVALID', `${passwordFile} is a credential of systemd, which no command can write.`, {
      remedy:
        'Set the password with `passwordFile: secrets/password`, then move that file to the source of the credential.',
    });
  }
  if (passwordFile !== undefined) return passwordFile;
  throw new GwError('SITE_FILE_INVALID', `${path} has no operator.passwordFile.`, {
    remedy: 'Add under `operator:` the line `passwordFile: secrets/password`, then run this again.',
  });
}

/**
 * Writes the hash of a new device password atomically, readable for its owner only. That of the same password stays as it
 * is: a new hash of it would look like another password. Throws USAGE for an unacceptable password, SITE_FILE_INVALID,
 * FILE_UNWRITABLE.
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
  const same = replaced ? await hashOfSame(file, password) : null;
  await replaceFile(file, `${same ?? (await hashPassword(password))}\n`, { mode: 0o600, folderMode: 0o700 });
  return { file, replaced, same: same !== null };
}

/** The hash in this file if it is of this password. */
async function hashOfSame(file: string, password: string): Promise<string | null> {
  // Also one that others may read; a file that cannot be read, or holds no hash, is replaced.
  const text = await readWhole(file, MAX_HASH_BYTES).then(
    (bytes) => Buffer.from(bytes).toString('utf8'),
    () => '',
  );
  const hash = parsePasswordHash(text);
  return hash !== null && (await verifyPassword(password, hash)) ? text.trim() : null;
}
