import { constants } from 'node:fs';
import { link, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { packTarGz } from '../../archive/index.ts';
import { GwError } from '../../error/index.ts';
import { createFile, ensureFolder, openExisting, sha256, syncFolder } from '../../lifecycle/index.ts';
import type { Site } from '../../site/index.ts';
import { filesText, leftOutLine, secretsLine, viewArchive } from '../backup/archive-view.ts';
import { type Collected, collectGateway, type StagedFile } from '../backup/collect.ts';
import { bounds, MANIFEST_NAME, manifestText, memberName, SECRETS_NAME } from '../backup/manifest.ts';
import { readBackup } from '../backup/read.ts';
import { encryptSecrets, invalidBackup, passphraseProblem } from '../backup/secrets.ts';
import { finding } from '../finding.ts';
import type { CheckContext } from '../toolkit.ts';
import type { GatewayBackup } from './backup.result.ts';

export interface BackupOptions {
  readonly site: Site;
  /** New file; null: named by serial number and time, in the current folder. */
  readonly out: string | null;
  /** null: secrets are left out. */
  readonly passphrase: string | null;
  /** Logarithm of the work that each attempt of a passphrase takes; absent: as `age` has it. */
  readonly workFactor?: number;
  readonly withMedia: boolean;
  readonly gwVersion: string;
  readonly host: string;
  readonly now: Date;
}

/**
 * Backs up what a gateway is into one new file, readable for its owner only, and reads it back before it gets its name.
 * Throws FILE_EXISTS, FILE_UNREADABLE, FILE_UNWRITABLE, ARCHIVE_INVALID where it reads back otherwise, USAGE, INTERRUPTED.
 */
export async function backUpGateway(options: BackupOptions, context: CheckContext): Promise<GatewayBackup> {
  const { site, passphrase, now } = options;
  const problem = passphrase === null ? undefined : passphraseProblem(passphrase);
  if (problem !== undefined) throw new GwError('USAGE', `The passphrase must have ${problem}.`);
  const out = resolve(options.out ?? backupName(site.chassis.serial, now));
  await refuseExisting(out);
  const staging = join(dirname(out), `.${basename(out)}.${crypto.randomUUID()}`);
  try {
    await ensureFolder(staging, 0o700).catch((cause: NodeJS.ErrnoException) => {
      throw new GwError('FILE_UNWRITABLE', `${staging} cannot be created (${cause.code ?? cause.message}).`, { cause });
    });
    const wanted = { staging, withMedia: options.withMedia, withSecrets: passphrase !== null };
    const collected = await collectGateway(site, wanted, context);
    context.onProgress('packing');
    const draft = join(staging, 'archive');
    await writeArchive(draft, collected, options);
    context.onProgress('reading it back');
    const read = await readBackup(draft);
    const findings = [
      finding('archive', 'Archive', 'ok' as const, `read back: ${filesText(read)}, each with its SHA-256`),
      await secretsLine(read, passphrase, out),
      leftOutLine(collected.leftOut),
    ];
    context.signal.throwIfAborted();
    await publish(draft, out, read.sha256);
    return viewArchive({ ...read, file: out, findings });
  } finally {
    await rm(staging, { recursive: true, force: true }).catch(() => {});
  }
}

/** Gives the archive its name; where the file system has no hard links, by a copy that is read back too. */
async function publish(draft: string, out: string, sum: string): Promise<void> {
  try {
    await link(draft, out);
    await syncFolder(dirname(out));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw existsError(out);
    await createFile(out, () => partsOf(draft), { mode: 0o600, durable: true });
    if ((await readBackup(out)).sha256 === sum) return;
    await rm(out, { force: true });
    throw invalidBackup(out, ['the file read back differs from the written one']);
  }
}

/** Before anything is read. Throws FILE_EXISTS. */
export async function refuseExisting(path: string): Promise<void> {
  const isThere = await stat(path).then(
    () => true,
    () => false,
  );
  if (isThere) throw existsError(path);
}

const existsError = (path: string) =>
  new GwError('FILE_EXISTS', `${path} already exists.`, { remedy: 'Name a new file with --out FILE.' });

function backupName(serial: string, now: Date): string {
  const time = now.toISOString().replace(/[-:]|\.\d+/g, '');
  return `gateway-${serial.replace(/[^A-Za-z0-9_-]/g, '_')}-${time}.tar.gz`;
}

async function writeArchive(
  draft: string,
  { files, secrets, leftOut }: Collected,
  { site, passphrase, workFactor, gwVersion, host, now }: BackupOptions,
): Promise<void> {
  const encrypted =
    secrets.length === 0 || passphrase === null
      ? null
      : await encryptSecrets(secrets, { passphrase, workFactor, createdAt: now });
  const tooLarge =
    files.length > bounds.entries ||
    files.reduce((sum, { bytes }) => sum + bytes, 0) > bounds.totalBytes ||
    (encrypted?.byteLength ?? 0) > bounds.secretsBytes;
  if (tooLarge) throw new GwError('FILE_UNWRITABLE', 'This gateway keeps more than an archive may hold.');
  const manifest = Buffer.from(
    manifestText({
      createdAt: now.toISOString(),
      gwVersion,
      host,
      serial: site.chassis.serial,
      siteDir: site.dir,
      siteFile: basename(site.path),
      files: files.map(({ staged: _staged, ...file }) => file),
      secrets: encrypted && {
        bytes: encrypted.byteLength,
        sha256: sha256(encrypted),
        files: secrets.map(({ path, holds, anew }) => ({ path, holds, anew })),
      },
      leftOut: [...leftOut],
    }),
  );
  const inMemory = (name: string, content: Uint8Array) => ({
    ...{ name, bytes: content.byteLength, parts: () => [content] },
  });
  const members = [
    inMemory(MANIFEST_NAME, manifest),
    ...(encrypted === null ? [] : [inMemory(SECRETS_NAME, encrypted)]),
    ...files.map(({ path, bytes, staged }: StagedFile) => ({
      ...{ name: memberName(path), bytes, parts: () => partsOf(staged) },
    })),
  ];
  await createFile(draft, () => packTarGz(members, now), { mode: 0o600 });
}

async function* partsOf(path: string): AsyncGenerator<Uint8Array> {
  await using file = await openExisting(path, constants.O_RDONLY);
  yield* file.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>;
}
