import { readdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { readLoosely } from '../../document/index.ts';
import { readBounded } from '../../lifecycle/index.ts';
import { PRIVATE_KEY_BLOCK } from './secret-forms.ts';
import { isSecretName, secretValues } from './secret-names.ts';

/** The limit of a site file; that of a secret file is smaller. */
const MAX_FILE_BYTES = 256 * 1024;
const MAX_IDENTITY_FILES = 100;
/** Also where the site file has no section of the enrolment any more. */
const DEFAULT_IDENTITY = 'identity';

interface KnownSecrets {
  readonly secrets: readonly string[];
  /** Files that are there and cannot be read: what they hold is not known. */
  readonly unread: readonly { readonly path: string; readonly reason: string }[];
}

/**
 * Secrets that this machine has for the robot, so that they are found wherever they stand: the contents of every secret file
 * that the site file names, also one that others may read, the private keys of the identity, and what a person wrote into the
 * site file itself, in a value or a comment. The site file may be damaged or missing. Never rejects.
 */
export async function knownSecrets(sitePath: string): Promise<KnownSecrets> {
  const unread: { path: string; reason: string }[] = [];
  const read = async (path: string) => {
    const { text, reason } = await readText(path);
    if (reason !== null) unread.push({ path, reason });
    return text;
  };
  // Whether the site file itself can be read, its place in the bundle says.
  const { values, comments } = readLoosely((await readText(sitePath)).text);
  const folder = dirname(resolve(sitePath));
  const named = values.filter(({ names }) => names.some(isSecretFile)).map(({ value }) => resolve(folder, value));
  const identities = values.filter(({ names }) => names.at(-1) === 'identityDir').map(({ value }) => value);
  const folders = [...new Set([DEFAULT_IDENTITY, ...identities].map((path) => resolve(folder, path)))];
  const inIdentity = (await Promise.all(folders.map(filesIn))).flat();
  const secrets = [
    ...(await Promise.all(named.map(read))),
    ...(await Promise.all(inIdentity.map(read))).flatMap(privateKeysOf),
    ...values.filter(({ names }) => names.some(isSecretName)).map(({ value }) => value),
    ...values.flatMap(({ value }) => passwordOf(value)),
    ...comments.flatMap(written),
  ];
  return { secrets: secrets.filter((text) => text !== ''), unread };
}

/** `passwordFile`, `acceptedKeyFiles`: a place, and no secret by itself. */
const isSecretFile = (name: string) => /Files?$/.test(name) && isSecretName(name.replace(/Files?$/, ''));

/** What follows the name of a secret in a comment: all of it, and its first word where that looks like a password. */
function written(comment: string): string[] {
  return [...secretValues(comment)].flatMap(({ start, end }) => {
    const value = comment
      .slice(start, end)
      .trim()
      .replace(/^(["'`])(.*)\1$/, '$2');
    const [word = ''] = value.split(/[\s,;]/);
    return /\d/.test(word) && word.length >= 6 ? [value, word] : [value];
  });
}

function passwordOf(value: string): string[] {
  if (!URL.canParse(value)) return [];
  const { password } = new URL(value);
  if (password === '') return [];
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}

/** Of a file that is not there: an empty text, and no reason. */
async function readText(path: string): Promise<{ readonly text: string; readonly reason: string | null }> {
  try {
    const read = await readBounded(path, MAX_FILE_BYTES);
    if (read.kind === 'bytes') return { text: Buffer.from(read.bytes).toString('utf8'), reason: null };
    return { text: '', reason: read.kind === 'too-large' ? `${read.size} bytes` : `not a file: ${read.kind}` };
  } catch (error) {
    const { code = 'unknown reason' } = error as NodeJS.ErrnoException;
    return { text: '', reason: ['ENOENT', 'ENOTDIR'].includes(code) ? null : code };
  }
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .slice(0, MAX_IDENTITY_FILES)
    .map(({ name }) => join(folder, name));
}

/** The blocks in a file, also within a text of JSON, and not the certificates beside them, which are no secret. */
function privateKeysOf(text: string): string[] {
  return text.replaceAll('\\n', '\n').match(PRIVATE_KEY_BLOCK) ?? [];
}
