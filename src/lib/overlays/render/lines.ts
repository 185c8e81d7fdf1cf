import { visible } from '../../markup/index.ts';
import { shorten } from '../../text/index.ts';

/** Characters of a name on a page or in a tooltip. JSON, CSV and GeoJSON hold names of any length. Project decision. */
const MAX_NAME_CHARS = 400;

/** Printable text on one line, at most `max` characters. */
export function oneLine(text: string, max: number): string {
  const line = visible(bounded(text, max)).replace(/\s+/gu, ' ').trim();
  const short = shorten(line, max);
  return short === line && text.length > bounded(text, max).length ? `${line}…` : short;
}

/**
 * A name as written, with its blanks, since "A" and "A " are two names. Line breaks and tabs become visible signs.
 */
export function nameText(name: string, max = MAX_NAME_CHARS): string {
  const shown = visible(bounded(name, max))
    .replace(/\r\n|[\r\n\u2028\u2029]/gu, '↵')
    .replaceAll('\t', '⇥');
  const short = shorten(shown, max);
  return short === shown && name.length > bounded(name, max).length ? `${shown}…` : short;
}

/** Cuts before processing: a name may have a megabyte. */
function bounded(text: string, max: number): string {
  return text.slice(0, 32 * max + 32);
}

const MAX_LABEL_LINES = 3;
const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Bidi_Control}]/u;

/** Isolates right-to-left names in plain text, so that they do not reorder the words around them. */
export function isolated(name: string): string {
  return RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name;
}

/** A name on up to three lines of a label, broken between words where possible and truncated after the last line. */
export function nameLines(name: string, max: number): string[] {
  const text = nameText(name, max * MAX_LABEL_LINES);
  const lines: string[] = [];
  let rest = text;
  while (lines.length < MAX_LABEL_LINES - 1) {
    const head = shorten(rest, max);
    if (head === rest) break;
    // Without the ellipsis, since the text continues on the next line.
    const fits = head.slice(0, -1);
    const blank = fits.lastIndexOf(' ');
    const line = blank > max / 3 ? fits.slice(0, blank + 1) : fits;
    if (line === '') break;
    lines.push(line);
    rest = rest.slice(line.length);
  }
  return [...lines, shorten(rest, max)];
}

/** A number for an attribute of a picture: at most one decimal, never an exponent. */
export function unit(value: number): number {
  const held = Math.max(-99_999, Math.min(99_999, value));
  return Math.round(held * 10) / 10 + 0;
}

/** Metres, degrees: without trailing zeros, with an exponent only for very large values. */
export function figure(value: number, decimals: number): string {
  if (Math.abs(value) >= 1e9) return value.toExponential(2);
  return String(Number(value.toFixed(decimals)) + 0);
}

/** At most this many of the words, and the number of others. */
export function listed(words: readonly string[], max: number): string {
  return words.length <= max ? words.join(', ') : `${words.slice(0, max).join(', ')} and ${words.length - max} more`;
}
