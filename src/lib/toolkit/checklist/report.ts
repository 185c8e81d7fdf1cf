import type { Protocol, ProtocolVerification } from '../../checklist/index.ts';
import {
  type DocumentFormat,
  type Language,
  protocolDocument,
  protocolToJUnit,
  signatureState,
  type WrittenDocument,
  writeDocumentAs,
} from '../../report/index.ts';
import { assertPrintable, writeDocument } from '../document-file.ts';
import { type ProtocolTrust, unaltered, verifyProtocolAt } from './record-file.ts';
import type { ProtocolReport } from './report.result.ts';
import { subjectOf } from './verify.ts';

export interface ProtocolReportOptions extends ProtocolTrust {
  readonly path: string;
  readonly lang: Language;
  readonly format: DocumentFormat | 'junit';
  /** Without it the document is handed back; a PDF needs it. */
  readonly out?: string | undefined;
  readonly force?: boolean;
  /** For the properties of a PDF. */
  readonly now: () => Date;
}

/**
 * Makes a document of a protocol file. It is verified first, and the document says how far; one that was altered gets
 * none. Throws what `verifyProtocolAt` throws, PROTOCOL_INVALID, PROTOCOL_ALTERED, FILE_EXISTS.
 */
export async function reportProtocol(options: ProtocolReportOptions): Promise<ProtocolReport> {
  const { path, lang, format, out, force = false } = options;
  assertPrintable(format, out);
  const verification = await verifyProtocolAt(path, options);
  const protocol = unaltered(path, verification);
  const { content, pages, replacedCharacters } = await documentOf(protocol, verification, options);
  const about = { path, lang, format, state: signatureState(protocol, verification), subject: subjectOf(protocol) };
  if (out === undefined) return { ...about, document: String(content), written: null };
  const bytes = await writeDocument(out, content, { force });
  return { ...about, document: null, written: { path: out, bytes, pages, replacedCharacters } };
}

async function documentOf(
  protocol: Protocol,
  verification: ProtocolVerification,
  { format, lang, now }: ProtocolReportOptions,
): Promise<WrittenDocument> {
  if (format === 'junit') {
    return { content: protocolToJUnit(protocol, verification), pages: null, replacedCharacters: 0 };
  }
  return writeDocumentAs(protocolDocument(protocol, verification, { lang, madeAt: now() }), format);
}
