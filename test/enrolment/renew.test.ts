import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { loadIdentity, readCredentials, readRenewal } from '../../src/lib/enrolment/index.ts';
import { installCandidate, type RenewalRequest, renewalSteps, requestRenewal } from '../../src/lib/enrolment/renew.ts';
import { GwError } from '../../src/lib/error/index.ts';
import { systemClock } from '../../src/lib/lifecycle/index.ts';
import { directDialer } from '../../src/lib/net/index.ts';
import { runProcess } from '../process.ts';
import { isFull, runs } from '../properties.ts';
import { http, startRawEndpoint } from './raw-endpoint.ts';
import { device, failureOf, it, requestsOf, serial, startWorld, type World } from './world.ts';

const child = fileURLToPath(new URL('./renew-child.ts', import.meta.url));

const options = ({ endpoint, identityDir, authority }: World, more: Partial<RenewalRequest> = {}): RenewalRequest => ({
  ...{ url: endpoint.url, identityDir, trust: authority.caPem, serial, device, expectedRegion: 'eu-central-1' },
  ...{ beforeMs: 21 * 86_400_000, retryAt: () => new Date(0), dialer: directDialer, clock: systemClock },
  signal: new AbortController().signal,
  ...more,
});

/** Enrolled with a certificate that ends in 22 days. */
async function enrolled(world: World): Promise<string> {
  world.faults.add('enrolment-short-lived');
  const { identity } = await world.enrol();
  world.faults.clear();
  return identity.certificate.fingerprintSha256;
}

const fingerprint = async ({ identityDir }: World) => (await loadIdentity(identityDir))?.certificate.fingerprintSha256;

describe('a renewal by the present certificate', () => {
  it('has the documented form, byte for byte: no code, the same members in the same order', async ({ world }) => {
    await enrolled(world);
    const sent: string[] = [];
    await using raw = await startRawEndpoint(world.authority, (socket, request) => {
      sent.push(request);
      socket.end(http(500, ''));
    });
    // The same bytes again after a failure.
    for (const failed of [1, 2]) {
      expect(await requestRenewal(options(world, { url: raw.url }))).toMatchObject({ failed, candidate: null });
    }
    const { requestPem, keyPem } = (await readRenewal(world.identityDir))?.key ?? { requestPem: '', keyPem: '' };
    const body = `{"serial":"SN-0815","certificateRequest":${JSON.stringify(requestPem)},"renewal":true,"device":{"model":"model-x","software":"2.12.3"}}`;
    expect(sent.map((request) => request.slice(request.indexOf('{')))).toEqual([body, body]);
    const present = await readCredentials(world.identityDir);
    for (const key of [keyPem, present.keyPem]) {
      const lines = key.split('\n').filter((line) => line.length > 20 && !line.startsWith('-'));
      expect(lines.length).toBeGreaterThan(1);
      for (const line of lines.slice(0, 1)) expect(raw.received().toString('latin1')).not.toContain(line);
    }
  });

  it('keeps the new certificate beside the present one, which only its installation replaces', async ({ world }) => {
    const before = await enrolled(world);
    const text = await readFile(join(world.identityDir, 'identity.json'), 'utf8');
    const record = await requestRenewal(options(world));
    expect(record).toMatchObject({ renews: before, failed: 0, last: null, candidate: { refusals: 0 } });
    expect(await readFile(join(world.identityDir, 'identity.json'), 'utf8')).toBe(text);
    expect(world.endpoint.requests().at(-1)).toMatchObject({ status: 200, byCertificate: before });
    // It is asked for once.
    expect(await requestRenewal(options(world))).toEqual(record);
    expect(world.endpoint.requests()).toHaveLength(2);
    expect(await installCandidate(world.identityDir, 'another')).toBe(false);
    expect(await installCandidate(world.identityDir, before)).toBe(true);
    expect(await fingerprint(world)).not.toBe(before);
    expect(await readdir(world.identityDir)).toEqual(['identity.json']);
    expect(await installCandidate(world.identityDir, before)).toBe(false);
  });

  it('is not taken without a Date to compare the clock with', async ({ world }) => {
    const before = await enrolled(world);
    await using raw = await startRawEndpoint(world.authority, async (socket, request) => {
      const { certificateRequest } = JSON.parse(request.slice(request.indexOf('{')));
      const certificate = await world.authority.issueClient(certificateRequest);
      const place = { endpoint: 'mqtt.example.com', region: 'eu-central-1' };
      socket.end(http(200, JSON.stringify({ certificate, ca: world.authority.caPem, ...place })));
    });
    const record = await requestRenewal(options(world, { url: raw.url }));
    expect(record).toMatchObject({ candidate: null, last: { detail: expect.stringContaining('no Date header') } });
    // The key stays: the same certificate comes again for it.
    expect(record.key).not.toBeNull();
    expect(await fingerprint(world)).toBe(before);
  });

  it('is not made for another serial number, nor without an identity', async ({ world }) => {
    expect((await failureOf(requestRenewal(options(world)))).code).toBe('NOT_ENROLLED');
    await enrolled(world);
    expect((await failureOf(requestRenewal(options(world, { serial: 'SN-0816' })))).code).toBe('IDENTITY_BROKEN');
    expect(await readdir(world.identityDir)).toEqual(['identity.json']);
    expect(world.endpoint.requests()).toHaveLength(1);
  });

  const killed = isFull
    ? renewalSteps
    : (['key-placed', 'sent', 'candidate-draft', 'identity-draft', 'identity-placed'] as const);
  it.each(killed)(
    'killed after %s leaves one whole identity, and is completed by the next one',
    { tags: 'property' },
    async (killAt) => {
      await using world = await startWorld();
      const before = await enrolled(world);
      const { dialer: _, clock: __, signal: ___, ...plain } = options(world);
      const ended = await runProcess(process.execPath, ['--no-warnings', child], {
        input: JSON.stringify({ ...plain, killAt }),
      });
      expect([ended.code, ended.signal], ended.stderr).toEqual([null, 'SIGKILL']);
      const isInstalled = renewalSteps.indexOf(killAt) >= renewalSteps.indexOf('identity-placed');
      expect((await fingerprint(world)) === before).toBe(!isInstalled);
      await readRenewal(world.identityDir);
      if (!isInstalled) {
        await requestRenewal(options(world));
        expect(await installCandidate(world.identityDir, before)).toBe(true);
      }
      expect(await fingerprint(world)).not.toBe(before);
      // One key, and the one of the enrolment.
      expect(new Set(requestsOf(world.endpoint)).size).toBe(2);
    },
  );
});

