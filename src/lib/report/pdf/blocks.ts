import type { Block, Tone } from '../document.ts';
import {
  bodyBottom,
  bodyWidth,
  ink,
  leading,
  page,
  quietInk,
  ruleInk,
  type Sheet,
  toneFill,
  toneInk,
} from './sheet.ts';
import { writeTable } from './table.ts';

const body = { size: 9.8 } as const;
const labelWidth = 118;
/** Of a short paragraph and the places for signatures. */
const signedHeight = 112;

/** Writes one block below what stands on the sheet. */
export function writeBlock(sheet: Sheet, block: Block): void {
  switch (block.kind) {
    case 'title':
      writeTitle(sheet, block);
      break;
    case 'heading':
      writeHeading(sheet, block);
      break;
    case 'paragraph':
      sheet.flow(sheet.lines(block.text, bodyWidth, style(block.quiet)), page.left, style(block.quiet));
      sheet.space(5);
      break;
    case 'list':
      writeList(sheet, block);
      break;
    case 'table':
      writeTable(sheet, block);
      break;
    case 'facts':
      writeRows(sheet, block.rows, page.left, bodyWidth);
      sheet.space(6);
      break;
    case 'banner':
      writeBanner(sheet, block);
      break;
    case 'figures':
      writeFigures(sheet, block);
      break;
    case 'letterhead':
      writeLetterhead(sheet, block);
      break;
    case 'card':
      writeCard(sheet, block);
      break;
    case 'signatures':
      writeSignatures(sheet, block);
      break;
    case 'page-break':
      if (sheet.y > page.top) sheet.turn();
      break;
  }
}

function style(quiet = false) {
  return quiet ? { size: 8.5, quiet } : body;
}

type Of<K extends Block['kind']> = Extract<Block, { kind: K }>;

function writeTitle(sheet: Sheet, { text, above, isSubject = false }: Of<'title'>): void {
  if (above !== undefined) {
    const small = { size: 9, quiet: true };
    sheet.flow(sheet.lines(above, bodyWidth, small), page.left, small);
    sheet.y += 1;
  }
  const large = { size: isSubject || text.length > 60 ? 12.5 : 17, bold: true };
  sheet.flow(sheet.lines(text, bodyWidth, large), page.left, large);
  sheet.y += 6;
}

function writeHeading(sheet: Sheet, { text, level = 2, tone, isKept = false }: Of<'heading'>): void {
  const words = tone === undefined ? text : [{ text, tone }];
  const size = { size: level === 2 ? 12 : 10, bold: true };
  const lines = sheet.lines(words, bodyWidth, size);
  sheet.space(level === 2 ? 9 : 5);
  // A heading alone at the foot of a page is of no use.
  sheet.ensure(lines.length * size.size * leading + (isKept ? signedHeight : level === 2 ? 64 : 48));
  sheet.flow(lines, page.left, size);
  if (level === 2) {
    sheet.rule(sheet.y + 1, 0.8, tone === undefined ? ink : toneInk[tone]);
    sheet.y += 3;
  }
  sheet.y += 2.5;
}

function writeList(sheet: Sheet, { items, ordered = false }: Of<'list'>): void {
  for (const [at, item] of items.entries()) {
    sheet.ensure(body.size * leading);
    const mark = sheet.lines(ordered ? `${at + 1}.` : '•', 20, body)[0] ?? [];
    const lines = sheet.lines(item, bodyWidth - 18, body);
    sheet.line(mark, page.left + 2, sheet.y, body);
    sheet.flow(lines, page.left + 18, body);
    sheet.y += 2;
  }
  sheet.space(4);
}

/** Words on the left, values on the right; both may be long. */
function writeRows(
  sheet: Sheet,
  rows: readonly (readonly [string, Parameters<Sheet['lines']>[0]])[],
  left: number,
  width: number,
  onPart?: (part: { top: number; bottom: number }) => void,
): void {
  for (const [label, value] of rows) {
    const quiet = { size: 8.5, quiet: true };
    const labels = sheet.lines(label, labelWidth - 8, quiet);
    const values = sheet.lines(value, width - labelWidth, body);
    sheet.ensure(Math.min(labels.length, 4) * body.size * leading);
    const top = sheet.y;
    // A label is a short text of gw, so it fits beside the first lines of its value.
    for (const [at, line] of labels.slice(0, 4).entries()) {
      sheet.line(line, left, top + 0.8 + at * body.size * leading, quiet);
    }
    const isOnePage = top + values.length * body.size * leading <= bodyBottom;
    sheet.flow(values, left + labelWidth, body, onPart);
    if (isOnePage) {
      const least = top + Math.min(labels.length, 4) * body.size * leading;
      if (sheet.y < least) {
        onPart?.({ top: sheet.y, bottom: least });
        sheet.y = least;
      }
    }
    onPart?.({ top: sheet.y, bottom: sheet.y + 1.5 });
    sheet.y += 1.5;
  }
}

