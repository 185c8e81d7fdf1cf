import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createCa } from '../../src/lib/sim/cloud/certificates.ts';
import { certificatesOf, viewCertificate } from '../../src/lib/x509/index.ts';

const { caPem } = await createCa({ commonName: 'Device CA' });
const UTC_TIME = Buffer.from([0x17, 0x0d]);

/** With this text in place of the begin or the end of its validity; the signature no longer matches. */
function withTime(field: 'begin' | 'end', text: string): string {
  const der = Buffer.from(new X509Certificate(caPem).raw);
  const begin = der.indexOf(UTC_TIME);
  der.write(text, (field === 'begin' ? begin : der.indexOf(UTC_TIME, begin + 2)) + 2, 'latin1');
  return new X509Certificate(der).toString();
}

describe('a certificate of a PEM text', () => {
  it.each(['991399999999Z', 'abcdefghijklZ', '260230000000Z'])('is none with a validity of %s', (text) => {
    expect(certificatesOf(withTime('begin', text))).toBeUndefined();
    expect(certificatesOf(withTime('end', text))).toBeUndefined();
    expect(certificatesOf(caPem + withTime('end', text))).toBeUndefined();
    expect(viewCertificate(new X509Certificate(withTime('end', text))).notAfter).toBe('unknown');
  });

  it('is one with a time that can be read, whether it is over or not', () => {
    expect(certificatesOf(withTime('end', '200102030405Z'))).toHaveLength(1);
    expect(certificatesOf(withTime('end', '480102030405Z'))).toHaveLength(1);
    expect(viewCertificate(new X509Certificate(withTime('end', '480102030405Z'))).notAfter).toBe(
      '2048-01-02T03:04:05.000Z',
    );
  });
});
