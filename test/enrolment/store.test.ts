import { createPrivateKey, createPublicKey, sign, verify, X509Certificate } from 'node:crypto';
import { chmod, chown, cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { lockFailure, lockFolder } from '../../src/lib/enrolment/folder.ts';
import { loadIdentity, openSigner, readCredentials, readPending } from '../../src/lib/enrolment/index.ts';
import { systemReason } from '../../src/lib/error/index.ts';
import { createCa } from '../../src/lib/sim/cloud/certificates.ts';
import { failureOf, it, serial } from './world.ts';

describe('an installed identity', () => {
  it('is shown without its key', async ({ world }) => {
    await world.enrol();
    const identity = await loadIdentity(world.identityDir);
    expect(identity).toMatchObject({
      serial,
      endpoint: 'mqtt.example.com',
      region: 'eu-central-1',
      certificate: { subject: `CN=${serial}`, issuer: 'CN=Simulated cloud' },
      caPem: world.authority.caPem,
    });
    expect(JSON.stringify(identity)).not.toContain('PRIVATE');
    const certificate = new X509Certificate(identity?.certificate.pem ?? '');
    expect(identity?.certificate.fingerprintSha256).toBe(certificate.fingerprint256);
    // A copy of the folder is the same.
    await cp(world.identityDir, join(world.dir, 'copy'), { recursive: true });
    expect(await loadIdentity(join(world.dir, 'copy'))).toEqual(identity);
  });

  it('yields matching credentials and signer', async ({ world }) => {
    await world.enrol();
    const { keyPem, certificatePem, caPem } = await readCredentials(world.identityDir);
    const certificate = new X509Certificate(certificatePem);
    expect(certificate.checkPrivateKey(createPrivateKey(keyPem))).toBe(true);
    expect(certificate.verify(new X509Certificate(caPem).publicKey)).toBe(true);
    const signer = await openSigner(world.identityDir);
    const text = Buffer.from('a record');
    const signature = signer.sign(text);
    expect(signer).toMatchObject({ serial, certificatePem });
    const key = { key: certificate.publicKey, dsaEncoding: 'ieee-p1363' } as const;
    expect(signature.length).toBe(64);
    expect(verify('sha256', text, key, signature)).toBe(true);
    expect(verify('sha256', Buffer.from('A record'), key, signature)).toBe(false);
    expect(createPublicKey(keyPem).equals(certificate.publicKey)).toBe(true);
  });

  it('that is missing is null, and NOT_ENROLLED for callers that need it', async ({ world }) => {
    expect(await loadIdentity(world.identityDir)).toBeNull();
    expect(await readPending(world.identityDir)).toBeUndefined();
    for (const work of [readCredentials, openSigner]) {
      expect(await failureOf(work(world.identityDir))).toMatchObject({
        code: 'NOT_ENROLLED',
        message: expect.stringContaining(world.identityDir),
      });
    }
  });

  it('that is corrupted anywhere is IDENTITY_BROKEN or still the same key, and no error shows its content', {
    tags: 'property',
  }, async ({ world }) => {
    await world.enrol();
    const path = join(world.identityDir, 'identity.json');
    const whole = await readFile(path);
    const { keyPem } = await readCredentials(world.identityDir);
    const secret = keyPem.split('\n')[1] ?? '';
    await fc.assert(
      fc.asyncProperty(
        fc.nat(whole.length - 1),
        fc.integer({ min: 1, max: 255 }),
        fc.boolean(),
        async (at, flip, cut) => {
          const bytes = cut ? whole.subarray(0, at) : Buffer.from(whole);
          if (!cut) bytes[at] = (bytes[at] ?? 0) ^ flip;
          await writeFile(path, bytes);
          try {
            const credentials = await readCredentials(world.identityDir);
            const signature = sign('sha256', whole, credentials.keyPem);
            expect(verify('sha256', whole, createPublicKey(keyPem), signature)).toBe(true);
          } catch (error) {
            expect(error).toMatchObject({ name: 'GwError', code: 'IDENTITY_BROKEN' });
            expect(JSON.stringify(error)).not.toContain(secret.slice(4, 24));
          }
        },
      ),
    );
  });

  it('that is damaged beside its key does not expose the key in the error', async ({ world }) => {
    await world.enrol();
    const path = join(world.identityDir, 'identity.json');
    const text = await readFile(path, 'utf8');
    const { keyPem } = await readCredentials(world.identityDir);
    const secret = keyPem.split('\n')[1] ?? '';
    const at = text.indexOf('-----BEGIN PRIVATE');
    for (const place of [at - 1, at, at + 3, at + 27, at + 28, at + 60]) {
      await writeFile(path, `${text.slice(0, place)}"${text.slice(place + 1)}`);
      const failure = await failureOf(readCredentials(world.identityDir)).catch(() => null);
      // The quote may replace an existing one.
      if (failure !== null) expect(failure.code).toBe('IDENTITY_BROKEN');
      expect(JSON.stringify(failure)).not.toContain(secret.slice(4, 16));
    }
  });

  it('of another key, another serial number or another CA is broken, however well formed', async ({ world }) => {
    const { authority, identityDir } = world;
    await world.enrol();
    const path = join(identityDir, 'identity.json');
    const file = JSON.parse(await readFile(path, 'utf8'));
    const other = await authority.issueClientPair(serial);
    const stranger = await createCa();
    const between = await authority.issueCa('between');
    const cases: [object, RegExp][] = [
      [{ keyPem: other.keyPem }, /public key mismatch/],
      [{ serial: 'SN-0816' }, /common name "SN-0815", expected the serial number SN-0816/],
      [{ caPem: stranger.caPem }, /does not end in/],
      // A CA that is not self-signed does not end a path.
      [{ ...(await between.issueClientPair(serial)), caPem: between.caPem }, /does not end in/],
      [{ ...(await authority.issueClientPair(serial, { purpose: 'server' })) }, /extended key usage/],
      [{ certificatePem: authority.caPem }, /public key mismatch/],
      [{ keyPem: 'none' }, /not a valid EC P-256 key/],
      [{ certificatePem: `${file.certificatePem}text` }, /certificates are invalid/],
      [{ more: 1 }, /invalid content/],
      [{ format: 'gw/identity/2' }, /invalid content/],
    ];
    for (const [change, message] of cases) {
      await writeFile(path, JSON.stringify({ ...file, ...change }));
      const failure = await failureOf(loadIdentity(identityDir));
      expect(failure).toMatchObject({ code: 'IDENTITY_BROKEN', message: expect.stringMatching(message) });
    }
    // With the intermediate CA the chain is complete.
    const pair = await between.issueClientPair(serial);
    const certificatePem = `${pair.certificatePem}${between.caPem}`;
    await writeFile(path, JSON.stringify({ ...file, keyPem: pair.keyPem, certificatePem }));
    expect(await loadIdentity(identityDir)).toMatchObject({
      certificate: { pem: certificatePem, issuer: 'CN=between' },
    });
    // Without the extension the key usage is not restricted.
    await writeFile(path, JSON.stringify({ ...file, ...(await authority.issueClientPair(serial, { purpose: null })) }));
    expect(await loadIdentity(identityDir)).not.toBeNull();
  });

  it('that others may read, or that is a symbolic link, is not used', async ({ world }) => {
    await world.enrol();
    const path = join(world.identityDir, 'identity.json');
    await chmod(path, 0o640);
    expect(await failureOf(loadIdentity(world.identityDir))).toMatchObject({
      code: 'IDENTITY_BROKEN',
      message: expect.stringContaining('mode 640'),
      remedy: expect.stringContaining('chmod 600'),
    });
    await chmod(path, 0o600);
    const other = join(world.dir, 'other');
    await mkdir(other, { mode: 0o700 });
    await symlink(path, join(other, 'identity.json'));
    expect((await failureOf(loadIdentity(other))).code).toBe('IDENTITY_BROKEN');
  });

  it('that has expired is still an identity', async ({ world }) => {
    await world.enrol();
    const path = join(world.identityDir, 'identity.json');
    const file = JSON.parse(await readFile(path, 'utf8'));
    const past = { notBefore: new Date('2020-01-01'), notAfter: new Date('2020-01-03') };
    await writeFile(path, JSON.stringify({ ...file, ...(await world.authority.issueClientPair(serial, past)) }));
    expect(await loadIdentity(world.identityDir)).toMatchObject({ serial });
  });
});

describe('a second run', () => {
  it('is refused, and names the installed identity', async ({ world }) => {
    await world.enrol();
    const prompts: string[] = [];
    const readCode = async () => {
      prompts.push('asked');
      return 'X';
    };
    expect(await failureOf(world.enrol({ readCode }))).toMatchObject({
      code: 'ALREADY_ENROLLED',
      remedy: expect.stringContaining('--renew'),
    });
    expect(await failureOf(world.enrol({ readCode, serial: 'SN-0816' }))).toMatchObject({
      code: 'ALREADY_ENROLLED',
      message: 'This gateway is enrolled as SN-0815; its chassis is SN-0816.',
    });
    // The code is requested only when it is used.
    expect(prompts).toEqual([]);
    expect(world.endpoint.requests().length).toBe(1);
  });

  it('with --renew replaces a broken identity too, and without it names that flag', async ({ world }) => {
    await world.enrol();
    await writeFile(join(world.identityDir, 'identity.json'), '{');
    expect(await failureOf(world.enrol())).toMatchObject({
      code: 'IDENTITY_BROKEN',
      remedy: expect.stringContaining('--renew'),
    });
    expect(await world.enrol({ renew: true })).toMatchObject({ replaced: false });
  });

  it('concurrent with another one is refused, and the folder is unlocked afterwards', async ({ world }) => {
    world.faults.add('enrolment-no-answer');
    const ending = new AbortController();
    const started = Promise.withResolvers<void>();
    const first = world.enrol({
      signal: ending.signal,
      onStep: (step) => {
        if (step === 'sent') started.resolve();
      },
    });
    const ended = failureOf(first);
    await started.promise;
    expect((await failureOf(world.enrol())).code).toBe('ENROLMENT_RUNNING');
    ending.abort(new Error('over'));
    await ended;
    world.faults.clear();
    expect(await world.enrol()).toMatchObject({ resumed: true });
  });
});

describe('the folder', () => {
  it('that others may read receives no key', async ({ world }) => {
    await mkdir(world.identityDir, { mode: 0o755 });
    await chmod(world.identityDir, 0o755);
    expect(await failureOf(world.enrol())).toMatchObject({
      code: 'IDENTITY_BROKEN',
      message: expect.stringContaining('mode 755'),
      remedy: expect.stringContaining('chmod 700'),
    });
    expect(await readdir(world.identityDir)).toEqual([]);
  });

  it.skipIf(process.getuid?.() !== 0)('of another user receives no key, not even from root', async ({ world }) => {
    await mkdir(world.identityDir, { mode: 0o700 });
    await chown(world.identityDir, 65_534, 65_534);
    expect(await failureOf(world.enrol())).toMatchObject({
      code: 'IDENTITY_BROKEN',
      message: expect.stringContaining('it belongs to user 65534, and this is user 0'),
      remedy: expect.stringContaining('gw serve'),
    });
  });

  it('that is a file, or cannot be created, is reported', async ({ world }) => {
    await writeFile(world.identityDir, '');
    expect((await failureOf(world.enrol())).code).toBe('FILE_UNWRITABLE');
    expect((await failureOf(world.enrol({ identityDir: '/proc/nothing/here' }))).code).toBe('FILE_UNWRITABLE');
  });

  it('with an unfinished enrolment of another robot is not used for this one', async ({ world }) => {
    world.faults.add('enrolment-error');
    await failureOf(world.enrol());
    world.faults.clear();
    expect(await failureOf(world.enrol({ serial: 'SN-0816' }))).toMatchObject({
      code: 'IDENTITY_BROKEN',
      message: expect.stringMatching(/Unfinished enrolment of SN-0815 .* this chassis is SN-0816/),
      remedy: expect.stringContaining(join(world.identityDir, 'pending.json')),
    });
    // With the first chassis again it is resumed.
    expect(await world.enrol()).toMatchObject({ resumed: true });
    await writeFile(join(world.identityDir, 'pending.json'), '{}', { mode: 0o600 });
    expect(await failureOf(world.enrol())).toMatchObject({
      code: 'IDENTITY_BROKEN',
      remedy: expect.stringContaining('Remove'),
    });
  });

  it('is reported as locked only when another run holds it, otherwise with the reason', () => {
    const failing = (code: string) => lockFailure('/site/identity', Object.assign(new Error('listen'), { code }));
    expect(failing('EADDRINUSE')).toMatchObject({ code: 'ENROLMENT_RUNNING' });
    for (const code of ['EMFILE', 'EACCES', 'EINVAL']) {
      expect(failing(code)).toMatchObject({
        code: 'FILE_UNWRITABLE',
        message: expect.stringContaining(systemReason({ code })),
      });
    }
    expect(lockFailure('/site/identity', new TypeError('a bug'))).toMatchObject({ code: 'INTERNAL', message: 'a bug' });
  });

  it('that cannot be cleaned of the files of an interrupted run is reported so', async ({ world }) => {
    await mkdir(join(world.identityDir, `.pending.json.${crypto.randomUUID()}`), { recursive: true, mode: 0o700 });
    expect(await failureOf(world.enrol())).toMatchObject({
      code: 'FILE_UNWRITABLE',
      message: expect.stringContaining('EISDIR'),
    });
  });

  it('is cleaned of the half-written files of an interrupted run, and of nothing else', async ({ world }) => {
    await mkdir(world.identityDir, { mode: 0o700 });
    const draft = `.pending.json.${crypto.randomUUID()}`;
    for (const name of [draft, 'notes.txt', '.identity.json.old']) await writeFile(join(world.identityDir, name), 'x');
    {
      await using _hold = await lockFolder(world.identityDir);
    }
    expect((await readdir(world.identityDir)).toSorted()).toEqual(['.identity.json.old', 'notes.txt']);
  });

  it('rejects a serial number that no certificate can name', async ({ world }) => {
    expect(await failureOf(world.enrol({ serial: 'S'.repeat(65) }))).toMatchObject({ code: 'CERTIFICATE_UNUSABLE' });
    expect(
      await world.enrol({ serial: 'S'.repeat(64), readCode: async () => world.endpoint.newCode('S'.repeat(64)) }),
    ).toMatchObject({ resumed: false });
  });
});
