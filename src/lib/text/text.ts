/** `1 map`, `3 maps`. `many` for irregular plurals: `plural(2, 'line was', 'lines were')`. */
export function plural(count: number, one: string, many?: string): string {
  return `${count} ${pluralWord(count, one, many)}`;
}

/** `7/25`. */
export function countText({ n, of }: { readonly n: number; readonly of: number }): string {
  return `${String(n).padStart(String(of).length)}/${of}`;
}

/** The word without the number. */
export function pluralWord(count: number, one: string, many = `${one}s`): string {
  return count === 1 ? one : many;
}

/** `443`, `443 and 8443`, `443, 8443 and 9443`. */
export function joinWords(words: readonly (string | number)[], and: string): string {
  const last = words.at(-1);
  return words.length < 2 ? String(last ?? '') : `${words.slice(0, -1).join(', ')} ${and} ${last}`;
}

/** Code units scanned for each displayed character: a family emoji takes eleven. */
const CODE_UNITS_PER_CHARACTER = 16;

let segmenter: Intl.Segmenter | undefined;

/**
 * Shortens a text to `maxLength` characters with an ellipsis. Characters are grapheme clusters, so accents and emoji stay
 * whole.
 */
export function shorten(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  const start = text.slice(0, CODE_UNITS_PER_CHARACTER * maxLength + CODE_UNITS_PER_CHARACTER);
  const characters: string[] = [];
  for (const { segment } of segmenter.segment(start)) {
    characters.push(segment);
    if (characters.length > maxLength) break;
  }
  if (start.length === text.length && characters.length <= maxLength) return text;
  return `${characters.slice(0, Math.min(maxLength, characters.length) - 1).join('')}…`;
}

/**
 * A list whose elements are JSON text already: an output takes them over as they stand, because parsing would lose
 * digits of large numbers. JSON.rawJSON of the language does this for single numbers and texts only.
 */
export class RawList {
  readonly texts: Iterable<string>;

  constructor(texts: Iterable<string>) {
    this.texts = texts;
  }

  /** For JSON.stringify, which takes over no text. */
  toJSON(): unknown[] {
    return Array.from(this.texts, (text): unknown => JSON.parse(text));
  }
}

/** Escapes trusted Markdown for a table cell: `|`, line ends and `<`. */
export function tableCell(markdown: string): string {
  return markdown.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');
}

/** Escapes foreign text of one line against Markdown, table cells and HTML. */
export function escapeMarkdown(line: string): string {
  return line.replace(/[\\`*_{}[\]<>#|~!&]/g, (character) => `\\${character}`);
}

/** A code span with foreign text of one line; characters that would end it are replaced, since none can be escaped. */
export function codeSpan(line: string): string {
  return `\`${line.replaceAll('`', "'").replaceAll('|', '/')}\``;
}

/** The same plain data with every text in it changed, keys included. */
export function mapTexts<T>(value: T, change: (text: string) => string): T {
  const map = (part: unknown): unknown => {
    if (typeof part === 'string') return change(part);
    if (Array.isArray(part)) return part.map(map);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [change(key), map(inner)]));
  };
  return map(value) as T;
}

/** Each text once, in the order of the first ones, with its number where it occurs several times. */
export function eachOnce(texts: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].map(([text, count]) => (count === 1 ? text : `${text}, ${count} times`));
}

const MAX_QUOTED_CHARS = 60;

/** A found text in quotes, on one line, without control characters, shortened. */
export function quoted(text: string): string {
  return `'${shorten(oneLine(text), MAX_QUOTED_CHARS)}'`;
}

/** Foreign text on one line: control characters and line ends become spaces. */
export function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is replaced
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ');
}
