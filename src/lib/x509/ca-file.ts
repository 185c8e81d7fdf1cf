import { X509Certificate } from 'node:crypto';
import { hasPeriod, isSelfSigned } from './certificate.ts';
import { nameLine } from './view.ts';

/** What a CA file holds. */
export interface CaCertificates {
  /** Each once, in the order of the file; at least one of them is self-signed. */
  readonly certificates: readonly X509Certificate[];
  /** The same ones for TLS: of a file as it is, OpenSSL ignores all that follows a block that it cannot read. */
  readonly pem: string;
  /** What the file holds and gw does not use, a sentence each, without full stop. */
  readonly notes: readonly string[];
}

export type CaReading =
  | ({ readonly ok: true } & CaCertificates)
  /** `problem` follows the name of the file. */
  | { readonly ok: false; readonly problem: string; readonly remedy: string | null };

/** What to do about a block that is no certificate. */
const conversions: Readonly<Record<string, string>> = {
  'TRUSTED CERTIFICATE': 'Convert it, since gw does not apply its trust settings: `openssl x509 -in FILE -out ca.pem`.',
  PKCS7: 'Convert it: `openssl pkcs7 -print_certs -in FILE -out ca.pem`.',
  CMS: 'Convert it: `openssl pkcs7 -print_certs -in FILE -out ca.pem`.',
};
const CERTIFICATE_LABELS = new Set(['CERTIFICATE', 'X509 CERTIFICATE']);
const CRL_LABEL = 'X509 CRL';
const KEY_REMEDY =
  'Remove the private key from the file, which others can read; whoever it belongs to must replace the key and its certificate.';

const refuse = (problem: string, remedy: string | null = null): CaReading => ({ ok: false, problem, remedy });

/**
 * Reads the bytes of a CA file, for every command alike (project decision): PEM with any text around the blocks, in UTF-8 or
 * UTF-16, with any line ends and any number of certificates, or one certificate in DER. Revocation lists are skipped and
 * named. Refused: what is no certificate, a certificate that cannot be read, and a file without a self-signed certificate, with
 * which no chain can be verified.
 */
export function readCaCertificates(bytes: Uint8Array): CaReading {
  const text = textOf(bytes);
  if (text.trim() === '') return refuse('is empty');
  if (!text.includes('-----BEGIN ')) {
    const certificate = certificateOf(bytes);
    if (certificate !== null) return judge([certificate], 0);
    return refuse(
      bytes[0] === 0x30 ? 'is binary, and is not one certificate in DER' : 'holds no certificate',
      bytes[0] === 0x30 ? 'Export the certificates as PEM (Base64).' : null,
    );
  }
  const blocks = blocksOf(text);
  if (typeof blocks === 'string') return refuse(blocks);
  if (blocks.some(({ label }) => label.endsWith('PRIVATE KEY'))) return refuse('holds a private key', KEY_REMEDY);
  const certificates: X509Certificate[] = [];
  let crls = 0;
  for (const { label, body, line } of blocks) {
    if (label === CRL_LABEL) crls += 1;
    else if (!CERTIFICATE_LABELS.has(label)) {
      return refuse(`holds ${JSON.stringify(label)} in line ${line}, not a certificate`, conversions[label]);
    } else {
      const certificate = /^[A-Za-z0-9+/=\s]*$/.test(body) ? certificateOf(Buffer.from(body, 'base64')) : null;
      if (certificate === null) return refuse(`holds a certificate that cannot be read, in line ${line}`);
      certificates.push(certificate);
    }
  }
  if (certificates.length === 0) return refuse('holds no certificate');
  return judge(certificates, crls);
}

function judge(all: readonly X509Certificate[], crls: number): CaReading {
  const certificates = [...new Map(all.map((one) => [one.fingerprint256, one])).values()];
  const roots = certificates.filter(isSelfSigned);
  const [first] = certificates;
  if (roots.length === 0) {
    return refuse(
      `holds no root certificate: ${quotedName(first?.subject)} is issued by ${quotedName(first?.issuer)}, and no certificate in the file is self-signed`,
      'Add the root certificate, the last one of the chain.',
    );
  }
  const notes = [
    ...(crls === 0 ? [] : [`its revocation lists (CRL) are not used: ${crls}`]),
    ...(certificates.some((one) => one.ca || (isSelfSigned(one) && isVersion1(one)))
      ? []
      : ['none of its certificates is a CA certificate: it is trusted as the certificate of a server only']),
  ];
  return { ok: true, certificates, pem: certificates.map(String).join(''), notes };
}

const quotedName = (name: string | undefined) => `'${nameLine(name)}'`;

/** Certificates and keys are ASCII; in the text around them any byte stands for a character. */
function textOf(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer[0] === 0xff && buffer[1] === 0xfe) return new TextDecoder('utf-16le').decode(buffer);
  if (buffer[0] === 0xfe && buffer[1] === 0xff) return new TextDecoder('utf-16be').decode(buffer);
  return buffer.toString('latin1').replace(/^\u00ef\u00bb\u00bf/, '');
}

interface Block {
  readonly label: string;
  readonly body: string;
  /** Of its first line, from 1. */
  readonly line: number;
}

/** The PEM blocks of a text (RFC 7468, with any text between them); a sentence why they cannot be read. */
function blocksOf(text: string): Block[] | string {
  const blocks: Block[] = [];
  let open: { readonly label: string; readonly body: string[]; readonly line: number } | null = null;
  // Files that were joined without a line end between them.
  const lines = text.replaceAll('----------BEGIN ', '-----\n-----BEGIN ').split(/\r\n|\n|\r/);
  for (const [index, raw] of lines.entries()) {
    const line = raw.trim();
    const boundary = /^-----(BEGIN|END) ([^-]{1,64})-----$/.exec(line);
    if (boundary === null) {
      if (!line.startsWith('#') && /-----(BEGIN|END) /.test(line)) return `has a damaged PEM line ${index + 1}`;
      open?.body.push(line);
    } else if (boundary[1] === 'BEGIN') {
      if (open !== null) return `has a block without an end, from line ${open.line}`;
      open = { label: boundary[2] ?? '', body: [], line: index + 1 };
    } else {
      if (open?.label !== boundary[2]) return `has an end without a begin in line ${index + 1}`;
      blocks.push({ label: open?.label ?? '', body: open?.body.join('\n') ?? '', line: open?.line ?? 0 });
      open = null;
    }
  }
  return open === null ? blocks : `has a block without an end, from line ${open.line}`;
}

/** The whole bytes as one certificate whose key and validity can be read; null otherwise. */
function certificateOf(der: Uint8Array): X509Certificate | null {
  try {
    const certificate = new X509Certificate(der);
    // The library decodes the key on first access, and throws then; it ignores bytes that follow.
    certificate.publicKey;
    return certificate.raw.length === der.byteLength && hasPeriod(certificate) ? certificate : null;
  } catch {
    return null;
  }
}

/** X.509 version 1: its tbsCertificate begins without the tag of the version. @source RFC 5280, 4.1 */
export function isVersion1({ raw }: X509Certificate): boolean {
  const afterHeader = (at: number) => at + 2 + ((raw[at + 1] ?? 0) > 0x80 ? (raw[at + 1] ?? 0) & 0x7f : 0);
  return raw[afterHeader(afterHeader(0))] !== 0xa0;
}
