import { type Span, spansOf, type Tone, type Words } from '../document.ts';

export type FontName = 'Sans' | 'Sans-Bold' | 'Code' | 'Code-Bold';

/** A piece of one line in one font. */
interface Piece {
  readonly text: string;
  readonly font: FontName;
  readonly tone: Tone | null;
  readonly isQuiet: boolean;
  /** Points from the beginning of the line. */
  readonly x: number;
}

export type Line = readonly Piece[];

/** Width of a word in points at size 1. */
export type Measure = (text: string, font: FontName) => number;

interface Style {
  readonly size: number;
  readonly bold?: boolean;
  readonly quiet?: boolean;
}

/**
 * Breaks words into lines no wider than `width` points: at spaces, and a word that is wider than a
 * line after its dots and dashes, or anywhere.
 * There is always at least one line, and every line has at least one character where the text has one.
 */
export function breakLines(words: Words, width: number, style: Style, measure: Measure): Line[] {
  const lines: Line[] = [];
  let line: Piece[] = [];
  let x = 0;

  const end = () => {
    lines.push(line);
    line = [];
    x = 0;
  };
  const put = (text: string, span: Span, wide: number) => {
    const font = fontOf(span, style);
    const last = line.at(-1);
    const tone = span.tone ?? null;
    const isQuiet = span.quiet ?? style.quiet ?? false;
    if (last !== undefined && last.font === font && last.tone === tone && last.isQuiet === isQuiet) {
      line[line.length - 1] = { ...last, text: last.text + text };
    } else if (text !== '') {
      line.push({ text, font, tone, isQuiet, x });
    }
    x += wide;
  };

  for (const span of spansOf(words)) {
    const font = fontOf(span, style);
    const wideOf = (text: string) => measure(text, font) * style.size;
    for (const [at, paragraph] of span.text.split('\n').entries()) {
      if (at > 0) end();
      for (const token of paragraph.match(/ +|[^ ]+/g) ?? []) {
        const wide = wideOf(token);
        if (x + wide <= width) put(token, span, wide);
        else if (token.startsWith(' ')) {
          if (x > 0) end();
        } else if (wide <= width) {
          if (x > 0) end();
          put(token, span, wide);
        } else {
          for (const part of token.split(/(?<=[-./:_@])/)) {
            const partWide = wideOf(part);
            if (x > 0 && x + partWide > width) end();
            if (partWide <= width) {
              put(part, span, partWide);
              continue;
            }
            for (const char of part) {
              const one = wideOf(char);
              if (x > 0 && x + one > width) end();
              put(char, span, one);
            }
          }
        }
      }
    }
  }
  end();
  return lines;
}

function fontOf(span: Span, style: Style): FontName {
  const bold = span.bold === true || style.bold === true;
  if (span.code === true) return bold ? 'Code-Bold' : 'Code';
  return bold ? 'Sans-Bold' : 'Sans';
}
