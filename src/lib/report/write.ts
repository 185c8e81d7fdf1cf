import type { ChecklistResult } from '../checklist/index.ts';
import type { DocumentModel, WrittenDocument } from './document.ts';
import { writeMarkdown } from './document-markdown.ts';
import { writeHtml } from './html.ts';
import { writePdf } from './pdf/write.ts';

export type DocumentFormat = 'md' | 'html' | 'pdf';

/** Writes a document as Markdown, HTML or PDF; `fontsDir`: the folder of the fonts that a PDF embeds. */
export async function writeDocumentAs(
  model: DocumentModel,
  format: DocumentFormat,
  fontsDir: string,
): Promise<WrittenDocument> {
  if (format === 'pdf') return await writePdf(model, fontsDir);
  const content = format === 'html' ? writeHtml(model) : writeMarkdown(model);
  return { content, pages: null, replacedCharacters: 0 };
}

/** The result as a file, with its schema id. */
export function toJson(result: ChecklistResult): string {
  return `${JSON.stringify({ schema: 'gw/checklist-run/1', ...result }, null, 2)}\n`;
}
