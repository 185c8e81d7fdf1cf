import { plural } from '../../text/index.ts';
import type { Line } from '../finding.result.ts';
import { finding } from '../finding.ts';
import type { GatewayBackup } from '../gateway/backup.result.ts';
import { conclude } from '../verdict.ts';
import { type BackupManifest, choices, MANIFEST_NAME, SECRETS_NAME } from './manifest.ts';
import type { ReadBackup } from './read.ts';
import { invalidBackup, openSecrets } from './secrets.ts';

/** What is shown of an archive. */
export function viewArchive({
  manifest,
  file,
  bytes,
  sha256: sum,
  findings,
}: ReadBackup & { readonly file: string; readonly findings: Line[] }): GatewayBackup {
  const { createdAt, gwVersion, host, serial, files, secrets, leftOut } = manifest;
  const parts = new Map<string, { files: number; bytes: number | null }>();
  for (const each of [...files, ...(secrets?.files ?? []).map((one) => ({ ...one, bytes: null }))]) {
    const part = parts.get(each.holds) ?? { files: 0, bytes: 0 };
    const total = part.bytes === null || each.bytes === null ? null : part.bytes + each.bytes;
    parts.set(each.holds, { files: part.files + 1, bytes: total });
  }
  return {
    verdict: conclude(findings),
    ...{ file, bytes, sha256: sum, createdAt, gwVersion, host, serial },
    parts: [...parts].map(([holds, part]) => ({ holds, ...part })),
    leftOut,
    findings,
  };
}

/** Of what was opened with this passphrase: as many files as the manifest names, each with its sum. */
export async function secretsLine(read: ReadBackup, passphrase: string | null, archive: string): Promise<Line> {
  const line = { id: 'secrets', title: 'Secrets' };
  const { secrets } = read.manifest;
  if (secrets === null || read.secrets === null) {
    return finding(line.id, line.title, 'not-applicable', 'none in the archive');
  }
  const count = plural(secrets.files.length, 'file');
  if (passphrase === null) {
    const detail = `${count}, encrypted; whether the passphrase opens them was not tried`;
    return finding(line.id, line.title, 'not-checked', detail, 'Name the passphrase: --passphrase-file FILE.');
  }
  await openedSecrets(read.manifest, read.secrets, passphrase, archive);
  return finding(line.id, line.title, 'ok', `${count}, encrypted, opened with the passphrase and compared`);
}

/** The secret files, exactly those of the manifest. Throws PASSPHRASE_WRONG, ARCHIVE_INVALID. */
export async function openedSecrets(
  manifest: BackupManifest,
  secrets: Uint8Array,
  passphrase: string,
  archive: string,
) {
  const opened = await openSecrets(secrets, passphrase, archive);
  const names = manifest.secrets?.files.map(({ path }) => path).toSorted() ?? [];
  const isSame = JSON.stringify(opened.map(({ path }) => path).toSorted()) === JSON.stringify(names);
  if (isSame) return opened;
  throw invalidBackup(archive, [`${SECRETS_NAME} has other files than ${MANIFEST_NAME} names`]);
}

const byChoice: ReadonlySet<string> = new Set(Object.values(choices));

/** The same when the archive is made and when it is verified: what could not be read is wrong. */
export function leftOutLine(leftOut: readonly GatewayBackup['leftOut'][number][]): Line {
  const start = { id: 'left-out', title: 'Left out' };
  if (leftOut.length === 0) return finding(start.id, start.title, 'ok', 'nothing that the site file names');
  const failed = leftOut.filter(({ reason }) => !byChoice.has(reason));
  const shown = (failed.length > 0 ? failed : leftOut).slice(0, 5).map(({ path, reason }) => `${path} (${reason})`);
  const detail = `${plural(leftOut.length, 'entry', 'entries')}: ${shown.join(', ')}${leftOut.length > shown.length ? ', …' : ''}`;
  if (failed.length > 0) {
    return finding(
      start.id,
      start.title,
      'wrong',
      detail,
      'Run it as root or the user of `gw serve`, and see the list below.',
    );
  }
  const remedy = 'A restored gateway lacks them: the list below says how each is made anew.';
  return finding(start.id, start.title, 'not-checked', detail, remedy);
}

export function filesText({ manifest: { files, secrets } }: ReadBackup): string {
  return plural(files.length + (secrets === null ? 0 : 1), 'file');
}
