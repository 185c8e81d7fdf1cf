import type { ChecklistResult } from '../checklist/index.ts';
import type { DocumentModel } from './document.ts';
import { writeMarkdown } from './document-markdown.ts';
import { writeHtml } from './html.ts';
import { writePdf } from './pdf/write.ts';

export type DocumentFormat = 'md' | 'html' | 'pdf';

/** A document in its form: text, or the bytes of a PDF. */
export interface WrittenDocument {
  readonly content: string | Uint8Array;
  /** null where a form has no pages. */
  readonly pages: number | null;
  /** How many kinds of characters are written otherwise, because no font of the form has them. */
  readonly replacedCharacters: number;
}

/** Writes a document as Markdown, HTML or PDF. */
export async function writeDocumentAs(model: DocumentModel, format: DocumentFormat): Promise<WrittenDocument> {
  if (format === 'pdf') {
    const { bytes, pages, replaced } = await writePdf(model);
    return { content: bytes, pages, replacedCharacters: replaced };
  }
  const content = format === 'html' ? writeHtml(model) : writeMarkdown(model);
  return { content, pages: null, replacedCharacters: 0 };
}

/** The result as a file, with its schema id. */
export function toJson(result: ChecklistResult): string {
  return `${JSON.stringify({ schema: 'gw/checklist-run/1', ...result }, null, 2)}\n`;
}
