import { createPrivateKey, X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { replaceFile } from '../../lifecycle/index.ts';
import { isRecord } from '../chassis/maps/map-store.ts';
import { makeFolder, readIfThere } from '../files.ts';
import { CA_FILE } from './ca-file.ts';
import { type CertificateAuthority, createCa, restoreCa } from './certificates.ts';

const CA_KEY_FILE = join('secrets', 'cloud-ca.json');
const CODE_FILE = join('secrets', 'enrolment-code.txt');

/**
 * The CA of the simulated cloud, kept in the folder so that certificates of an earlier run stay valid; without a folder
 * it exists as long as the simulator.
 */
export async function openCa(dir: string | undefined): Promise<CertificateAuthority> {
  if (dir === undefined) return createCa();
  const path = join(dir, CA_KEY_FILE);
  const kept = readKept(await readIfThere(path));
  const ca = kept ?? (await createCa());
  if (kept === undefined) {
    await makeFolder(join(dir, 'secrets'), 0o700);
    const { caPem, keyPem } = ca;
    await replaceFile(path, `${JSON.stringify({ caPem, keyPem })}\n`, { mode: 0o600 });
  }
  await replaceFile(join(dir, CA_FILE), ca.caPem);
  return ca;
}

/** Writes the next valid one-time code; returns the file's path. */
export async function writeCode(dir: string, code: string): Promise<string> {
  const path = join(dir, CODE_FILE);
  await makeFolder(join(dir, 'secrets'), 0o700);
  await replaceFile(path, `${code}\n`, { mode: 0o600 });
  return path;
}

function readKept(text: string | undefined): CertificateAuthority | undefined {
  if (text === undefined) return undefined;
  try {
    const kept: unknown = JSON.parse(text);
    if (!isRecord(kept) || typeof kept.caPem !== 'string' || typeof kept.keyPem !== 'string') return undefined;
    const { caPem, keyPem } = kept;
    const certificate = new X509Certificate(caPem);
    const isValid = certificate.ca && certificate.validToDate > new Date();
    // Certificate and key may not belong together.
    return isValid && certificate.checkPrivateKey(createPrivateKey(keyPem)) ? restoreCa({ caPem, keyPem }) : undefined;
  } catch {
    return undefined;
  }
}
