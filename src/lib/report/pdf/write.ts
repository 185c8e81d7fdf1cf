import { visible } from '../../markup/index.ts';
import { mapTexts } from '../../text/index.ts';
import type { Block, DocumentModel, Language, WrittenDocument } from '../document.ts';
import { shown } from '../text.ts';
import { writeBlock } from './blocks.ts';
import { loadFonts } from './fonts.ts';
import { createSheet, page, quietInk, ruleInk } from './sheet.ts';

/** Texts of the output formats: page numbers, replaced characters. */
const frameEn = {
  page: (page: number, of: number) => `Page ${page} of ${of}`,
  replacedFoot: 'some characters are replaced, see the end',
  replacedTitle: 'Replaced characters in this PDF',
  replacedText:
    'The fonts of this PDF have Latin, Greek and Cyrillic letters. These characters of names and remarks are written as their code points; the HTML version and the file itself hold them unchanged:',
  replacedMore: (count: number) => `and ${count} more`,
};

const frameDe: typeof frameEn = {
  page: (page, of) => `Seite ${page} von ${of}`,
  replacedFoot: 'einzelne Zeichen sind ersetzt, siehe Ende',
  replacedTitle: 'Ersetzte Zeichen in diesem PDF',
  replacedText:
    'Die Schriften dieses PDF enthalten lateinische, griechische und kyrillische Buchstaben. Die folgenden Zeichen aus Namen und Bemerkungen sind als Codepunkte geschrieben; in der HTML-Fassung und in der Datei selbst stehen sie unverändert:',
  replacedMore: (count) => `und ${count} weitere`,
};

const frameTexts: Readonly<Record<Language, typeof frameEn>> = { de: frameDe, en: frameEn };

/**
 * What the fonts lack is never dropped silently: it is written as its code point, and each such character is counted, so
 * that the document can say it. Scripts that run from right to left are not among the fonts.
 */
interface CharacterSet {
  /** The text with nothing in it that the fonts cannot show. */
  readonly fit: (text: string) => string;
  /** What was replaced by what so far. */
  readonly replaced: ReadonlyMap<string, string>;
}

/** Spaces and dashes with an equal in the fonts: no information is lost, so no note is printed. */
const equals: Readonly<Record<string, string>> = {
  '\u2002': ' ',
  '\u2003': ' ',
  '\u200a': ' ',
  '\u2010': '-',
  '\u2011': '-',
};

const MAX_REPLACED = 200;

/**
 * The document as a PDF, A4 upright, with page numbers. Its fonts are embedded, and it names nothing outside; characters
 * that these fonts lack are written as code points, and the document says so.
 */
export async function writePdf(model: DocumentModel, fontsDir: string): Promise<WrittenDocument> {
  const [{ default: PDFDocument }, fonts] = await Promise.all([import('pdfkit'), loadFonts(fontsDir)]);
  const texts = frameTexts[model.lang];
  const characters = createCharacterSet(fonts.hasInSans);
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

  for (const [name, file] of fonts.files) doc.registerFont(name, file);
  const sheet = createSheet(doc, fonts.hasInCode);
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

export function createCharacterSet(hasInSans: (point: number) => boolean): CharacterSet {
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
        const plain = char === '\n' || hasInSans(point) ? char : equals[char];
        if (plain !== undefined) {
          flush();
          result += plain;
          continue;
        }
        const code = codeOf(point);
        codes.push(code);
        replaced.set(code, `[${code}]`);
      }
      flush();
      return result;
    },
  };
}

function codeOf(point: number): string {
  return `U+${point.toString(16).toUpperCase().padStart(4, '0')}`;
}

function noteOf(replaced: ReadonlyMap<string, string>, texts: (typeof frameTexts)['en']): Block[] {
  if (replaced.size === 0) return [];
  const items = [...replaced.keys()].slice(0, MAX_REPLACED);
  if (replaced.size > MAX_REPLACED) items.push(texts.replacedMore(replaced.size - MAX_REPLACED));
  return [
    { kind: 'heading', text: texts.replacedTitle, level: 3 },
    { kind: 'paragraph', text: `${texts.replacedText} ${items.join(', ')}.`, quiet: true },
  ];
}

/** The library writes the title into an XML part of the file as it stands, so nothing in it may be markup there. */
function propertyText(text: string): string {
  const instead: Readonly<Record<string, string>> = { '&': '+', '<': '‹', '>': '›' };
  const line = shown(text).replace(/\s+/g, ' ').slice(0, 200).toWellFormed();
  return visible(line).replace(/[&<>]/g, (char) => instead[char] ?? char);
}
