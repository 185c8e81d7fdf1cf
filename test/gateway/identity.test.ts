import { X509Certificate } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createIdentityReader } from '../../src/lib/gateway/cloud.ts';
import { createCa } from '../../src/lib/sim/cloud/certificates.ts';
import { parseSite } from '../../src/lib/site/index.ts';
import { folderOfEach } from '../lifecycle/folder.ts';
import { SERIAL, writeIdentity } from '../toolkit/network/world.ts';

const authority = await createCa();
const dir = folderOfEach();
let file: string;
beforeEach(() => {
  file = dir.at('identity', 'identity.json');
});

function reader() {
  const site = parseSite(
    `name: Lobby
chassis: { host: 127.0.0.1, serial: ${SERIAL} }
enrolment: { url: 'https://enrol.example.com/', identityDir: ${dir.at('identity')} }
`,
    dir.at('site.yaml'),
  );
  return createIdentityReader({ ...site, stateDir: dir.path });
}

/** Puts the identity of another enrolment in its place, as `gw enrol --renew` does. */
async function replace(serial = SERIAL, from = authority): Promise<string> {
  const other = mkdtempSync(dir.at('other-'));
  await writeIdentity(other, from, serial);
  renameSync(join(other, 'identity', 'identity.json'), file);
  return new X509Certificate(JSON.parse(readFileSync(file, 'utf8')).certificatePem).fingerprint256;
}

describe('the identity that the running gateway uses', () => {
  it('is null before the enrolment, also without a folder, and is there after it', async () => {
    const read = reader();
    expect(await read()).toBeNull();
    await writeIdentity(dir.path, authority);
    expect(await read()).toMatchObject({
      ...{ serial: SERIAL, endpoint: '127.0.0.1', region: 'eu-central-1' },
      ...{ caPem: authority.caPem, keyPem: expect.stringContaining('PRIVATE KEY') },
    });
    rmSync(file);
    expect(await read()).toBeNull();
  });

  it('is null for a site file without enrolment', async () => {
    const site = parseSite(`name: Lobby\nchassis: { host: 127.0.0.1, serial: ${SERIAL} }\n`, dir.at('site.yaml'));
    expect(await createIdentityReader({ ...site, stateDir: dir.path })()).toBeNull();
  });

  it('is read anew when the file was replaced, and only then', async () => {
    await writeIdentity(dir.path, authority);
    const read = reader();
    const first = await read();
    // The same object: it was not read and verified again.
    expect(await read()).toBe(first);
    const fingerprint = await replace();
    const second = await read();
    expect(second?.fingerprintSha256).toBe(fingerprint);
    expect(second?.fingerprintSha256).not.toBe(first?.fingerprintSha256);
    expect(await read()).toBe(second);
  });

  it('is read anew also when the replacement has the size and the time of the file before', async () => {
    await writeIdentity(dir.path, authority);
    const at = new Date('2026-01-31T12:00:00.000Z');
    utimesSync(file, at, at);
    const read = reader();
    const before = await read();
    const bytes = readFileSync(file);
    const fingerprint = await replace();
    const size = readFileSync(file).length;
    if (size < bytes.length)
      writeFileSync(file, Buffer.concat([readFileSync(file), Buffer.alloc(bytes.length - size, ' ')]));
    utimesSync(file, at, at);
    const after = await read();
    expect(after?.fingerprintSha256).toBe(fingerprint);
    expect(after).not.toBe(before);
  });

  it('is refused when it is that of another robot, each time, until it is the right one', async () => {
    await writeIdentity(dir.path, authority, 'SN-OTHER');
    const read = reader();
    for (const _again of [1, 2]) {
      await expect(read()).rejects.toMatchObject({
        code: 'IDENTITY_BROKEN',
        message: `The identity is that of SN-OTHER; the chassis of the site file is ${SERIAL}.`,
        remedy: expect.stringContaining('gw enrol --renew'),
      });
    }
    await replace();
    expect(await read()).toMatchObject({ serial: SERIAL });
  });

  it('is refused while the file is broken, never answered from memory, and recovers without a restart', async () => {
    await writeIdentity(dir.path, authority);
    const read = reader();
    await read();
    const whole = readFileSync(file);
    writeFileSync(file, whole.subarray(0, whole.length / 2));
    for (const _again of [1, 2]) await expect(read()).rejects.toMatchObject({ code: 'IDENTITY_BROKEN' });
    writeFileSync(file, whole);
    expect(await read()).toMatchObject({ serial: SERIAL });
    // Of two enrolments: the key does not belong to the certificate.
    const { keyPem } = JSON.parse(whole.toString());
    await replace();
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), keyPem }));
    await expect(read()).rejects.toMatchObject({ code: 'IDENTITY_BROKEN' });
  });

  it('is refused as soon as others may read the key', async () => {
    await writeIdentity(dir.path, authority);
    const read = reader();
    await read();
    chmodSync(file, 0o644);
    await expect(read()).rejects.toMatchObject({ code: 'IDENTITY_BROKEN' });
    chmodSync(file, 0o600);
    expect(await read()).toMatchObject({ serial: SERIAL });
  });
});
