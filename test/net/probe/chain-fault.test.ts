import { describe, expect, it } from 'vitest';
import {
  type CertificateAuthority,
  createCa,
  type IssuedPair,
  restoreCa,
} from '../../../src/lib/sim/cloud/certificates.ts';
import { resigned } from './resigned.ts';
import { established, probe, tlsPeerOf } from './world.ts';

const HOST = '127.0.0.1';
const over = { notBefore: new Date('2020-01-01'), notAfter: new Date('2021-02-03T04:05:06Z') };
const root = await createCa({ commonName: 'Cloud Root' });
const issuing = await root.issueCa('Cloud Issuing CA');
const other = await createCa({ commonName: 'Other Root' });
const twin = await createCa({ commonName: 'Cloud Root' });
const expiredRoot = await createCa({ commonName: 'Old Root', ...over });
const expiredIssuing = await root.issueCa('Old Issuing CA', over);
const laterIssuing = await root.issueCa('Later Issuing CA', {
  notBefore: new Date('2090-01-01'),
  notAfter: new Date('2091-01-01'),
});
const leaf = (ca: CertificateAuthority, name = HOST) => ca.issueServer({ names: [name] });
/** The certificate of the server and those that it sends after it. */
const withChain = async (pair: Promise<IssuedPair>, ...above: string[]) => {
  const { keyPem, certificatePem } = await pair;
  return { keyPem, certificatePem: certificatePem + above.join('') };
};
/** A CA whose certificate was made anew, with the same key. */
const changedCa = (ca: CertificateAuthority, change: Parameters<typeof resigned>[2], issuer = root) =>
  restoreCa({ caPem: resigned(ca.caPem, issuer.keyPem, change), keyPem: ca.keyPem });
const version1 = changedCa(issuing, { version1: true });
const bare = changedCa(issuing, { bare: true });
const bareRoot = changedCa(root, { bare: true });
const endless = changedCa(issuing, { end: '991399999999Z' });
const notCa = await root.issueClientPair('A device');
const asCa = restoreCa({ caPem: notCa.certificatePem, keyPem: notCa.keyPem });
const self = restoreCa({ caPem: root.caPem, keyPem: root.keyPem });
const noNames = async () => {
  const pair = await leaf(self);
  return { keyPem: pair.keyPem, certificatePem: resigned(pair.certificatePem, root.keyPem, { bare: true }) };
};
const selfSigned = resigned(root.caPem, root.keyPem, { version1: true });

interface Row {
  readonly title: string;
  readonly server: () => Promise<IssuedPair>;
  readonly trusted: string;
  readonly host?: string;
  readonly code: string;
  readonly addressee: 'customer-it' | 'cloud-operator' | 'yourself';
  readonly says: RegExp;
}

