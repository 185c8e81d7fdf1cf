import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { LinkIdentity } from '../cloud/index.ts';
import { IDENTITY_FILE, loadIdentity, readCredentials } from '../enrolment/index.ts';
import { GwError } from '../error/index.ts';
import type { Site } from '../site/index.ts';

/**
 * Returns a function that reads the identity of this device, anew only when its file has changed: reading verifies the
 * key, which costs a signature. The function resolves with null when this device is not enrolled, and throws
 * IDENTITY_BROKEN, also for the identity of another robot.
 */
export function createIdentityReader({ chassis, enrolment }: Site): () => Promise<LinkIdentity | null> {
  const identityDir = enrolment?.identityDir;
  let read: { readonly mark: string; readonly identity: LinkIdentity | null } | null = null;
  return async () => {
    if (identityDir === undefined) return null;
    const mark = await fileMark(join(identityDir, IDENTITY_FILE));
    if (read?.mark !== mark) read = { mark, identity: await readAll(identityDir) };
    const { identity } = read;
    if (identity !== null && identity.serial !== chassis.serial) {
      throw new GwError(
        'IDENTITY_BROKEN',
        `The identity is that of ${identity.serial}; the chassis of the site file is ${chassis.serial}.`,
        { remedy: 'Correct chassis.serial in the site file, or enrol this gateway for its chassis: gw enrol --renew' },
      );
    }
    return identity;
  };
}

async function readAll(identityDir: string): Promise<LinkIdentity | null> {
  for (;;) {
    const identity = await loadIdentity(identityDir);
    if (identity === null) return null;
    const credentials = await readCredentials(identityDir);
    // Replaced between the two reads.
    if (credentials.certificatePem !== identity.certificate.pem) continue;
    const { serial, endpoint, region, certificate } = identity;
    const { fingerprintSha256, notAfter } = certificate;
    return { serial, endpoint, region, ...credentials, fingerprintSha256, notAfter };
  }
}

/** Changes when the file is replaced. */
async function fileMark(path: string): Promise<string> {
  try {
    const { ino, size, mtimeMs, ctimeMs } = await stat(path);
    return `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unreadable';
  }
}
