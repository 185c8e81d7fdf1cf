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
import { formerHashesPath, formerPasswordHashes } from '../site/password-id.ts';
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

/** More would make the command slow: each is compared by its own scrypt. Project decision. */
const MAX_FORMER = 20;

/**
 * Writes the hash of a new device password atomically, readable for its owner only, and keeps that of the one before. The
 * same password and an earlier one get the hash that they had: a new one would look like another password. Throws USAGE for an
 * unacceptable password, SITE_FILE_INVALID, FILE_UNWRITABLE.
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
  const current = replaced ? await hashIn(file) : null;
  const former = await formerPasswordHashes(file);
  const isSame = current !== null && (await isOf(password, current));
  const earlier = isSame ? null : await firstOf(password, former);
  const own = { mode: 0o600, folderMode: 0o700 };
  // Before the hash is replaced: an end in between must not lose it.
  if (current !== null && !isSame && !former.includes(current)) {
    const kept = [...former, current].slice(-MAX_FORMER);
    await replaceFile(formerHashesPath(file), `${kept.join('\n')}\n`, own);
  }
  const hash = isSame ? current : (earlier ?? (await hashPassword(password)));
  await replaceFile(file, `${hash}\n`, own);
  return { file, replaced, same: isSame, earlier: earlier !== null };
}

/** The hash in this file; null: none. */
async function hashIn(file: string): Promise<string | null> {
  // Also one that others may read; a file that cannot be read, or holds no hash, is replaced.
  const text = await readWhole(file, MAX_HASH_BYTES).then(
    (bytes) => Buffer.from(bytes).toString('utf8').trim(),
    () => '',
  );
  return parsePasswordHash(text) === null ? null : text;
}

async function isOf(password: string, text: string): Promise<boolean> {
  const hash = parsePasswordHash(text);
  return hash !== null && (await verifyPassword(password, hash));
}

async function firstOf(password: string, hashes: readonly string[]): Promise<string | null> {
  for (const hash of hashes) if (await isOf(password, hash)) return hash;
  return null;
}