const rows: readonly Row[] = [
  {
    title: 'a proxy that sends its root',
    server: () => withChain(leaf(other), other.caPem),
    trusted: root.caPem,
    ...{ code: 'foreign-root', addressee: 'customer-it' },
    says: /does not end in 'CN=Cloud Root' but in 'CN=Other Root': TLS interception/,
  },
  {
    title: 'a self-signed certificate',
    server: async () => ({ keyPem: other.keyPem, certificatePem: other.caPem }),
    trusted: root.caPem,
    ...{ code: 'self-signed', addressee: 'customer-it' },
    says: /'CN=Other Root' is self-signed, and not 'CN=Cloud Root': TLS interception/,
  },
  {
    title: 'an intermediate missing on the server',
    server: () => leaf(issuing),
    trusted: root.caPem,
    ...{ code: 'issuer-not-sent', addressee: 'cloud-operator' },
    says: /issued by 'CN=Cloud Issuing CA', whose certificate the server did not send/,
  },
  {
    title: 'another intermediate sent than that of the certificate',
    server: async () => withChain(leaf(issuing), (await root.issueCa('Unrelated CA')).caPem),
    trusted: root.caPem,
    ...{ code: 'issuer-not-sent', addressee: 'cloud-operator' },
    says: /issued by 'CN=Cloud Issuing CA'/,
  },
  {
    title: 'a root missing in the file, which holds another one',
    server: () => withChain(leaf(issuing), issuing.caPem),
    trusted: other.caPem,
    ...{ code: 'root-not-trusted', addressee: 'yourself' },
    says: /leads to 'CN=Cloud Issuing CA', issued by 'CN=Cloud Root', .* is not 'CN=Other Root'/,
  },
  {
    title: 'a root missing in the file, which holds the intermediate',
    server: () => withChain(leaf(issuing), issuing.caPem),
    trusted: issuing.caPem + other.caPem,
    ...{ code: 'root-not-in-file', addressee: 'yourself' },
    says: /holds 'CN=Cloud Issuing CA', but not its issuer 'CN=Cloud Root'/,
  },
  {
    title: 'a CA of the same name with another key',
    server: () => withChain(leaf(issuing), issuing.caPem),
    trusted: twin.caPem,
    ...{ code: 'ca-with-other-key', addressee: 'yourself' },
    says: /'CN=Cloud Root', but the CA file holds a CA of that name with another key/,
  },
  {
    title: 'an intermediate of X.509 version 1',
    server: () => withChain(leaf(version1), version1.caPem),
    trusted: root.caPem,
    ...{ code: 'ca-version-1', addressee: 'cloud-operator' },
    says: /'CN=Cloud Issuing CA' that the server sent .* version 1/,
  },
  {
    title: 'an intermediate without basicConstraints',
    server: () => withChain(leaf(bare), bare.caPem),
    trusted: root.caPem,
    ...{ code: 'ca-without-basic-constraints', addressee: 'cloud-operator' },
    says: /it has no basicConstraints/,
  },
  {
    title: 'a root without basicConstraints in the file',
    server: () => leaf(bareRoot),
    trusted: bareRoot.caPem,
    ...{ code: 'ca-without-basic-constraints', addressee: 'cloud-operator' },
    says: /'CN=Cloud Root' of the CA file/,
  },
  {
    title: 'a device certificate that issued another one',
    server: () => withChain(leaf(asCa), asCa.caPem),
    trusted: root.caPem,
    ...{ code: 'ca-without-ca-flag', addressee: 'cloud-operator' },
    says: /'CN=A device' .* CA:FALSE/,
  },
  {
    title: 'an expired intermediate',
    server: () => withChain(leaf(expiredIssuing), expiredIssuing.caPem),
    trusted: root.caPem,
    ...{ code: 'ca-expired', addressee: 'cloud-operator' },
    says: /CA certificate 'CN=Old Issuing CA' above the certificate of the server expired 2021-02-03T04:05:06.000Z/,
  },
  {
    title: 'an expired root in the file',
    server: () => leaf(expiredRoot),
    trusted: expiredRoot.caPem,
    ...{ code: 'ca-expired', addressee: 'yourself' },
    says: /CA certificate 'CN=Old Root' of the CA file expired 2021-02-03T04:05:06.000Z/,
  },
  {
    title: 'an intermediate that is not valid yet',
    server: () => withChain(leaf(laterIssuing), laterIssuing.caPem),
    trusted: root.caPem,
    ...{ code: 'ca-not-yet-valid', addressee: 'cloud-operator' },
    says: /'CN=Later Issuing CA' .* is valid from 2090-01-01T00:00:00.000Z/,
  },
  {
    title: 'an expired certificate of the server',
    server: () => root.issueServer({ names: [HOST], ...over }),
    trusted: root.caPem,
    ...{ code: 'expired', addressee: 'cloud-operator' },
    says: /the certificate expired 2021-02-03T04:05:06.000Z/,
  },
  {
    title: 'a validity that cannot be read',
    server: () => withChain(leaf(endless), endless.caPem),
    trusted: root.caPem,
    ...{ code: 'unreadable-validity', addressee: 'cloud-operator' },
    says: /validity of the certificate 'CN=Cloud Issuing CA' cannot be read/,
  },
  {
    title: 'a certificate for clients',
    server: () => root.issueClientPair(HOST),
    trusted: root.caPem,
    ...{ code: 'not-for-servers', addressee: 'cloud-operator' },
    says: /lacks serverAuth/,
  },
  {
    title: 'a certificate for another name',
    server: () => root.issueServer({ names: ['mqtt.example.com', 'b.example.com'] }),
    trusted: root.caPem,
    host: 'mqtt.example.net',
    ...{ code: 'wrong-name', addressee: 'yourself' },
    says: /for 'mqtt.example.com', 'b.example.com', not for mqtt.example.net/,
  },
  {
    title: 'a wildcard, two labels deep',
    server: () => leaf(root, '*.example.com'),
    trusted: root.caPem,
    host: 'a.b.example.com',
    ...{ code: 'wildcard-mismatch', addressee: 'cloud-operator' },
    says: /'\*\.example\.com' covers exactly one label/,
  },
  {
    title: 'a wildcard, for its domain itself',
    server: () => leaf(root, '*.example.com'),
    trusted: root.caPem,
    host: 'example.com',
    ...{ code: 'wildcard-mismatch', addressee: 'cloud-operator' },
    says: /so not example\.com/,
  },
  {
    title: 'a name where the site file has an address',
    server: () => leaf(root, 'mqtt.example.com'),
    trusted: root.caPem,
    ...{ code: 'address-not-named', addressee: 'yourself' },
    says: /for 'mqtt.example.com', not for the address 127\.0\.0\.1/,
  },
  {
    title: 'another address',
    server: () => leaf(root, '127.0.0.9'),
    trusted: root.caPem,
    ...{ code: 'wrong-name', addressee: 'yourself' },
    says: /for '127\.0\.0\.9', not for 127\.0\.0\.1/,
  },
  {
    title: 'no names at all',
    server: noNames,
    trusted: root.caPem,
    ...{ code: 'no-names', addressee: 'cloud-operator' },
    says: /names no host \(no subjectAltName\)/,
  },
];

describe('a chain that was not verified', () => {
  it.each(rows)('$title: $code, for $addressee', async ({ server, trusted, host = HOST, code, addressee, says }) => {
    const { keyPem, certificatePem } = await server();
    await using peer = await tlsPeerOf({ key: keyPem, cert: certificatePem });
    const { trust, socket } = established(await probe(peer, { trusted, host }));
    socket.destroy();
    expect(trust.kind).not.toBe('trusted');
    expect('fault' in trust ? trust.fault : trust).toMatchObject({
      code,
      addressee,
      detail: expect.stringMatching(says),
    });
    // Only a chain that ends elsewhere is called an interception.
    const isElsewhere = code === 'foreign-root' || code === 'self-signed';
    expect('fault' in trust && /interception/i.test(trust.fault.detail)).toBe(isElsewhere);
  });

  it('is none with a trusted root of X.509 version 1, or a server certificate that is trusted itself', async () => {
    const old = restoreCa({ caPem: selfSigned, keyPem: root.keyPem });
    const pair = await leaf(old);
    await using peer = await tlsPeerOf({ key: pair.keyPem, cert: pair.certificatePem });
    const { trust, socket } = established(await probe(peer, { trusted: old.caPem }));
    socket.destroy();
    expect(trust).toEqual({ kind: 'trusted', by: 'file' });
  });
});
