import { visible } from '../../markup/index.ts';
import { type Block, type DocumentModel, spansOf, type Words } from '../document.ts';
import { shown } from '../text.ts';
import { frameTexts } from '../texts/frame.ts';
import { writeBlock } from './blocks.ts';
import { createCharacterSet } from './characters.ts';
import { createSheet, page, quietInk, ruleInk } from './sheet.ts';

const MAX_REPLACED = 200;

export interface PdfFile {
  readonly bytes: Uint8Array;
  readonly pages: number;
  /** Characters that no font of it has, and that are therefore written otherwise. */
  readonly replaced: number;
}

/**
 * The document as a PDF, A4 upright, with page numbers. It uses the standard fonts that every reader has, embeds
 * nothing and names nothing outside; characters these fonts lack are written otherwise, and the document says so.
 */
export async function writePdf(model: DocumentModel): Promise<PdfFile> {
  const { default: PDFDocument } = await import('pdfkit');
  const texts = frameTexts[model.lang];
  const characters = createCharacterSet();
  const fitted = fitDocument(model, characters.fit);
  const note = noteOf(characters.replaced, texts);

  const doc = new PDFDocument({
    size: 'A4',
    // Nothing but our own cursor may break a page.
    margins: { top: 0, bottom: 0, left: 0, right: 0 },
    autoFirstPage: true,
    bufferPages: true,
    lang: model.lang,
    displayTitle: true,
    pdfVersion: '1.7',
    info: { Title: propertyText(model.title), Creator: 'gw', Producer: 'gw', CreationDate: model.madeAt },
  });
  const chunks: Buffer[] = [];
  doc.on('data', (chunk: Buffer) => chunks.push(chunk));
  const ended = new Promise<void>((resolve, reject) => {
    doc.once('end', resolve);
    doc.once('error', reject);
  });

  const sheet = createSheet(doc);
  for (const block of [...fitted.blocks, ...note]) writeBlock(sheet, block);

  const { count } = doc.bufferedPageRange();
  const foot = { size: 7.5, color: quietInk };
  const footer = note.length === 0 ? fitted.footer : `${fitted.footer} · ${characters.fit(texts.replacedFoot)}`;
  for (let at = 0; at < count; at += 1) {
    doc.switchToPage(at);
    const y = page.height - 44;
    doc
      .lineWidth(0.5)
      .moveTo(page.left, y)
      .lineTo(page.width - page.right, y)
      .stroke(ruleInk);
    const number = sheet.lines(texts.page(at + 1, count), 100, foot)[0] ?? [];
    const width = number.reduce((sum, { text, font }) => sum + sheet.measure(text, font) * foot.size, 0);
    sheet.line(number, page.width - page.right - width, y + 6, foot);
    const lines = sheet.lines(footer, page.width - page.left - page.right - width - 20, foot).slice(0, 2);
    for (const [row, line] of lines.entries()) sheet.line(line, page.left, y + 6 + row * 9, foot);
  }
  doc.end();
  await ended;
  return { bytes: Buffer.concat(chunks), pages: count, replaced: characters.replaced.size };
}

function noteOf(replaced: ReadonlyMap<string, string>, texts: (typeof frameTexts)['en']): Block[] {
  if (replaced.size === 0) return [];
  const items = [...replaced].slice(0, MAX_REPLACED).map(([code, text]) => texts.replacedOne(code, text));
  if (replaced.size > MAX_REPLACED) items.push(texts.replacedMore(replaced.size - MAX_REPLACED));
  return [
    { kind: 'heading', text: texts.replacedTitle, level: 3 },
    { kind: 'paragraph', text: `${texts.replacedText} ${items.join('; ')}.`, quiet: true },
  ];
}

/** The library writes the title into an XML part of the file as it stands, so nothing in it may be markup there. */
function propertyText(text: string): string {
  const instead: Readonly<Record<string, string>> = { '&': '+', '<': '‹', '>': '›' };
  const line = shown(text).replace(/\s+/g, ' ').slice(0, 200).toWellFormed();
  return visible(line).replace(/[&<>]/g, (char) => instead[char] ?? char);
}

/** The same document with every text passed through `showable`. */
function fitDocument(model: DocumentModel, showable: (text: string) => string): DocumentModel {
  const words = (text: Words): Words => spansOf(text).map((span) => ({ ...span, text: showable(span.text) }));
  const rows = (all: readonly (readonly [string, Words])[]) =>
    all.map(([label, value]) => [showable(label), words(value)] as const);

  function block(one: Block): Block {
    switch (one.kind) {
      case 'title':
        return { ...one, text: showable(one.text), ...(one.above !== undefined && { above: showable(one.above) }) };
      case 'heading':
        return { ...one, text: showable(one.text) };
      case 'paragraph':
        return { ...one, text: words(one.text) };
      case 'list':
        return { ...one, items: one.items.map(words) };
      case 'table':
        return {
          ...one,
          columns: one.columns.map((column) => ({ ...column, title: showable(column.title) })),
          rows: one.rows.map((row) => ({ ...row, cells: row.cells.map(words) })),
        };
      case 'facts':
        return { ...one, rows: rows(one.rows) };
      case 'banner':
        return { ...one, title: showable(one.title), lines: one.lines.map(words) };
      case 'figures':
        return {
          ...one,
          cells: one.cells.map((cell) => ({ ...cell, value: showable(cell.value), label: showable(cell.label) })),
        };
      case 'letterhead':
        return { ...one, from: one.from.map(words), to: one.to.map(words), place: showable(one.place) };
      case 'card':
        return { ...one, title: showable(one.title), mark: showable(one.mark), rows: rows(one.rows) };
      case 'signatures':
        return {
          ...one,
          places: one.places.map(({ role, lines }) => ({ role: showable(role), lines: lines.map(showable) })),
        };
      case 'page-break':
        return one;
    }
  }
  return { ...model, footer: showable(model.footer), blocks: model.blocks.map(block) };
}
