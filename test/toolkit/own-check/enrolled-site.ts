import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CertificateAuthority } from '../../../src/lib/sim/cloud/certificates.ts';

/** The site file of an enrolled robot SN1, with its identity, so that its records are signed. */
export async function enrolledSite(dir: string, authority: CertificateAuthority, more: string): Promise<void> {
  const { keyPem, certificatePem } = await authority.issueClientPair('SN1');
  const identity = { format: 'gw/identity/1', serial: 'SN1', endpoint: 'mqtt.example.com', region: 'eu-central-1' };
  const file = { ...identity, enrolledAt: '2026-01-02T03:04:05.000Z', keyPem, certificatePem, caPem: authority.caPem };
  await mkdir(join(dir, 'identity'), { mode: 0o700 });
  await writeFile(join(dir, 'identity', 'identity.json'), JSON.stringify(file), { mode: 0o600 });
  const enrolment = 'enrolment: { url: https://enrol.example.com, identityDir: identity }\n';
  await writeFile(join(dir, 'site.yaml'), `name: A\nchassis: { host: 127.0.0.1, serial: SN1 }\n${enrolment}${more}`);
}
