import { visible } from '../../markup/index.ts';
import { shorten } from '../../text/index.ts';

/** Characters of a name that a page or a tip shows. JSON, CSV and GeoJSON hold names of any length. Project decision. */
const MOST_NAME_CHARS = 400;

/** Text that can be shown, on one line and no longer than `most` characters. */
export function oneLine(text: string, most: number): string {
  const line = visible(bounded(text, most)).replace(/\s+/gu, ' ').trim();
  const short = shorten(line, most);
  return short === line && text.length > bounded(text, most).length ? `${line}…` : short;
}

/**
 * A name as it is written: its blanks stay, also those at either end, since "A" and "A " are two names. A line break
 * and a tab become a sign that can be seen.
 */
export function nameText(name: string, most = MOST_NAME_CHARS): string {
  const shown = visible(bounded(name, most))
    .replace(/\r\n|[\r\n\u2028\u2029]/gu, '↵')
    .replaceAll('\t', '⇥');
  const short = shorten(shown, most);
  return short === shown && name.length > bounded(name, most).length ? `${shown}…` : short;
}

/** A name may be a megabyte: what is cut off anyway need not be looked at. */
function bounded(text: string, most: number): string {
  return text.slice(0, 32 * most + 32);
}

const MOST_LABEL_LINES = 3;
const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Bidi_Control}]/u;

/** In plain text, where no markup can keep it from turning the words around it: isolated where it runs right to left. */
export function isolated(name: string): string {
  return RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name;
}

/** A name on up to three lines of a label, broken between words where there are any; cut behind the last line. */
export function nameLines(name: string, most: number): string[] {
  const text = nameText(name, most * MOST_LABEL_LINES);
  const lines: string[] = [];
  let rest = text;
  while (lines.length < MOST_LABEL_LINES - 1) {
    const head = shorten(rest, most);
    if (head === rest) break;
    // Without the ellipsis: what stands there goes on in the next line.
    const fits = head.slice(0, -1);
    const blank = fits.lastIndexOf(' ');
    const line = blank > most / 3 ? fits.slice(0, blank + 1) : fits;
    if (line === '') break;
    lines.push(line);
    rest = rest.slice(line.length);
  }
  return [...lines, shorten(rest, most)];
}

/** A number for an attribute of a picture: at most one decimal, never an exponent. */
export function unit(value: number): number {
  const held = Math.max(-99_999, Math.min(99_999, value));
  return Math.round(held * 10) / 10 + 0;
}

/** Metres, degrees: as many decimals as say something, no exponent where it can be helped. */
export function figure(value: number, decimals: number): string {
  if (Math.abs(value) >= 1e9) return value.toExponential(2);
  return String(Number(value.toFixed(decimals)) + 0);
}
