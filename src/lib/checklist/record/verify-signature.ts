import type { X509Certificate } from 'node:crypto';
import { commonNameOf } from '../../x509/index.ts';
import type { CheckRecord, VerificationFinding } from '../record.result.ts';
import { isSignedBy, readCertificates } from './signature.ts';

/** Adds a finding. */
export type AddFinding = (
  id: VerificationFinding['id'],
  verdict: VerificationFinding['verdict'],
  detail: string,
) => void;

export interface SignatureOptions {
  /** The robot that must have signed. */
  readonly expectedSerial?: string;
  /** CA certificates (PEM), one of which must have issued the device certificate. */
  readonly caPem?: string;
}

/** Findings on the signer of a record: signature, certificate, validity, chain, expected-serial. */
export function checkSignature(record: CheckRecord, options: SignatureOptions, add: AddFinding): void {
  try {
    checkSigned(record, options, add);
  } catch {
    // The library's error text about a corrupt certificate does not help the user.
    add('certificate', 'wrong', 'The certificate is corrupt.');
  }
}

function checkSigned(record: CheckRecord, { expectedSerial, caPem }: SignatureOptions, add: AddFinding): void {
  const { signature } = record;
  if (signature === null) {
    add('signature', 'not-checked', 'The record is not signed by a device.');
    if (expectedSerial !== undefined) add('expected-serial', 'not-checked', 'The record is not signed.');
    return;
  }
  const certificates = certificatesOf(signature.certificate) ?? [];
  const [leaf] = certificates;
  if (!leaf || certificates.map(String).join('') !== signature.certificate) {
    add('signature', 'wrong', 'No certificate for the signing key.');
    add('certificate', 'wrong', 'The certificate field holds no certificate.');
    return;
  }
  if (isSignedBy(record, leaf)) add('signature', 'ok', `signed with the key of ${signature.serial}`);
  else add('signature', 'wrong', 'The signature does not match the content.');

  checkCertificate(record, leaf, add);
  checkValidity(record, certificates, add);
  checkChain(certificates, caPem, add);
  if (expectedSerial !== undefined) {
    const isExpected = signature.serial === expectedSerial && commonNameOf(leaf) === expectedSerial;
    add('expected-serial', isExpected ? 'ok' : 'wrong', `expected ${expectedSerial}, found ${signature.serial}`);
  }
}

/** Undefined when one is invalid or has an unsupported key. */
function certificatesOf(pem: string): readonly X509Certificate[] | undefined {
  try {
    const certificates = readCertificates(pem);
    // The library decodes the key on first access, and throws then.
    for (const certificate of certificates) certificate.publicKey;
    return certificates;
  } catch {
    return undefined;
  }
}

function checkCertificate({ signature, robots }: CheckRecord, leaf: X509Certificate, add: AddFinding): void {
  const named = commonNameOf(leaf);
  const serial = signature?.serial ?? '';
  if (named === undefined) add('certificate', 'wrong', 'The certificate does not name exactly one device.');
  else if (named !== serial) add('certificate', 'wrong', `The certificate belongs to ${named}, not to ${serial}.`);
  else if (!robots.some((robot) => robot.serial === named)) {
    add('certificate', 'wrong', `Signed by ${named}, which is not a robot of this record.`);
  } else add('certificate', 'ok', `${named}, fingerprint ${leaf.fingerprint256}`);
}

function checkValidity(
  { startedAt, endedAt }: CheckRecord,
  certificates: readonly X509Certificate[],
  add: AddFinding,
): void {
  const [from, to] = [Date.parse(startedAt), Date.parse(endedAt)];
  const [leaf] = certificates;
  const valid = certificates.every(({ validFromDate, validToDate }) => {
    return [from, to].every((at) => validFromDate.getTime() <= at && at <= validToDate.getTime());
  });
  const span = `${leaf?.validFromDate.toISOString()} to ${leaf?.validToDate.toISOString()}`;
  add('validity', valid ? 'ok' : 'wrong', `valid from ${span}, used from ${startedAt} to ${endedAt}`);
}

const MAX_CHAIN_CERTIFICATES = 5;

function checkChain(certificates: readonly X509Certificate[], caPem: string | undefined, add: AddFinding): void {
  if (caPem === undefined) {
    add('chain', 'not-checked', 'No CA was given, so the issuer of the certificate is not verified.');
    return;
  }
  const trusted = certificatesOf(caPem);
  if (trusted === undefined) {
    add('chain', 'wrong', 'The CA file holds a certificate that cannot be parsed.');
    return;
  }
  if (trusted.length === 0) {
    add('chain', 'wrong', 'The CA file holds no certificate.');
    return;
  }
  let [at, ...between] = certificates;
  for (let length = 0; at !== undefined && length < MAX_CHAIN_CERTIFICATES; length += 1) {
    const below = at;
    const root = trusted.find((ca) => issued(ca, below));
    if (root) {
      add('chain', 'ok', `issued by ${oneLine(root.subject)}`);
      return;
    }
    at = between.find((ca) => issued(ca, below));
    between = between.filter((ca) => ca !== at);
  }
  add(
    'chain',
    'wrong',
    `Not issued by a given CA; the certificate names the issuer ${oneLine(certificates[0]?.issuer ?? '')}.`,
  );
}

function issued(ca: X509Certificate, certificate: X509Certificate): boolean {
  try {
    return ca.ca && certificate.checkIssued(ca) && certificate.verify(ca.publicKey);
  } catch {
    // The key type does not match the signature.
    return false;
  }
}

/** RFC 4514 order, most specific part first; the library returns encoding order. */
function oneLine(name: string): string {
  return name.split('\n').reverse().join(', ');
}
