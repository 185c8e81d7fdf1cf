import { shown } from '../text.ts';

/**
 * The standard fonts of PDF need no file, and have the characters of Windows-1252 only. What stands beyond it is
 * never dropped silently: Latin letters lose their marks, everything else is written as its code point, and each
 * such character is counted, so that the document can say it.
 */
export interface CharacterSet {
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
