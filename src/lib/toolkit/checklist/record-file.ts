import { type Protocol, type ProtocolVerification, verifyProtocolFile } from '../../checklist/index.ts';
import { GwError } from '../../error/index.ts';
import { readCaFile } from '../network/ca-file.ts';

/** What a protocol is compared with, beside itself. */
export interface ProtocolTrust {
  /** File with the certificates (PEM) of the authority that issues device certificates. */
  readonly caPath?: string | undefined;
  /** Site file of the robot: its identity says the authority, and its serial who must have signed. */
  readonly sitePath?: string | undefined;
  /** The robot that must have signed; wins over the one of the site file. */
  readonly serial?: string | undefined;
}

/**
 * Verifies a protocol file against what is known here. Without an authority a signature is never verified, since
 * anybody can make a certificate. Throws FILE_UNWRITABLE (cannot be read), USAGE, SITE_FILE_NOT_FOUND,
 * SITE_FILE_INVALID, IDENTITY_BROKEN.
 */
export async function verifyProtocolAt(path: string, trust: ProtocolTrust): Promise<ProtocolVerification> {
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
  return verifyProtocolFile(path, {
    ...(caPem !== undefined && { caPem }),
    ...(serial !== undefined && { expectedSerial: serial }),
  });
}

/** Findings that say: this is not what gw wrote and the device signed. */
const integrity = ['file', 'form', 'content', 'consistent', 'signature'];

/**
 * The protocol itself, for documents and comparisons. Refuses what is no protocol, and what was changed since it was
 * written: a document would make it look like one. Throws PROTOCOL_INVALID, PROTOCOL_ALTERED.
 */
export function unaltered(path: string, { protocol, findings }: ProtocolVerification): Protocol {
  const bad = findings.filter(({ id, verdict }) => verdict === 'wrong' && integrity.includes(id));
  const said = bad.map(({ title, detail }) => `${title}: no. ${detail}`).join('\n');
  if (protocol === null) throw new GwError('PROTOCOL_INVALID', `${path} is no protocol of gw.\n${said}`);
  if (bad.length > 0) throw new GwError('PROTOCOL_ALTERED', `${path} is not what gw wrote and signed.\n${said}`);
  return protocol;
}

async function readAuthority(path: string): Promise<string> {
  const unreadable = (why: string, cause?: unknown) =>
    new GwError('USAGE', `${path} ${why}.`, {
      remedy: 'Name a file with the certificates (PEM) of the authority with --ca FILE.',
      cause,
    });
  const text = await readCaFile(path, unreadable);
  if (!text.includes('-----BEGIN CERTIFICATE-----')) throw unreadable('holds no certificate');
  return text;
}
