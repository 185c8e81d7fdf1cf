import { createPublicKey } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { extensionsOf } from '../../src/lib/enrolment/answer.ts';
import {
  CLOCK_TOLERANCE_MS,
  installedCertificate,
  judgeCertificate,
  judgeValidity,
  readCertificates,
} from '../../src/lib/enrolment/certificate.ts';
import { createCa } from '../../src/lib/sim/cloud/certificates.ts';

const serial = 'SN-0815';
const authority = await createCa();
const pair = await authority.issueClientPair(serial, {
  notBefore: new Date('2026-01-01T00:00:00Z'),
  notAfter: new Date('2027-01-01T00:00:00Z'),
});
const long = { notBefore: new Date('2000-01-01T00:00:00Z'), notAfter: new Date('2049-01-01T00:00:00Z') };
const old = await createCa(long);
const publicKey = createPublicKey(pair.keyPem);
const read = (text: string) => readCertificates(text) ?? [];

function judge(certificatePem: string, caPem: string, at: string | null = null, key = publicKey) {
  const expected = { publicKey: key, serial, cas: read(caPem), at: at === null ? null : new Date(at) };
  return judgeCertificate(read(certificatePem), expected).map(({ reason }) => reason);
}

describe('parsing certificates', () => {
  it('accepts one to eight, with whitespace between them and nothing else', () => {
    expect(read(pair.certificatePem).length).toBe(1);
    expect(read(`\n${pair.certificatePem}\r\n\n${authority.caPem}  `).length).toBe(2);
    expect(read(authority.caPem.repeat(8)).length).toBe(8);
    for (const text of [
      '',
      authority.caPem.repeat(9),
      `# ours\n${authority.caPem}`,
      pair.keyPem,
      pair.keyPem + pair.certificatePem,
    ]) {
      expect(readCertificates(text)).toBeUndefined();
    }
  });

  it('never throws on foreign text', { tags: 'property' }, () => {
    const { certificatePem } = pair;
    const cut = fc.nat(certificatePem.length).map((at) => certificatePem.slice(0, at));
    const changed = fc
      .tuple(fc.nat(certificatePem.length - 1), fc.string({ minLength: 1, maxLength: 1 }))
      .map(([at, char]) => certificatePem.slice(0, at) + char + certificatePem.slice(at + 1));
    fc.assert(
      fc.property(fc.oneof(fc.string(), cut, changed), (text) => {
        const certificates = readCertificates(text);
        if (certificates === undefined) return;
        // A changed certificate may still be parsed; its signature by the CA is invalid.
        const same = certificates[0]?.raw.equals(read(certificatePem)[0]?.raw ?? Buffer.alloc(0)) === true;
        if (!same) expect(judge(text, authority.caPem)).not.toEqual([]);
      }),
    );
  });

  it('reads extensions, and none of malformed ones', { tags: 'property' }, async () => {
    const { certificatePem } = pair;
    expect(await extensionsOf(certificatePem)).toEqual({ isCa: false, allowsSignatures: true });
    expect(await extensionsOf(authority.caPem)).toEqual({ isCa: true, allowsSignatures: false });
    const changed = fc
      .tuple(fc.nat(certificatePem.length - 1), fc.string({ minLength: 1, maxLength: 1 }))
      .map(([at, char]) => certificatePem.slice(0, at) + char + certificatePem.slice(at + 1));
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), changed), async (text) => {
        const found = await extensionsOf(text);
        expect(found === null || typeof found.isCa === 'boolean').toBe(true);
      }),
    );
  });

  it('shows names in one line', () => {
    expect(installedCertificate(read(pair.certificatePem))).toMatchObject({
      subject: 'CN=SN-0815',
      issuer: 'CN=Simulated cloud',
      notBefore: '2026-01-01T00:00:00.000Z',
      notAfter: '2027-01-01T00:00:00.000Z',
    });
  });
});

