/** A name for people, in any script: one for all languages, or one for each. Keys stay the names for commands and wires. */
export type Title = string | { readonly de: string; readonly en: string };

export function titleIn(title: Title, language: 'de' | 'en'): string {
  return typeof title === 'string' ? title : title[language];
}

/** A name for technicians in the middle of a sentence: with the key, which commands take. */
export function titleAndKey(key: string, title: Title | undefined): string {
  const shown = titleIn(title ?? key, 'en');
  return shown === key ? key : `${isolated(shown)} (${key})`;
}

/** Every form of a title that some page shows. */
export function titleForms(title: Title): readonly string[] {
  return typeof title === 'string' ? [title] : [title.de, title.en];
}

/** Longest title, in UTF-16 code units. Project decision: one line of a tablet's list. */
export const MAX_TITLE_LENGTH = 60;

/** Of format characters only the joiners, which Persian, Indic scripts and emoji need: the others are unseen or turn a line around. */
const NOT_SHOWN = /(?![\u200c\u200d])[\p{C}\p{Zl}\p{Zp}]/u;
/** More marks on one letter run over the lines around it. */
const PILED_MARKS = /\p{M}{5}/u;

/** Why this text is no title, as what is expected instead; null: it is one. */
export function titleProblem(text: string): string | null {
  if (NOT_SHOWN.test(text)) return 'text without control, format and private characters';
  if (PILED_MARKS.test(text)) return 'text with at most four marks on a letter';
  if (text !== text.trim()) return 'text without spaces at its ends';
  return searchText(text) === '' ? 'text with a letter, a digit or a symbol' : null;
}

/**
 * The same for two titles that people cannot distinguish: compatibility forms, case, the digits of all scripts, spaces and
 * unseen characters do not count. Letters of two scripts that look alike do.
 */
export function titleMark(title: string): string {
  return caseless(title.normalize('NFKC'))
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/[\p{Z}\s]+/gu, ' ')
    .trim();
}

/** What a search compares: as `titleMark`, without marks on letters and without the Arabic stretch of a line. */
export function searchText(text: string): string {
  return titleMark(
    caseless(text.normalize('NFKD'))
      .normalize('NFKD')
      .replace(/[\p{M}\u0640]/gu, '')
      .replace(/[øłđ]/g, (letter) => ({ ø: 'o', ł: 'l', đ: 'd' })[letter] ?? letter),
  );
}

/** Letter by letter, so that a part of a text is a part of what becomes of it; ß is ss, and each digit one of 0 to 9. */
function caseless(text: string): string {
  return Array.from(text, (character) => {
    if (/^\p{Nd}$/u.test(character)) return digitOf(character);
    return Array.from(character.toUpperCase(), (capital) => capital.toLowerCase()).join('');
  })
    .join('')
    .replaceAll('ς', 'σ');
}

/** Decimal digits stand in blocks of ten, from zero on. @source Unicode Standard, 4.6 */
function digitOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  let first = code;
  while (/^\p{Nd}$/u.test(String.fromCodePoint(first - 1))) first -= 1;
  return `${(code - first) % 10}`;
}

/** Letters that run from right to left, and with them the words around. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const FIRST_STRONG_ISOLATE = '\u2068';
const POP_DIRECTIONAL_ISOLATE = '\u2069';

/** A title for the middle of a sentence: one from right to left does not move the words beside it. @source Unicode UAX #9 */
export function isolated(title: string): string {
  return RIGHT_TO_LEFT.test(title) ? `${FIRST_STRONG_ISOLATE}${title}${POP_DIRECTIONAL_ISOLATE}` : title;
}
