import { createPrivateKey, sign, X509Certificate } from 'node:crypto';

/** Tag, length and content of each element of a DER sequence. */
function elementsOf(content: Buffer): Buffer[] {
  const elements: Buffer[] = [];
  for (let at = 0; at < content.length; ) {
    const { end } = contentOf(content, at);
    elements.push(content.subarray(at, end));
    at = end;
  }
  return elements;
}

function contentOf(der: Buffer, at = 0): { readonly content: Buffer; readonly end: number } {
  const first = der[at + 1] ?? 0;
  const bytes = first > 0x80 ? first - 0x80 : 0;
  const from = at + 2 + bytes;
  const end = from + (bytes === 0 ? first : der.readUIntBE(at + 2, bytes));
  return { content: der.subarray(from, end), end };
}

function encoded(tag: number, content: Buffer): Buffer {
  const { length } = content;
  return Buffer.concat([Buffer.from(length < 128 ? [tag, length] : [tag, 0x82, length >> 8, length & 0xff]), content]);
}

const tagIs = (tag: number) => (element: Buffer) => element[0] === tag;

/**
 * The certificate without its version, its extensions, or with another end, signed anew by its issuer (EC P-256): the
 * library of the simulator makes no such certificate.
 */
export function resigned(
  certificatePem: string,
  issuerKeyPem: string,
  change: { readonly version1?: boolean; readonly bare?: boolean; readonly end?: string },
): string {
  const [tbs, algorithm] = elementsOf(contentOf(Buffer.from(new X509Certificate(certificatePem).raw)).content);
  if (tbs === undefined || algorithm === undefined) throw new Error('not a certificate');
  const isKept = (element: Buffer) =>
    !((change.version1 && tagIs(0xa0)(element)) || ((change.version1 || change.bare) && tagIs(0xa3)(element)));
  const fields = elementsOf(contentOf(Buffer.from(tbs)).content).filter(isKept);
  const all = Buffer.concat(fields);
  if (change.end !== undefined) {
    const begin = all.indexOf(Buffer.from([0x17, 0x0d]));
    all.write(change.end, all.indexOf(Buffer.from([0x17, 0x0d]), begin + 2) + 2, 'latin1');
  }
  const body = encoded(0x30, all);
  const signature = sign('sha256', body, createPrivateKey(issuerKeyPem));
  const bits = encoded(0x03, Buffer.concat([Buffer.from([0]), signature]));
  return new X509Certificate(encoded(0x30, Buffer.concat([body, algorithm, bits]))).toString();
}
