/**
 * Turns results into documents for others: JUnit XML for a CI, Markdown and JSON of a checklist's run, and, as one
 * model that is written as HTML, PDF or Markdown in German or English, the request to the IT of a customer and the
 * record of a checklist. Whatever text they hold stays text.
 */
export type { DocumentModel, Language } from './document.ts';
export { toJson } from './json.ts';
export { recordToJUnit, toJUnit } from './junit.ts';
export { toMarkdown } from './markdown.ts';
export { networkRequestFacts } from './network/facts.ts';
export { networkRequestLetter } from './network/letter.ts';
export { type NetworkRequestFacts, networkRequestFactsSchema } from './network-request.result.ts';
export { recordDocument } from './record/document.ts';
export { type SignatureState, signatureState, type Verdict, verdictOf } from './record/judgement.ts';
export { type DocumentFormat, type WrittenDocument, writeDocumentAs } from './write.ts';
