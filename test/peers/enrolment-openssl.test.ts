import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enrol, makeCertificateRequest, makeDeviceKey } from '../../src/lib/enrolment/enrol.ts';
import { loadIdentity, openSigner, readCredentials } from '../../src/lib/enrolment/index.ts';
import { createCa } from '../../src/lib/sim/cloud/certificates.ts';
import { http, startRawEndpoint } from '../enrolment/raw-endpoint.ts';
import { failureOf, requestsOf, serial, startWorld } from '../enrolment/world.ts';
import { hasProgram } from './peer.ts';

/** `r` and `s` as OpenSSL's command line expects them: a DER sequence of two unsigned numbers. */
function derOf(signature: Buffer): Buffer {
  const numbers = [signature.subarray(0, 32), signature.subarray(32)].map((half) => {
    const digits = half.subarray(half.findIndex((byte) => byte !== 0));
    const number = (digits[0] ?? 0) < 0x80 ? digits : Buffer.concat([Buffer.of(0), digits]);
    return Buffer.concat([Buffer.of(2, number.length), number]);
  });
  const body = Buffer.concat(numbers);
  return Buffer.concat([Buffer.of(0x30, body.length), body]);
}

// Debian's OpenSSL verifies the output of gw, and is the CA itself.

describe.skipIf(!hasProgram('openssl'))('openssl', () => {
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'gw-openssl-'));
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  function openssl(words: readonly string[], input?: string): string {
    const run = spawnSync('openssl', words, { encoding: 'utf8', cwd: dir, ...(input !== undefined && { input }) });
    expect(run.status, `${words.join(' ')}\n${run.stderr}`).toBe(0);
    return run.stdout + run.stderr;
  }
  const fails = (words: readonly string[]) => spawnSync('openssl', words, { encoding: 'utf8', cwd: dir });

  it('verifies the certificate request: its signature, its subject, its key', async () => {
    await using world = await startWorld();
    await world.enrol();
    const [requestPem = ''] = requestsOf(world.endpoint);
    const text = openssl(['req', '-verify', '-noout', '-subject', '-text', '-nameopt', 'RFC2253'], requestPem);
    expect(text).toMatch(/verify OK/i);
    expect(text).toContain('subject=CN=SN-0815');
    expect(text).toContain('Public Key Algorithm: id-ecPublicKey');
    expect(text).toContain('NIST CURVE: P-256');
    expect(text).toContain('Signature Algorithm: ecdsa-with-SHA256');
    expect(text).toMatch(/Version: 1 \(0x0\)/);
    // A name with every kind of character that a serial number may have.
    const odd = await makeCertificateRequest(makeDeviceKey(), 'a:B_c-9');
    expect(openssl(['req', '-verify', '-noout', '-subject', '-nameopt', 'RFC2253'], odd)).toContain(
      'subject=CN=a:B_c-9',
    );
  });

  it('verifies key, chain and purpose of the installed identity, and the signature of the signer', async () => {
    await using world = await startWorld();
    await world.enrol();
    const { keyPem, certificatePem, caPem } = await readCredentials(world.identityDir);
    await writeFile(join(dir, 'key.pem'), keyPem, { mode: 0o600 });
    await writeFile(join(dir, 'certificate.pem'), certificatePem);
    await writeFile(join(dir, 'ca.pem'), caPem);
    const verify = ['verify', '-x509_strict', '-CAfile', 'ca.pem', '-purpose'];
    expect(openssl([...verify, 'sslclient', 'certificate.pem'])).toContain('certificate.pem: OK');
    expect(fails([...verify, 'sslserver', 'certificate.pem']).status).not.toBe(0);
    expect(openssl(['pkey', '-in', 'key.pem', '-check', '-noout'])).toContain('Key is valid');
    const publicOf = (words: readonly string[]) => openssl(words).trim();
    expect(publicOf(['pkey', '-in', 'key.pem', '-pubout'])).toBe(
      publicOf(['x509', '-in', 'certificate.pem', '-pubkey', '-noout']),
    );
    const identity = await loadIdentity(world.identityDir);
    expect(openssl(['x509', '-in', 'certificate.pem', '-fingerprint', '-sha256', '-noout'])).toContain(
      identity?.certificate.fingerprintSha256 ?? 'none',
    );

    const signer = await openSigner(world.identityDir);
    await writeFile(join(dir, 'text'), 'what was accepted');
    await writeFile(join(dir, 'signature'), derOf(signer.sign(await readFile(join(dir, 'text')))));
    await writeFile(join(dir, 'public.pem'), publicOf(['x509', '-in', 'certificate.pem', '-pubkey', '-noout']));
    const check = ['dgst', '-sha256', '-verify', 'public.pem', '-signature', 'signature', 'text'];
    expect(openssl(check)).toContain('Verified OK');
    await writeFile(join(dir, 'text'), 'what was Accepted');
    expect(fails(check).stdout).toContain('Verification failure');
  });

  it('as the CA behind the endpoint, with an intermediate: its certificate is installed, or its fault named', async () => {
    openssl(['ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', 'root.key']);
    const subject = (name: string) => ['-subj', `/O=Robots GmbH/CN=${name}`];
    const authority = ['-addext', 'basicConstraints=critical,CA:TRUE', '-addext', 'keyUsage=critical,keyCertSign'];
    openssl([
      'req',
      '-x509',
      '-new',
      '-key',
      'root.key',
      ...subject('Root'),
      '-days',
      '30',
      '-out',
      'root.pem',
      ...authority,
    ]);
    openssl(['ecparam', '-name', 'secp384r1', '-genkey', '-noout', '-out', 'between.key']);
    openssl(['req', '-new', '-key', 'between.key', ...subject('Devices'), '-out', 'between.csr']);
    await writeFile(
      join(dir, 'ca.ext'),
      'basicConstraints=critical,CA:TRUE,pathlen:0\nkeyUsage=critical,keyCertSign\n',
    );
    await writeFile(
      join(dir, 'device.ext'),
      'basicConstraints=CA:FALSE\nkeyUsage=digitalSignature\nextendedKeyUsage=clientAuth\n',
    );
    const by = (name: string) => ['-CA', `${name}.pem`, '-CAkey', `${name}.key`, '-CAcreateserial'];
    openssl([
      'x509',
      '-req',
      '-in',
      'between.csr',
      ...by('root'),
      '-days',
      '30',
      '-extfile',
      'ca.ext',
      '-out',
      'between.pem',
    ]);

    const endpoint = await createCa();
    let withBetween = true;
    await using raw = await startRawEndpoint(endpoint, async (socket, request) => {
      const body = JSON.parse(request.slice(request.indexOf('{'))) as { certificateRequest: string };
      await writeFile(join(dir, 'device.csr'), body.certificateRequest);
      openssl([
        'x509',
        '-req',
        '-in',
        'device.csr',
        ...by('between'),
        '-days',
        '30',
        '-extfile',
        'device.ext',
        '-out',
        'device.pem',
      ]);
      const own = await readFile(join(dir, 'device.pem'), 'utf8');
      const between = await readFile(join(dir, 'between.pem'), 'utf8');
      const answer = {
        certificate: withBetween ? own + between : own,
        ca: await readFile(join(dir, 'root.pem'), 'utf8'),
        endpoint: 'mqtt.example.com',
        region: 'eu-central-1',
      };
      socket.end(http(200, JSON.stringify(answer), [`Date: ${new Date().toUTCString()}`]));
    });
    await using world = await startWorld();
    const options = world.options({ url: raw.url, trust: endpoint.caPem, readCode: async () => 'CODE' });

    withBetween = false;
    expect(await failureOf(enrol(options))).toMatchObject({
      code: 'CERTIFICATE_UNUSABLE',
      details: { reason: 'wrong-issuer' },
    });
    withBetween = true;
    const { identity, clock } = await enrol(options);
    expect(identity).toMatchObject({ serial, certificate: { subject: 'CN=SN-0815' } });
    expect(identity.certificate.issuer).toBe('CN=Devices, O=Robots GmbH');
    const issuer = openssl(['x509', '-noout', '-issuer', '-nameopt', 'RFC2253'], identity.certificate.pem);
    expect(issuer.trim()).toBe(`issuer=${identity.certificate.issuer.replace(', ', ',')}`);
    expect(clock.verdict).toBe('ok');
    const { certificatePem, caPem } = await readCredentials(world.identityDir);
    await writeFile(join(dir, 'chain.pem'), certificatePem);
    await writeFile(join(dir, 'given.pem'), caPem);
    expect(
      openssl(['verify', '-CAfile', 'given.pem', '-untrusted', 'chain.pem', '-purpose', 'sslclient', 'chain.pem']),
    ).toContain('chain.pem: OK');
  });
});