function writeBanner(sheet: Sheet, { tone, title, lines }: Of<'banner'>): void {
  const inner = bodyWidth - 26;
  const head = { size: 13.5, bold: true, color: toneInk[tone] };
  const titleLines = sheet.lines(title, inner, head);
  const rows = lines.flatMap((words) => sheet.lines(words, inner, body));
  const height = titleLines.length * head.size * leading + rows.length * body.size * leading + 16;
  const part = edge(sheet, tone);
  if (height > bodyBottom - page.top) {
    sheet.flow(titleLines, page.left + 14, head, part);
    sheet.flow(rows, page.left + 14, body, part);
    sheet.space(8);
    return;
  }
  sheet.ensure(height);
  const { doc } = sheet;
  doc.rect(page.left, sheet.y, bodyWidth, height).fill(toneFill[tone]);
  doc.rect(page.left, sheet.y, 5, height).fill(toneInk[tone]);
  sheet.y += 7;
  sheet.flow(titleLines, page.left + 16, head);
  sheet.flow(rows, page.left + 16, body);
  sheet.y += 9 + 6;
}

function writeFigures(sheet: Sheet, { cells }: Of<'figures'>): void {
  const gap = 8;
  const width = (bodyWidth - gap * (cells.length - 1)) / Math.max(1, cells.length);
  const small = { size: 8, quiet: true };
  const labels = cells.map(({ label }) => sheet.lines(label, width - 14, small).slice(0, 3));
  const height = 33 + Math.max(1, ...labels.map((lines) => lines.length)) * small.size * leading;
  sheet.ensure(height);
  for (const [at, { value, tone }] of cells.entries()) {
    const x = page.left + at * (width + gap);
    const color = tone === null ? quietInk : toneInk[tone];
    const large = { size: 17, bold: true, color };
    sheet.doc.lineWidth(0.8).rect(x, sheet.y, width, height).stroke(ruleInk);
    sheet.doc.rect(x, sheet.y, width, 2.5).fill(color);
    sheet.line(sheet.lines(value, width - 14, large)[0] ?? [], x + 7, sheet.y + 8, large);
    for (const [row, line] of (labels[at] ?? []).entries()) {
      sheet.line(line, x + 7, sheet.y + 28 + row * small.size * leading, small);
    }
  }
  sheet.y += height + 9;
}

/** The addressee stands where the window of an envelope is, the sender beside it. */
function writeLetterhead(sheet: Sheet, { from, to, place }: Of<'letterhead'>): void {
  const leftWidth = 245;
  const rightX = page.left + 275;
  const rightWidth = bodyWidth - 275;
  const small = { size: 8.5 };
  const toLines = to.flatMap((words) => sheet.lines(words, leftWidth, body));
  const fromLines = from.flatMap((words) => sheet.lines(words, rightWidth, small));
  const height = Math.max(
    40 + Math.min(20, toLines.length) * body.size * leading,
    Math.min(20, fromLines.length) * small.size * leading,
    96,
  );
  sheet.y = Math.max(sheet.y, 72);
  sheet.ensure(height + 8 + body.size * leading);
  const top = sheet.y;
  for (const [at, line] of toLines.slice(0, 20).entries()) {
    sheet.line(line, page.left, top + 40 + at * body.size * leading, body);
  }
  for (const [at, line] of fromLines.slice(0, 20).entries()) {
    sheet.line(line, rightX, top + at * small.size * leading, small);
  }
  sheet.y = top + height + 8;
  sheet.line(sheet.lines(place, rightWidth, body)[0] ?? [], rightX, sheet.y, body);
  sheet.y += body.size * leading + 16;
}

function writeCard(sheet: Sheet, { tone, title, mark, rows }: Of<'card'>): void {
  const inner = bodyWidth - 12;
  const head = { size: 10, bold: true };
  const part = edge(sheet, tone);
  const titleLines = sheet.lines([{ text: `${mark}  `, tone }, title], inner, head);
  sheet.ensure(titleLines.length * head.size * leading + 3 * body.size * leading);
  sheet.flow(titleLines, page.left + 12, head, part);
  writeRows(sheet, rows, page.left + 12, inner, part);
  sheet.space(8);
}

/** The coloured edge beside lines, page by page. */
function edge(sheet: Sheet, tone: Tone): (part: { top: number; bottom: number }) => void {
  return ({ top, bottom }) => {
    if (bottom > top) sheet.doc.rect(page.left, top, 4, bottom - top).fill(toneInk[tone]);
  };
}

function writeSignatures(sheet: Sheet, { places }: Of<'signatures'>): void {
  const gap = 22;
  const width = (bodyWidth - gap * (places.length - 1)) / Math.max(1, places.length);
  const small = { size: 8, quiet: true };
  const bold = { size: 9.5, bold: true };
  const fields = Math.max(1, ...places.map(({ lines }) => lines.length));
  sheet.space(6);
  sheet.ensure(16 + fields * 33);
  // As high as the page allows, and not higher than a hand needs.
  const rowHeight = Math.min(46, Math.max(33, (bodyBottom - sheet.y - 22) / fields));
  const height = 16 + fields * rowHeight;
  const top = sheet.y;
  for (const [at, { role, lines }] of places.entries()) {
    const x = page.left + at * (width + gap);
    sheet.line(sheet.lines(role, width, bold)[0] ?? [], x, top, bold);
    for (const [row, label] of lines.entries()) {
      const y = top + 6 + (row + 1) * rowHeight;
      sheet.doc
        .lineWidth(0.7)
        .moveTo(x, y)
        .lineTo(x + width, y)
        .stroke(ink);
      sheet.line(sheet.lines(label, width, small)[0] ?? [], x, y + 3, small);
    }
  }
  sheet.y = top + height + 6;
}
