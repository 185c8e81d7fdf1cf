import { X509Certificate } from 'node:crypto';
import { createCa } from '../../src/lib/sim/cloud/certificates.ts';

export const root = await createCa({ commonName: 'Root CA' });
const intermediate = await root.issueCa('Issuing CA');
const others = await Promise.all(Array.from({ length: 11 }, (_, index) => createCa({ commonName: `CA ${index}` })));
const server = await root.issueServer({ names: ['127.0.0.1'] });
const der = (pem: string) => Buffer.from(new X509Certificate(pem).raw);
/** A block with this label around the same base64. */
const labelled = (label: string, pem = root.caPem) => pem.replaceAll(/(BEGIN|END) CERTIFICATE/g, `$1 ${label}`);
const bag = `Bag Attributes\n    friendlyName: Größe 1\n    localKeyID: 01\nsubject=CN=Root CA\nissuer=CN=Root CA\n`;
const oldTime = Buffer.from(der(root.caPem));
oldTime.write('991399999999Z', oldTime.indexOf(Buffer.from([0x17, 0x0d])) + 2, 'latin1');

export interface CaFileCase {
  readonly name: string;
  readonly bytes: string | Buffer;
  /** How many certificates are read; null: the file is refused. */
  readonly count: number | null;
  /** In the refusal, or in the notes. */
  readonly says?: RegExp;
}

const of = (name: string, bytes: string | Buffer, count: number | null, says?: RegExp): CaFileCase => ({
  name,
  bytes,
  count,
  ...(says && { says }),
});

/** CA files as they are handed over on site, and what each holds for every command. */
export const caFileCases: readonly CaFileCase[] = [
  of('one certificate', root.caPem, 1),
  of('a comment before it', `# CA of the cloud operator\n${root.caPem}`, 1),
  of('bag attributes, not in UTF-8', Buffer.from(bag + root.caPem, 'latin1'), 1),
  of('the text of `openssl x509 -text`', `Certificate:\n    Data:\n        Version: 3 (0x2)\n${root.caPem}`, 1),
  of('CRLF', root.caPem.replaceAll('\n', '\r\n'), 1),
  of('CR alone', root.caPem.replaceAll('\n', '\r'), 1),
  of('a byte order mark', `\uFEFF${root.caPem}`, 1),
  of('UTF-16 of PowerShell', Buffer.from(`\uFEFF${root.caPem}`, 'utf16le'), 1),
  of('indented', root.caPem.replaceAll(/^(?=.)/gm, '    '), 1),
  of('no line end at the end', root.caPem.trimEnd(), 1),
  of('two files joined without a line end', root.caPem.trimEnd() + (others[0]?.caPem ?? ''), 2),
  of('eleven certificates', others.map(({ caPem }) => caPem).join('\n'), 11),
  of('one twice', root.caPem + root.caPem, 1),
  of('root and intermediate', intermediate.caPem + root.caPem, 2),
  of('a revocation list between', root.caPem + labelled('X509 CRL') + (others[1]?.caPem ?? ''), 2, /CRL/),
  of('the old label', labelled('X509 CERTIFICATE'), 1),
  of('DER', der(root.caPem), 1),
  of('a commented-out certificate', root.caPem.replaceAll(/^(?=.)/gm, '# ') + root.caPem, 1),
  of('empty', '', null, /is empty/),
  of('white space only', ' \r\n\n', null, /is empty/),
  of('no certificate', 'see the mail of Tuesday\n', null, /holds no certificate/),
  of('a trusted certificate', labelled('TRUSTED CERTIFICATE'), null, /TRUSTED CERTIFICATE/),
  of('a private key after the certificate', root.caPem + root.keyPem, null, /holds a private key/),
  of('a private key before the certificate', root.keyPem + root.caPem, null, /holds a private key/),
  of('PKCS#7', labelled('PKCS7'), null, /PKCS7/),
  of(
    'the intermediate certificate only',
    intermediate.caPem,
    null,
    /no root certificate: 'CN=Issuing CA' .*'CN=Root CA'/,
  ),
  of('the certificate of the server only', server.certificatePem, null, /no root certificate/),
  of('a cut certificate', root.caPem.slice(0, 300), null, /a block without an end/),
  of('a cut certificate before a whole one', `${root.caPem.slice(0, 300)}\n${root.caPem}`, null, /without an end/),
  of('a changed certificate', root.caPem.replace('MII', 'AAA') + root.caPem, null, /cannot be read/),
  of(
    'a certificate with a validity that cannot be read',
    new X509Certificate(oldTime).toString(),
    null,
    /cannot be read/,
  ),
  of('DER with bytes after it', Buffer.concat([der(root.caPem), Buffer.from('x')]), null, /not one certificate in DER/),
  of('a damaged boundary', root.caPem.replace('-----END', '----END'), null, /without an end/),
];
