import type { X509Certificate } from 'node:crypto';
import type { CheckRecord, VerificationFinding } from './record.result.ts';
import { isSignedBy, readCertificates } from './signature.ts';

/** Tells a finding, by its id. */
export type Say = (id: VerificationFinding['id'], verdict: VerificationFinding['verdict'], detail: string) => void;

export interface SignatureOptions {
  /** The robot that must have signed. */
  readonly expectedSerial?: string;
  /** Certificates (PEM) of the authority that must have issued the certificate of the device. */
  readonly caPem?: string;
}

/** Who signed a record, and what is known of that: signature, certificate, validity, chain, expected-serial. */
export function checkSignature(record: CheckRecord, options: SignatureOptions, say: Say): void {
  try {
    checkSigned(record, options, say);
  } catch {
    // What a damaged certificate makes the library throw is not for a person to read.
    say('certificate', 'wrong', 'The certificate is damaged.');
  }
}

function checkSigned(record: CheckRecord, { expectedSerial, caPem }: SignatureOptions, say: Say): void {
  const { signature } = record;
  if (signature === null) {
    say('signature', 'not-checked', 'It is not signed: no device vouches for it.');
    if (expectedSerial !== undefined) say('expected-serial', 'not-checked', 'Nobody signed it.');
    return;
  }
  const certificates = certificatesOf(signature.certificate) ?? [];
  const [leaf] = certificates;
  if (!leaf || certificates.map(String).join('') !== signature.certificate) {
    say('signature', 'wrong', 'There is no certificate with the key that made it.');
    say('certificate', 'wrong', 'What stands in place of the certificate is none.');
    return;
  }
  if (isSignedBy(record, leaf)) say('signature', 'ok', `signed with the key of ${signature.serial}`);
  else say('signature', 'wrong', 'The signature does not fit the content: the file is not what was signed.');

  checkCertificate(record, leaf, say);
  checkValidity(record, certificates, say);
  checkChain(certificates, caPem, say);
  if (expectedSerial !== undefined) {
    const isExpected = signature.serial === expectedSerial && commonName(leaf) === expectedSerial;
    say('expected-serial', isExpected ? 'ok' : 'wrong', `expected ${expectedSerial}, found ${signature.serial}`);
  }
}

/** Undefined when one of them is none, or holds a key that the library cannot read. */
function certificatesOf(pem: string): readonly X509Certificate[] | undefined {
  try {
    const certificates = readCertificates(pem);
    // The library decodes the key only when it is asked for, and throws then.
    for (const certificate of certificates) certificate.publicKey;
    return certificates;
  } catch {
    return undefined;
  }
}

function checkCertificate({ signature, robots }: CheckRecord, leaf: X509Certificate, say: Say): void {
  const named = commonName(leaf);
  const serial = signature?.serial ?? '';
  if (named === undefined) say('certificate', 'wrong', 'The certificate does not name exactly one device.');
  else if (named !== serial) say('certificate', 'wrong', `The certificate belongs to ${named}, not to ${serial}.`);
  else if (!robots.some((robot) => robot.serial === named)) {
    say('certificate', 'wrong', `${named} signed, but the record is not about it.`);
  } else say('certificate', 'ok', `${named}, fingerprint ${leaf.fingerprint256}`);
}

/** The one common name of the subject; undefined when there is none or more than one. */
function commonName(certificate: X509Certificate): string | undefined {
  const { CN: name } = certificate.toLegacyObject().subject ?? {};
  return typeof name === 'string' ? name : undefined;
}

function checkValidity({ startedAt, endedAt }: CheckRecord, certificates: readonly X509Certificate[], say: Say): void {
  const [from, to] = [Date.parse(startedAt), Date.parse(endedAt)];
  const [leaf] = certificates;
  const valid = certificates.every(({ validFromDate, validToDate }) => {
    return [from, to].every((at) => validFromDate.getTime() <= at && at <= validToDate.getTime());
  });
  const span = `${leaf?.validFromDate.toISOString()} to ${leaf?.validToDate.toISOString()}`;
  say('validity', valid ? 'ok' : 'wrong', `valid from ${span}, used from ${startedAt} to ${endedAt}`);
}

const MAX_CHAIN_CERTIFICATES = 5;

function checkChain(certificates: readonly X509Certificate[], caPem: string | undefined, say: Say): void {
  if (caPem === undefined) {
    say('chain', 'not-checked', 'No authority was given, and anybody can make a certificate that names a serial.');
    return;
  }
  const trusted = certificatesOf(caPem);
  if (trusted === undefined) {
    say('chain', 'wrong', 'What was given as the authority holds a certificate that cannot be read.');
    return;
  }
  if (trusted.length === 0) {
    say('chain', 'wrong', 'What was given as the authority holds no certificate.');
    return;
  }
  let [at, ...between] = certificates;
  for (let length = 0; at !== undefined && length < MAX_CHAIN_CERTIFICATES; length += 1) {
    const below = at;
    const root = trusted.find((ca) => issued(ca, below));
    if (root) {
      say('chain', 'ok', `issued by ${oneLine(root.subject)}`);
      return;
    }
    at = between.find((ca) => issued(ca, below));
    between = between.filter((ca) => ca !== at);
  }
  say('chain', 'wrong', `None of the given authorities issued it; it says ${oneLine(certificates[0]?.issuer ?? '')}.`);
}

function issued(ca: X509Certificate, certificate: X509Certificate): boolean {
  try {
    return ca.ca && certificate.checkIssued(ca) && certificate.verify(ca.publicKey);
  } catch {
    // A key of a kind that does not fit the signature.
    return false;
  }
}

/** In the order of RFC 4514, the narrowest part first; the library gives the parts as they are encoded. */
function oneLine(name: string): string {
  return name.split('\n').reverse().join(', ');
}
