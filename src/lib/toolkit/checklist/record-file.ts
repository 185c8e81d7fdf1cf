import { type CheckRecord, type RecordVerification, verifyRecordFile } from '../../checklist/index.ts';
import { GwError } from '../../error/index.ts';
import { readCaFile } from '../../net/path/index.ts';

/** What a record is verified against. */
export interface RecordTrust {
  /** CA file (PEM) of the device certificates. */
  readonly caPath?: string | undefined;
  /** Site file of the robot, for the CA of its identity and the expected serial. */
  readonly sitePath?: string | undefined;
  /** The robot that must have signed; wins over the one of the site file. */
  readonly serial?: string | undefined;
}

/**
 * Verifies a record file. Without a CA it is never verified, since a certificate can be forged. Throws FILE_UNREADABLE,
 * USAGE, SITE_FILE_NOT_FOUND, SITE_FILE_INVALID, IDENTITY_BROKEN.
 */
export async function verifyRecordAt(path: string, trust: RecordTrust): Promise<RecordVerification> {
  const { caPath, sitePath } = trust;
  let serial = trust.serial;
  let caPem = caPath === undefined ? undefined : await readCaPem(caPath);
  if (sitePath !== undefined && (caPem === undefined || serial === undefined)) {
    const { loadSite } = await import('../../site/index.ts');
    const site = await loadSite(sitePath);
    serial ??= site.chassis.serial;
    if (caPem === undefined && site.enrolment !== undefined) {
      const { loadIdentity } = await import('../../enrolment/index.ts');
      caPem = (await loadIdentity(site.enrolment.identityDir))?.caPem;
    }
  }
  return verifyRecordFile(path, {
    ...(caPem !== undefined && { caPem }),
    ...(serial !== undefined && { expectedSerial: serial }),
  });
}

/** Findings whose failure means that the file was altered. */
const integrity = ['file', 'form', 'content', 'consistent', 'signature'];

/**
 * The record for reports and comparisons. Refuses an invalid or altered file, which a report would make look genuine.
 * Throws RECORD_INVALID, RECORD_ALTERED.
 */
export function unaltered(path: string, { record, findings }: RecordVerification): CheckRecord {
  const bad = findings.filter(({ id, verdict }) => verdict === 'wrong' && integrity.includes(id));
  const failures = bad.map(({ title, detail }) => `FAILED  ${title}: ${detail}`).join('\n');
  if (record === null) throw new GwError('RECORD_INVALID', `${path} is not an acceptance record.\n${failures}`);
  if (bad.length > 0) throw new GwError('RECORD_ALTERED', `${path} was altered.\n${failures}`);
  return record;
}

async function readCaPem(path: string): Promise<string> {
  const ca = await readCaFile(
    path,
    ({ problem, remedy, cause }) =>
      new GwError('USAGE', `${path} ${problem}.`, {
        remedy: remedy ?? 'Name a PEM file with the CA certificates with --ca-file FILE.',
        cause,
      }),
  );
  return ca.pem;
}
