import { type Span, spansOf, type Tone, type Words } from '../document.ts';
import { breakLines, type FontName, type Line, type Measure } from './lines.ts';

type PdfDocument = PDFKit.PDFDocument;

/** A4 in points, and what stays free. */
export const page = { width: 595.28, height: 841.89, left: 62, right: 54, top: 48, bottom: 60 } as const;
export const bodyWidth = page.width - page.left - page.right;
export const bodyBottom = page.height - page.bottom;

export const ink = '#14181c';
export const quietInk = '#4d5761';
export const ruleInk = '#c9d0d6';
export const toneInk: Readonly<Record<Tone, string>> = { good: '#00634a', bad: '#b00020', open: '#8a4b00' };
export const toneFill: Readonly<Record<Tone, string>> = { good: '#e8f4f0', bad: '#fdecee', open: '#fdf3e3' };

interface TextStyle {
  readonly size: number;
  readonly bold?: boolean;
  readonly quiet?: boolean;
  readonly color?: string;
}

/** Where a row of lines lies, once it is known on which page. */
interface Placed {
  readonly top: number;
  readonly bottom: number;
}

/** Pages that are written from top to bottom. */
export interface Sheet {
  /** Points from the top of the page where the next block begins. */
  y: number;
  readonly doc: PdfDocument;
  readonly measure: Measure;
  /** A new page, unless this one has that much space left. */
  ensure(height: number): boolean;
  turn(): void;
  /** A horizontal line over the width of the text. */
  rule(y: number, width: number, color: string): void;
  space(height: number): void;
  /** Breaks words into lines of that width. */
  lines(words: Words, width: number, style: TextStyle): Line[];
  /** Writes one line; its baseline follows from the top. */
  line(line: Line, x: number, top: number, style: TextStyle): void;
  /** Writes lines below each other over as many pages as they need; `onPart` sees each part on its page. */
  flow(lines: readonly Line[], x: number, style: TextStyle, onPart?: (part: Placed) => void): void;
}

export const leading = 1.36;

/** `hasInCode`: what the fonts for code lack is set in those for text. */
export function createSheet(doc: PdfDocument, hasInCode: (point: number) => boolean): Sheet {
  const measure = createMeasure(doc);
  const sheet: Sheet = {
    y: page.top,
    doc,
    measure,
    ensure(height) {
      if (sheet.y + height <= bodyBottom || sheet.y <= page.top) return false;
      sheet.turn();
      return true;
    },
    turn() {
      doc.addPage();
      sheet.y = page.top;
    },
    rule(y, width, color) {
      doc
        .lineWidth(width)
        .moveTo(page.left, y)
        .lineTo(page.left + bodyWidth, y)
        .stroke(color);
    },
    space(height) {
      if (sheet.y > page.top) sheet.y += height;
    },
    lines: (words, width, style) => breakLines(withCode(words, hasInCode), width, style, measure),
    line(line, x, top, style) {
      for (const piece of line) {
        const color =
          piece.tone === null ? (style.color ?? (piece.isQuiet || style.quiet ? quietInk : ink)) : toneInk[piece.tone];
        doc
          .font(piece.font)
          .fontSize(style.size)
          .fillColor(color)
          .text(piece.text, x + piece.x, top, { lineBreak: false });
      }
    },
    flow(lines, x, style, onPart) {
      const height = style.size * leading;
      let top = sheet.y;
      for (const line of lines) {
        if (sheet.y + height > bodyBottom && sheet.y > page.top) {
          onPart?.({ top, bottom: sheet.y });
          sheet.turn();
          top = sheet.y;
        }
        sheet.line(line, x, sheet.y, style);
        sheet.y += height;
      }
      onPart?.({ top, bottom: sheet.y });
    },
  };
  return sheet;
}

function withCode(words: Words, hasInCode: (point: number) => boolean): readonly Span[] {
  const isWhole = (text: string) => [...text].every((char) => char === '\n' || hasInCode(char.codePointAt(0) ?? 0));
  return spansOf(words).map((span) => (span.code === true && !isWhole(span.text) ? { ...span, code: false } : span));
}

/** Widths of words with their kerning, each looked up once. */
function createMeasure(doc: PdfDocument): Measure {
  const widths = new Map<FontName, Map<string, number>>();
  return (text, font) => {
    let known = widths.get(font);
    if (known === undefined) {
      known = new Map();
      widths.set(font, known);
    }
    let width = known.get(text);
    if (width === undefined) {
      width = doc.font(font).fontSize(1000).widthOfString(text) / 1000;
      known.set(text, width);
    }
    return width;
  };
}
