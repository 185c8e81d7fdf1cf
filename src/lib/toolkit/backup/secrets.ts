import { Decrypter, Encrypter } from 'age-encryption';
import { packTarGz, unpack } from '../../archive/index.ts';
import { GwError } from '../../error/index.ts';
import { quote } from '../../json/index.ts';
import { sha256 } from '../../lifecycle/index.ts';
import { bounds, MANIFEST_NAME, memberName, readSecretsManifest, SECRETS_NAME, secretsText } from './manifest.ts';

/** Who has the archive can try passphrases at leisure. Project decision. */
const MIN_CHARACTERS = 12;

export interface SecretFile {
  /** As in the manifest. */
  readonly path: string;
  readonly content: Uint8Array;
}

/** What a passphrase lacks, in words; undefined: nothing. */
export function passphraseProblem(passphrase: string): string | undefined {
  return [...passphrase].length < MIN_CHARACTERS ? `at least ${MIN_CHARACTERS} characters` : undefined;
}

interface Encryption {
  readonly passphrase: string;
  /** Absent: as `age` has it. */
  readonly workFactor?: number | undefined;
  readonly createdAt: Date;
}

/** A tar.gz of these files, encrypted in the age format for whoever knows the passphrase. @source c2sp.org/age */
export async function encryptSecrets(
  files: readonly SecretFile[],
  { passphrase, workFactor, createdAt }: Encryption,
): Promise<Uint8Array> {
  const manifest = Buffer.from(
    secretsText(files.map(({ path, content }) => ({ path, bytes: content.byteLength, sha256: sha256(content) }))),
  );
  const members = [
    { name: MANIFEST_NAME, content: manifest },
    ...files.map(({ path, content }) => ({ name: memberName(path), content })),
  ].map(({ name, content }) => ({ name, bytes: content.byteLength, parts: () => [content] }));
  const parts: Uint8Array[] = [];
  for await (const part of packTarGz(members, createdAt)) parts.push(part);
  const encrypter = new Encrypter();
  encrypter.setPassphrase(passphrase);
  if (workFactor !== undefined) encrypter.setScryptWorkFactor(workFactor);
  return await encrypter.encrypt(Buffer.concat(parts));
}

/**
 * The files of the encrypted part, each with the length and sum of its manifest. `archive` is its name in errors. Throws
 * PASSPHRASE_WRONG, and ARCHIVE_INVALID for a content that gw never writes.
 */
export async function openSecrets(bytes: Uint8Array, passphrase: string, archive: string): Promise<SecretFile[]> {
  const decrypter = new Decrypter();
  decrypter.addPassphrase(passphrase);
  const content = await decrypter.decrypt(bytes).catch((cause: unknown) => {
    throw new GwError('PASSPHRASE_WRONG', `${SECRETS_NAME} in ${archive} cannot be opened with this passphrase.`, {
      cause,
    });
  });
  const problems: string[] = [];
  const files: SecretFile[] = [];
  let expected: Map<string, { readonly path: string; readonly bytes: number; readonly sha256: string }> | null = null;
  const broken = await unpack(content, {
    maxEntries: 1_001,
    maxBytes: () => 2 * bounds.secretsBytes,
    async onEntry(entry) {
      const { name, type } = entry;
      if (expected === null) {
        const reading =
          type === 'file' && name === MANIFEST_NAME
            ? readSecretsManifest(await entry.read())
            : { problems: [`its first entry is ${quote(name)}, expected ${MANIFEST_NAME}`] };
        if ('problems' in reading) problems.push(...reading.problems);
        else expected = new Map(reading.manifest.files.map((file) => [memberName(file.path), file]));
        return 'manifest' in reading;
      }
      const file = expected.get(name);
      if (type !== 'file' || file === undefined) {
        problems.push(`${quote(name)} is there twice, is no file, or is not in its manifest`);
        return false;
      }
      expected.delete(name);
      const body = await entry.read();
      if (body.byteLength !== file.bytes || sha256(body) !== file.sha256)
        problems.push(`${quote(name)}: other content`);
      files.push({ path: file.path, content: body });
      return true;
    },
  });
  if (broken !== null) problems.push(broken);
  // The assignment in the callback is invisible to the compiler.
  const missing = [...((expected as Map<string, unknown> | null)?.keys() ?? [])];
  if (problems.length === 0) problems.push(...missing.map((name) => `${quote(name)} is missing`));
  if (problems.length > 0)
    throw invalidBackup(
      archive,
      problems.map((problem) => `${SECRETS_NAME}: ${problem}`),
    );
  return files;
}

const MAX_PROBLEMS = 20;

/** ARCHIVE_INVALID with the first problems in its text and up to 200 in `details.problems`. */
export function invalidBackup(name: string, problems: readonly string[]): GwError {
  const shown = problems.slice(0, MAX_PROBLEMS);
  if (problems.length > shown.length) shown.push(`… and ${problems.length - shown.length} more`);
  return new GwError('ARCHIVE_INVALID', `${name} is corrupt or no backup of a gateway:\n${shown.join('\n')}`, {
    remedy: 'Do not rely on it: make a new one with `gw gateway backup`, or use another one.',
    details: { problems: problems.slice(0, 200) },
  });
}
