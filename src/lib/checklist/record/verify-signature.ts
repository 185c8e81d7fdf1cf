import { verify, type X509Certificate } from 'node:crypto';
import { certificatesOf, commonNameOf, isIssuedBy } from '../../x509/index.ts';
import { type CheckRecord, SIGNATURE_ALGORITHM, type VerificationFinding } from '../record.result.ts';
import { canonicalText } from './canonical.ts';

/** The key of a device: EC P-256. */
export interface RecordSigner {
  readonly serial: string;
  /** The certificate of the key first, in PEM. */
  readonly certificatePem: string;
  /** ECDSA with SHA-256: `r` and `s`, 32 bytes each (IEEE P1363). */
  sign(bytes: Uint8Array): Uint8Array;
}

/** Signs a record, replacing an earlier signature. Throws RangeError for a signer that is not P-256. */
export function signRecord(record: CheckRecord, signer: RecordSigner): CheckRecord {
  const { serial, certificatePem } = signer;
  // Without the text between the certificates.
  const certificate = certificatesOf(certificatePem)?.map(String).join('');
  if (certificate === undefined) throw new RangeError('The certificate of the signer cannot be read.');
  const head = { algorithm: SIGNATURE_ALGORITHM, serial, certificate } as const;
  const value = withLowS(signer.sign(signedBytes({ ...record, signature: { ...head, value: '' } })));
  return { ...record, signature: { ...head, value: value.toString('base64') } };
}

/** Whether the key of this certificate made the signature of a record, in its only accepted encoding. */
function isSignedBy(record: CheckRecord, { publicKey }: X509Certificate): boolean {
  const text = record.signature?.value ?? '';
  const value = Buffer.from(text, 'base64');
  // Several Base64 texts decode to the same bytes; only the canonical one is accepted.
  const isPlain = value.toString('base64') === text;
  const isP256 = publicKey.asymmetricKeyType === 'ec' && publicKey.asymmetricKeyDetails?.namedCurve === 'prime256v1';
  if (!isPlain || !isP256 || value.byteLength !== 2 * NUMBER_BYTES || !isLowS(value)) return false;
  return verify('sha256', signedBytes(record), { key: publicKey, dsaEncoding: 'ieee-p1363' }, value);
}

/**
 * The signed bytes: the record without `signature.value`, canonicalised by RFC 8785, in UTF-8. They cover algorithm,
 * serial and certificate.
 */
function signedBytes(record: { readonly signature: object | null }): Uint8Array {
  const { value: _, ...signature } = (record.signature ?? {}) as Readonly<Record<string, unknown>>;
  return new TextEncoder().encode(canonicalText({ ...record, signature }));
}

const NUMBER_BYTES = 32;
/** The order of P-256. @source FIPS 186-4, D.1.2.3 */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/**
 * Whether `s` is in its lower half. For every signature there is a second one, with `s` below the order, that fits as
 * well and needs no key to compute; only one of the two is accepted, so that a record has one text.
 */
function isLowS(signature: Uint8Array): boolean {
  return sOf(signature) <= ORDER / 2n;
}

/** Of the two signatures that fit, the one with `s` in its lower half. */
function withLowS(signature: Uint8Array): Buffer {
  if (signature.byteLength !== 2 * NUMBER_BYTES) throw new RangeError('A signature over P-256 is r and s, 64 bytes.');
  if (isLowS(signature)) return Buffer.from(signature);
  const low = (ORDER - sOf(signature)).toString(16).padStart(2 * NUMBER_BYTES, '0');
  return Buffer.concat([signature.subarray(0, NUMBER_BYTES), Buffer.from(low, 'hex')]);
}

function sOf(signature: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(signature.subarray(NUMBER_BYTES)).toString('hex')}`);
}

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
    const root = trusted.find((ca) => isIssuedBy(below, ca));
    if (root) {
      add('chain', 'ok', `issued by ${oneLine(root.subject)}`);
      return;
    }
    at = between.find((ca) => isIssuedBy(below, ca));
    between = between.filter((ca) => ca !== at);
  }
  add(
    'chain',
    'wrong',
    `Not issued by a given CA; the certificate names the issuer ${oneLine(certificates[0]?.issuer ?? '')}.`,
  );
}

/** RFC 4514 order, most specific part first; the library returns encoding order. */
function oneLine(name: string): string {
  return name.split('\n').reverse().join(', ');
}
