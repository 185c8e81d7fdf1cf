import { verify, X509Certificate } from 'node:crypto';
import { type CheckRecord, SIGNATURE_ALGORITHM } from '../record.result.ts';
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
  const { serial } = signer;
  const head = { algorithm: SIGNATURE_ALGORITHM, serial, certificate: plainPem(signer.certificatePem) } as const;
  const value = withLowS(signer.sign(signedBytes({ ...record, signature: { ...head, value: '' } })));
  return { ...record, signature: { ...head, value: value.toString('base64') } };
}

/** Whether the key of this certificate made the signature of a record, in its only accepted encoding. */
export function isSignedBy(record: CheckRecord, { publicKey }: X509Certificate): boolean {
  const text = record.signature?.value ?? '';
  const value = Buffer.from(text, 'base64');
  // Several Base64 texts decode to the same bytes; only the canonical one is accepted.
  const isPlain = value.toString('base64') === text;
  const isP256 = publicKey.asymmetricKeyType === 'ec' && publicKey.asymmetricKeyDetails?.namedCurve === 'prime256v1';
  if (!isPlain || !isP256 || value.byteLength !== 2 * NUMBER_BYTES || !isLowS(value)) return false;
  return verify('sha256', signedBytes(record), { key: publicKey, dsaEncoding: 'ieee-p1363' }, value);
}

/** The certificates of a PEM text, without the text between them. */
function plainPem(pem: string): string {
  return readCertificates(pem).map(String).join('');
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]*-----END CERTIFICATE-----/g;

/** The certificates in a PEM text, in their order. Throws where one is invalid. */
export function readCertificates(pem: string): X509Certificate[] {
  return [...pem.matchAll(CERTIFICATE)].map(([text]) => new X509Certificate(text));
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
