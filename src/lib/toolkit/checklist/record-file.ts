import { type CheckRecord, type RecordVerification, verifyRecordFile } from '../../checklist/index.ts';
import { GwError } from '../../error/index.ts';
import { readAuthorityFile } from '../network/ca-file.ts';

/** What a record is compared with, beside itself. */
export interface RecordTrust {
  /** File with the certificates (PEM) of the authority that issues device certificates. */
  readonly caPath?: string | undefined;
  /** Site file of the robot: its identity says the authority, and its serial who must have signed. */
  readonly sitePath?: string | undefined;
  /** The robot that must have signed; wins over the one of the site file. */
  readonly serial?: string | undefined;
}

/**
 * Verifies a record file against what is known here. Without an authority a signature is never verified, since
 * anybody can make a certificate. Throws FILE_UNWRITABLE (cannot be read), USAGE, SITE_FILE_NOT_FOUND,
 * SITE_FILE_INVALID, IDENTITY_BROKEN.
 */
export async function verifyRecordAt(path: string, trust: RecordTrust): Promise<RecordVerification> {
  const { caPath, sitePath } = trust;
  let serial = trust.serial;
  let caPem = caPath === undefined ? undefined : await readAuthority(caPath);
  if (sitePath !== undefined) {
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

/** Findings that say: this is not what gw wrote and the device signed. */
const integrity = ['file', 'form', 'content', 'consistent', 'signature'];

/**
 * The record itself, for documents and comparisons. Refuses what is no record, and what was changed since it was
 * written: a document would make it look like one. Throws RECORD_INVALID, RECORD_ALTERED.
 */
export function unaltered(path: string, { record, findings }: RecordVerification): CheckRecord {
  const bad = findings.filter(({ id, verdict }) => verdict === 'wrong' && integrity.includes(id));
  const said = bad.map(({ title, detail }) => `${title}: no. ${detail}`).join('\n');
  if (record === null) throw new GwError('RECORD_INVALID', `${path} is no record of gw.\n${said}`);
  if (bad.length > 0) throw new GwError('RECORD_ALTERED', `${path} is not what gw wrote and signed.\n${said}`);
  return record;
}

async function readAuthority(path: string): Promise<string> {
  const unreadable = (why: string, cause?: unknown) =>
    new GwError('USAGE', `${path} ${why}.`, {
      remedy: 'Name a file with the certificates (PEM) of the authority with --ca FILE.',
      cause,
    });
  const text = await readAuthorityFile(path, unreadable);
  if (!text.includes('-----BEGIN CERTIFICATE-----')) throw unreadable('holds no certificate');
  return text;
}