describe('the file of a renewal', () => {
  it('that is damaged anywhere is IDENTITY_BROKEN or the same, never shown, and no harm to the identity', {
    tags: 'property',
  }, async ({ world }) => {
    await enrolled(world);
    const record = await requestRenewal(options(world));
    const path = join(world.identityDir, 'renewal.json');
    const bytes = await readFile(path);
    const secret = record.key?.keyPem.split('\n')[1] ?? 'none';
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.nat(bytes.length - 1).map((end) => bytes.subarray(0, end)),
          fc
            .tuple(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }))
            .map(([at, flip]) => bytes.map((byte, index) => (index === at ? byte ^ flip : byte))),
          fc.uint8Array({ maxLength: 200 }),
          fc.json().map((text) => Buffer.from(text)),
        ),
        async (damaged) => {
          await writeFile(path, damaged);
          const read = await readRenewal(world.identityDir).then(
            (value) => ({ value, error: null }),
            (error: GwError) => ({ value: null, error }),
          );
          if (read.error !== null) {
            expect(read.error).toBeInstanceOf(GwError);
            expect(read.error.code).toBe('IDENTITY_BROKEN');
            expect(JSON.stringify(read.error.toJSON())).not.toContain(secret);
          } else expect(read.value?.candidate === null || read.value?.key !== null).toBe(true);
        },
      ),
      { numRuns: runs(300, 30) },
    );
    expect(await loadIdentity(world.identityDir)).not.toBeNull();
    await writeFile(path, bytes);
    await chmod(path, 0o644);
    expect((await failureOf(readRenewal(world.identityDir))).code).toBe('IDENTITY_BROKEN');
  });
});
