import { resolve } from 'node:path';
import { filesText, leftOutLine, secretsLine, viewArchive } from '../backup/archive-view.ts';
import { readBackup } from '../backup/read.ts';
import { finding } from '../finding.ts';
import type { GatewayBackup } from './backup.result.ts';

/**
 * Reads an archive to its end and opens its secrets, without site file and gateway. `passphrase` is asked for only where
 * there is something to open; null: it is not opened. Throws ARCHIVE_INVALID, FILE_UNREADABLE, PASSPHRASE_WRONG.
 */
export async function verifyGatewayBackup(
  path: string,
  passphrase: () => Promise<string | null>,
): Promise<GatewayBackup> {
  const read = await readBackup(path);
  const given = read.secrets === null ? null : await passphrase();
  const findings = [
    finding('archive', 'Archive', 'ok' as const, `whole: ${filesText(read)}, each with its SHA-256`),
    await secretsLine(read, given, path),
    leftOutLine(read.manifest.leftOut),
  ];
  return viewArchive({ ...read, file: resolve(path), findings });
}
