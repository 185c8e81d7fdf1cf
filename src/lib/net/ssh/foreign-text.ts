import { shorten } from '../../text/index.ts';

const MAX_CHARS = 300;

/** Text of a server on one line: control characters and turned direction taken out, and not endless. */
export function foreignText(text: string): string {
  const plain = text
    .slice(0, 4 * MAX_CHARS)
    .replace(/\s+/g, ' ')
    .replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, '\uFFFD')
    .trim();
  return shorten(plain, MAX_CHARS);
}
