import { describe, expect, it } from 'vitest';
import { type PathResult, tlsOutcome } from '../../../../src/lib/net/path/index.ts';
import type { TlsProbe, VerifiedBy } from '../../../../src/lib/net/probe/index.ts';
import type { PlannedPath } from '../../../../src/lib/toolkit/network/check/plans.ts';
import { sharedLines } from '../../../../src/lib/toolkit/network/check/shared-lines.ts';

const link = { notBefore: '', notAfter: '', fingerprintSha256: '' };
const path = (host: string, by: VerifiedBy): PathResult<PlannedPath> => {
  const chain = [{ ...link, subject: `CN=${host}`, issuer: 'CN=House Proxy CA' }];
  const tls = { kind: 'established', protocol: 'TLSv1.3', chain, trust: { kind: 'trusted', by }, tookMs: 3 };
  return {
    plan: { id: host, title: host, host, port: 443, need: 'needed', trusted: 'system', application: 'tls' },
    tls: tls as unknown as TlsProbe,
  } as unknown as PathResult<PlannedPath>;
};
const inspection = (...paths: PathResult<PlannedPath>[]) =>
  sharedLines(paths).find(({ id }) => id === 'tls-inspection');

describe('a chain that only the trust list of the system verifies', () => {
  it.each(['system', 'extra'] as const)(
    'is reported with its list (%s), and does not exclude TLS interception',
    (by) => {
      const line = inspection(path('storage.example', 'bundled'), path('tunnel.example', by));
      expect(line?.verdict).toBe('not-checked');
      expect(line?.detail).toContain('tunnel.example:443');
      expect(line?.detail).toContain('CN=House Proxy CA');
      expect(line?.remedy).toContain('caFile');
      const text = { system: "verified with the operating system's list alone", extra: 'NODE_EXTRA_CA_CERTS alone' }[
        by
      ];
      expect(tlsOutcome(path('tunnel.example', by)).detail).toContain(text);
    },
  );

  it('is unambiguous where a file of the site file or the bundled list verified it', () => {
    expect(inspection(path('storage.example', 'bundled'), path('tunnel.example', 'file'))?.verdict).toBe('ok');
    expect(tlsOutcome(path('storage.example', 'bundled')).detail).toContain("verified with Node's bundled list");
  });
});
