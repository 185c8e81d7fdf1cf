import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { brokerCaOf, brokerCaTrouble } from '../../../src/lib/cloud/link/broker-ca.ts';
import { createCa } from '../../../src/lib/sim/cloud/certificates.ts';
import { certificatesOf, viewCertificate } from '../../../src/lib/x509/index.ts';
import { runs } from '../../properties.ts';
import { identityOf, linked, realClock } from './world.ts';

const DAY_MS = 86_400_000;
const inDays = (days: number) => new Date(Date.UTC(2026, 10, 30) + days * DAY_MS);
const sentBy = async (issuer: Awaited<ReturnType<typeof createCa>>) => {
  const { certificatePem } = await issuer.issueServer({ names: ['127.0.0.1'] });
  return (certificatesOf(certificatePem) ?? []).map(viewCertificate);
};

describe('the CA by which the broker is verified', () => {
  it('is a trouble of the connected link from 30 days before its end, also where the device has its certificate of another', async () => {
    const ending = await createCa({
      commonName: 'Broker CA',
      notAfter: new Date(realClock.wall().getTime() + 20 * DAY_MS),
    });
    const device = await createCa({ commonName: 'Device CA' });
    const identity = { ...(await identityOf(device, { trusts: ending })), caPem: `${device.caPem}${ending.caPem}` };
    await using running = await linked(() => false, { readIdentity: async () => identity }, { issuer: ending });
    await running.connected();
    expect(running.view()).toMatchObject({
      status: 'connected',
      detail: expect.stringContaining("the CA certificate 'CN=Broker CA' by which the broker is verified ends at"),
      troubles: [{ kind: 'broker-ca-ending', remedy: expect.stringContaining('gw enrol --renew') }],
    });
  });

  it('is the later one of two of its name, and none of those that do not verify it', async () => {
    const old = await createCa({ commonName: 'Cloud', notAfter: new Date(realClock.wall().getTime() + 5 * DAY_MS) });
    const next = await createCa({ commonName: 'Cloud' });
    const other = await createCa({ commonName: 'Other', notAfter: new Date(realClock.wall().getTime() + DAY_MS) });
    const found = brokerCaOf(await sentBy(next), `${old.caPem}${other.caPem}${next.caPem}`);
    expect(found?.fingerprintSha256).toBe(certificatesOf(next.caPem)?.[0]?.fingerprint256);
    expect(brokerCaOf(await sentBy(next), other.caPem)).toBeNull();
    expect(brokerCaOf(await sentBy(next), 'system')).toBeNull();
    expect(brokerCaOf([], next.caPem)).toBeNull();
  });

  it('is named by its end, whatever the clock says', { tags: 'property' }, () => {
    const ca = {
      subject: 'CN=x',
      issuer: 'CN=x',
      notBefore: '',
      notAfter: inDays(0).toISOString(),
      fingerprintSha256: '',
    };
    fc.assert(
      fc.property(fc.integer({ min: -400, max: 400 }), (days) => {
        const trouble = brokerCaTrouble(ca, true, inDays(-days));
        expect(trouble !== null).toBe(days <= 30);
        if (trouble !== null) expect(trouble.detail).toContain(days < 0 ? 'expired at' : 'ends at');
      }),
      { numRuns: runs(100) },
    );
  });
});
