import type { CheckRecord, RecordVerification } from '../../checklist/index.ts';
import {
  type DocumentFormat,
  type Language,
  recordDocument,
  recordToJUnit,
  signatureState,
  type WrittenDocument,
  writeDocumentAs,
} from '../../report/index.ts';
import { assertPrintable, writeDocument } from '../document-file.ts';
import type { RecordReport } from './checklist.result.ts';
import { type RecordTrust, unaltered, verifyRecordAt } from './record-file.ts';
import { subjectOf } from './verify.ts';

export interface RecordReportOptions extends RecordTrust {
  readonly path: string;
  readonly lang: Language;
  readonly format: DocumentFormat | 'junit';
  /** Absent: the report is returned; required for PDF. */
  readonly out?: string | undefined;
  readonly force?: boolean;
  /** Folder of the fonts that a PDF embeds. */
  readonly fontsDir: string;
  /** For the properties of a PDF. */
  readonly now: () => Date;
}

/**
 * Renders a report from a record file. The record is verified first, and the report states the result; an altered record
 * is refused. Throws what `verifyRecordAt` throws, RECORD_INVALID, RECORD_ALTERED, FILE_EXISTS.
 */
export async function reportRecord(options: RecordReportOptions): Promise<RecordReport> {
  const { path, lang, format, out, force = false } = options;
  assertPrintable(format, out);
  const verification = await verifyRecordAt(path, options);
  const record = unaltered(path, verification);
  const { content, pages, replacedCharacters } = await documentOf(record, verification, options);
  const about = { path, lang, format, state: signatureState(record, verification), subject: subjectOf(record) };
  if (out === undefined) return { ...about, document: String(content), written: null };
  const bytes = await writeDocument(out, content, { force });
  return { ...about, document: null, written: { path: out, bytes, pages, replacedCharacters } };
}

async function documentOf(
  record: CheckRecord,
  verification: RecordVerification,
  { format, lang, now, fontsDir }: RecordReportOptions,
): Promise<WrittenDocument> {
  if (format === 'junit') {
    return { content: recordToJUnit(record, verification), pages: null, replacedCharacters: 0 };
  }
  return writeDocumentAs(recordDocument(record, verification, { lang, madeAt: now() }), format, fontsDir);
}
