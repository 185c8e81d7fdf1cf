/**
 * Renders reports and letters: JUnit XML, Markdown and JSON of a checklist run, and, from one document model as HTML, PDF
 * or Markdown in German or English, the network request to the customer's IT, the report of a record and that of an audit
 * of the support sessions. Interpolated text stays text.
 */
export { auditDocument, auditInformation, auditTexts, checkText, findingText } from './audit/document.ts';
export type { DocumentModel, Language, WrittenDocument } from './document.ts';
export { toMarkdown } from './document-markdown.ts';
export { recordToJUnit, toJUnit } from './junit.ts';
export { networkRequestFacts } from './network/facts.ts';
export { networkRequestLetter } from './network/letter.ts';
export { networkRequestFactsSchema } from './network-request.result.ts';
export { recordDocument } from './record/document.ts';
export { signatureState, verdictOf } from './record/summary.ts';
export { type DocumentFormat, toJson, writeDocumentAs } from './write.ts';