describe('the validity of an identity', () => {
  const at = (moment: string) => new Date(moment);

  it('is that of its certificate and of every CA above it, whichever ends first', async () => {
    const root = await createCa({ notBefore: at('2020-01-01'), notAfter: at('2030-01-01') });
    const between = await root.issueCa('Between', { notBefore: at('2020-01-01'), notAfter: at('2026-06-01') });
    const device = await between.issueClientPair(serial, { notBefore: at('2026-01-01'), notAfter: at('2027-01-01') });
    const certificate = installedCertificate(read(device.certificatePem + between.caPem));
    const judged = (moment: string) => judgeValidity({ certificate, caPem: root.caPem }, at(moment));
    expect(judged('2026-05-01')).toEqual({ problems: [], notAfter: at('2026-06-01'), endsFirst: 'CN=Between' });
    expect(judged('2026-07-01').problems).toEqual([
      { reason: 'expired', text: 'its CA certificate (CN=Between) expired at 2026-06-01T00:00:00.000Z' },
    ]);
    expect(judged('2025-07-01').problems).toMatchObject([{ reason: 'not-yet-valid' }]);
    const alone = await root.issueClientPair(serial, { notBefore: at('2026-01-01'), notAfter: at('2027-01-01') });
    const own = { certificate: installedCertificate(read(alone.certificatePem)), caPem: root.caPem };
    expect(judgeValidity(own, at('2026-05-01'))).toEqual({ problems: [], notAfter: at('2027-01-01'), endsFirst: null });
  });
});

describe('judging a certificate', () => {
  it('accepts a valid one', () => {
    expect(judge(pair.certificatePem, authority.caPem)).toEqual([]);
  });

  it('judges validity at the given time, with a tolerance before its start and none after its end', async () => {
    const made = await old.issueClientPair(serial, {
      notBefore: new Date('2026-01-01T00:00:00Z'),
      notAfter: new Date('2027-01-01T00:00:00Z'),
    });
    const key = createPublicKey(made.keyPem);
    const at = (moment: string) => judge(made.certificatePem, old.caPem, moment, key);
    expect(at('2026-06-01T00:00:00Z')).toEqual([]);
    expect(at(new Date(Date.parse('2026-01-01T00:00:00Z') - CLOCK_TOLERANCE_MS).toISOString())).toEqual([]);
    expect(at('2025-12-31T23:00:00Z')).toEqual(['not-yet-valid']);
    expect(at('2027-01-01T00:00:00Z')).toEqual([]);
    expect(at('2027-01-01T00:00:01Z')).toEqual(['expired']);
    expect(at('1999-01-01T00:00:00Z')).toEqual(['not-yet-valid', 'not-yet-valid']);
  });

  it('detects a CA outside its validity', async () => {
    const short = await createCa({ notBefore: new Date('2026-01-01'), notAfter: new Date('2026-02-01') });
    const made = await short.issueClientPair(serial, long);
    expect(judge(made.certificatePem, short.caPem, '2026-03-01T00:00:00Z', createPublicKey(made.keyPem))).toEqual([
      'expired',
    ]);
  });

  it('distinguishes every fault', async () => {
    const { caPem } = authority;
    const stranger = await createCa();
    expect(judge((await authority.issueClientPair(serial)).certificatePem, caPem)).toEqual(['wrong-key']);
    expect(judge(pair.certificatePem, stranger.caPem)).toEqual(['wrong-issuer']);
    const other = await authority.issueClientPair('SN-0816');
    expect(judge(other.certificatePem, caPem, null, createPublicKey(other.keyPem))).toEqual(['wrong-serial']);
    const server = await authority.issueServer({ names: [serial] });
    expect(judge(server.certificatePem, caPem, null, createPublicKey(server.keyPem))).toEqual(['not-for-clients']);
    const below = await authority.issueCa(serial);
    expect(judge(below.caPem, caPem, null, createPublicKey(below.keyPem))).toEqual(['is-ca']);
    expect(judgeCertificate([], { publicKey, serial, cas: [], at: null })).toHaveLength(1);
  });

  it('does not accept a CA of the same name and another key as the issuer', async () => {
    const twin = await createCa({ commonName: 'Simulated cloud' });
    expect(judge(pair.certificatePem, twin.caPem)).toEqual(['wrong-issuer']);
    expect(judge(pair.certificatePem, twin.caPem + authority.caPem)).toEqual([]);
  });

  it('does not accept a device certificate as the issuer of another', async () => {
    const forger = await authority.issueClientPair('SN-0001');
    const { restoreCa } = await import('../../src/lib/sim/cloud/certificates.ts');
    const asAuthority = restoreCa({ caPem: forger.certificatePem, keyPem: forger.keyPem });
    const forged = await asAuthority.issueClientPair(serial);
    const chain = forged.certificatePem + forger.certificatePem;
    expect(judge(chain, authority.caPem, null, createPublicKey(forged.keyPem))).toEqual(['wrong-issuer']);
  });
});
