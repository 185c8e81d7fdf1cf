import { visible } from '../../markup/index.ts';
import { mapTexts } from '../../text/index.ts';
import type { Block, DocumentModel, Language, WrittenDocument } from '../document.ts';
import { shown } from '../text.ts';
import { writeBlock } from './blocks.ts';
import { createSheet, page, quietInk, ruleInk } from './sheet.ts';

/** Texts of the output formats: page numbers, replaced characters. */
const frameEn = {
  page: (page: number, of: number) => `Page ${page} of ${of}`,
  replacedFoot: 'some characters are replaced, see the end',
  replacedTitle: 'Replaced characters in this PDF',
  replacedText:
    'The fonts of this PDF cover Western European letters only. These characters of names and remarks are replaced; the HTML version and the file itself hold them unchanged.',
  replacedOne: (code: string, shown: string) => `${code}, written as ${shown}`,
  replacedMore: (count: number) => `and ${count} more`,
};

const frameDe: typeof frameEn = {
  page: (page, of) => `Seite ${page} von ${of}`,
  replacedFoot: 'einzelne Zeichen sind ersetzt, siehe Ende',
  replacedTitle: 'Ersetzte Zeichen in diesem PDF',
  replacedText:
    'Die Schriften dieses PDF enthalten nur die Buchstaben westeuropäischer Sprachen. Die folgenden Zeichen aus Namen und Bemerkungen sind deshalb ersetzt; in der HTML-Fassung und in der Datei selbst stehen sie unverändert.',
  replacedOne: (code, shown) => `${code}, geschrieben als ${shown}`,
  replacedMore: (count) => `und ${count} weitere`,
};

const frameTexts: Readonly<Record<Language, typeof frameEn>> = { de: frameDe, en: frameEn };

/**
 * The standard fonts of PDF need no file, and have the characters of Windows-1252 only. What stands beyond it is
 * never dropped silently: Latin letters lose their marks, everything else is written as its code point, and each
 * such character is counted, so that the document can say it.
 */
interface CharacterSet {
  /** The text with nothing in it that the fonts cannot show. */
  readonly fit: (text: string) => string;
  /** What was replaced by what so far. */
  readonly replaced: ReadonlyMap<string, string>;
}

const beyondLatin1 = '€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ';
const showable = new Set([
  ...range(0x20, 0x7e),
  ...range(0xa0, 0xff),
  ...[...beyondLatin1].map((char) => char.codePointAt(0) ?? 0),
]);

/** Spaces, dashes, arrows and signs with an equal in the fonts: no information is lost, so no note is printed. */
const equals: Readonly<Record<string, string>> = {
  '\u2002': ' ',
  '\u2003': ' ',
  '\u2009': ' ',
  '\u200a': ' ',
  '\u202f': ' ',
  '\u2010': '-',
  '\u2011': '-',
  '\u2012': '–',
  '\u2212': '-',
  '→': '->',
  '←': '<-',
  '≤': '<=',
  '≥': '>=',
  '≠': '!=',
  '≈': '~',
  Ω: 'Ohm',
  π: 'pi',
};

/** Letters that Unicode does not decompose into base letter and mark. */
const letters: Readonly<Record<string, string>> = { ł: 'l', Ł: 'L', đ: 'd', Đ: 'D', ħ: 'h', Ħ: 'H', ı: 'i', ŧ: 't' };

export function createCharacterSet(): CharacterSet {
  const replaced = new Map<string, string>();
  return {
    replaced,
    fit(text) {
      let result = '';
      let codes: string[] = [];
      const flush = () => {
        if (codes.length > 0) result += `[${codes.join(' ')}]`;
        codes = [];
      };
      for (const char of shown(text).normalize('NFC')) {
        const point = char.codePointAt(0) ?? 0;
        const plain = char === '\n' || showable.has(point) ? char : equals[char];
        if (plain !== undefined) {
          flush();
          result += plain;
          continue;
        }
        const letter = letters[char] ?? baseOf(char);
        const code = codeOf(point);
        if (letter !== undefined) flush();
        if (letter !== undefined) result += letter;
        else codes.push(code);
        replaced.set(code, letter ?? `[${code}]`);
      }
      flush();
      return result;
    },
  };
}

function baseOf(char: string): string | undefined {
  const [base = '', ...marks] = char.normalize('NFD');
  const isMarked = marks.length > 0 && marks.every((mark) => /^\p{M}$/u.test(mark));
  return isMarked && showable.has(base.codePointAt(0) ?? 0) ? base : undefined;
}

function codeOf(point: number): string {
  return `U+${point.toString(16).toUpperCase().padStart(4, '0')}`;
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}

const MAX_REPLACED = 200;

/**
 * The document as a PDF, A4 upright, with page numbers. It uses the standard fonts that every reader has, embeds
 * nothing and names nothing outside; characters these fonts lack are written otherwise, and the document says so.
 */
export async function writePdf(model: DocumentModel): Promise<WrittenDocument> {
  const { default: PDFDocument } = await import('pdfkit');
  const texts = frameTexts[model.lang];
  const characters = createCharacterSet();
  const footerText = characters.fit(model.footer);
  // The names of blocks and tones stay as they are.
  const blocks = mapTexts(model.blocks, characters.fit);
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
  for (const block of [...blocks, ...note]) writeBlock(sheet, block);

  const { count } = doc.bufferedPageRange();
  const foot = { size: 7.5, color: quietInk };
  const footer = note.length === 0 ? footerText : `${footerText} · ${characters.fit(texts.replacedFoot)}`;
  for (let at = 0; at < count; at += 1) {
    doc.switchToPage(at);
    const y = page.height - 44;
    sheet.rule(y, 0.5, ruleInk);
    const number = sheet.lines(texts.page(at + 1, count), 100, foot)[0] ?? [];
    const width = number.reduce((sum, { text, font }) => sum + sheet.measure(text, font) * foot.size, 0);
    sheet.line(number, page.width - page.right - width, y + 6, foot);
    const lines = sheet.lines(footer, page.width - page.left - page.right - width - 20, foot).slice(0, 2);
    for (const [row, line] of lines.entries()) sheet.line(line, page.left, y + 6 + row * 9, foot);
  }
  doc.end();
  await ended;
  return { content: Buffer.concat(chunks), pages: count, replacedCharacters: characters.replaced.size };
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
