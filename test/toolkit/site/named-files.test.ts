import { createHash, generateKeyPairSync } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { renderSiteCheck } from '../../../src/cli/render/site.ts';
import { hashPassword } from '../../../src/lib/operator/index.ts';
import { createCa } from '../../../src/lib/sim/cloud/certificates.ts';
import { checkSite } from '../../../src/lib/toolkit/site/check.ts';
import { has, ownFolder } from '../kit.ts';

let dir: string;
let caPem: string;
let password: string;
beforeAll(async () => {
  ({ caPem } = await createCa({ commonName: 'Test CA' }));
  password = await hashPassword('a long enough password');
});

const site = `name: x
chassis: { host: 127.0.0.1, serial: SN1 }
operator: { passwordFile: password }
fleet: { keyFile: heartbeat }
enrolment: { url: https://enrol.example.com, caFile: enrol-ca.pem }
cloud:
  mqtt: { host: mqtt.example.com, alpn: x, caFile: mqtt-ca.pem }
  caFile: cloud-ca.pem
  release: { keyFile: release.pem }
tablet: { host: 127.0.0.1 }
`;
const app = Buffer.from('not an app, but the bytes that the profile names');
const profile = `schema: gw/kiosk/1
name: Lobby
app: { name: com.example.kiosk, versionCode: 1, activity: .Main, file: kiosk.apk, sha256: ${createHash('sha256').update(app).digest('hex')} }
startPage: http://192.0.2.2:5173/
`;
const ed25519 = () => generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' });
const rsa = () => generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ type: 'spki', format: 'pem' });

/** The verdict and the remedy by id, of a folder that holds these files beside the site file. */
async function found(files: Readonly<Record<string, string | Buffer>>) {
  dir = ownFolder();
  for (const [name, content] of Object.entries({ 'site.yaml': site, ...files })) {
    writeFileSync(join(dir, name), content, { mode: 0o600 });
    chmodSync(join(dir, name), 0o600);
  }
  const checked = await checkSite(join(dir, 'site.yaml'));
  return { checked, by: Object.fromEntries(checked.findings.map((finding) => [finding.id, finding])) };
}

const right = () => ({
  password,
  heartbeat: 'ab'.repeat(32),
  'enrol-ca.pem': caPem,
  'mqtt-ca.pem': caPem,
  'cloud-ca.pem': caPem,
  'release.pem': ed25519(),
  'kiosk.yaml': profile,
  'kiosk.apk': app,
});

it('finds every file that is right', async () => {
  const { checked } = await found(right());
  expect(checked.findings.filter(({ verdict }) => verdict === 'wrong')).toEqual([]);
  expect(checked.findings.filter(({ verdict }) => verdict === 'ok').map(({ id }) => id)).toEqual(
    expect.arrayContaining(['operator-password', 'heartbeat-key', 'ca-files', 'release-key', 'kiosk-profile']),
  );
});

it('names the command that makes a missing file, where there is one, and says of all of them which it is', async () => {
  const { checked, by } = await found({});
  expect(checked.valid).toBe(false);
  expect(by).toMatchObject({
    'operator-password': { verdict: 'wrong', remedy: 'Set the password: `gw operator password`.' },
    'heartbeat-key': { verdict: 'wrong', remedy: has('`gw heartbeat key new`') },
    'ca-files': { verdict: 'wrong', detail: has('enrol-ca.pem (enrolment.caFile)') },
    'release-key': { verdict: 'wrong', detail: has('release.pem') },
    'kiosk-profile': { verdict: 'wrong', detail: has('kiosk.yaml') },
  });
  expect(renderSiteCheck(checked).split('\n')[0]).toBe(`5 errors in what ${join(dir, 'site.yaml')} names`);
});

it.each([
  ['operator-password', 'password', 'the password itself', /holds no password hash/],
  ['heartbeat-key', 'heartbeat', 'not hex', /64 hex digits/],
  ['ca-files', 'mqtt-ca.pem', 'no certificate', /cloud\.mqtt\.caFile.*holds no certificate/],
  ['ca-files', 'cloud-ca.pem', '', /cloud\.caFile.*is empty/],
  ['release-key', 'release.pem', rsa(), /not an Ed25519 public key/],
  ['kiosk-profile', 'kiosk.yaml', 'schema: gw/kiosk/1\n', /kiosk\.yaml/],
  ['kiosk-profile', 'kiosk.apk', 'another app', /the profile requires/],
])('%s: %s with other content is wrong, and it alone', async (id, file, content, detail) => {
  const { checked, by } = await found({ ...right(), [file]: content });
  expect(by[id]).toMatchObject({ verdict: 'wrong', detail: has(detail), remedy: expect.any(String) });
  expect(checked.errors).toBe(1);
  expect(JSON.stringify(checked)).not.toContain('the password itself');
});
