import { shorten } from '../../text/index.ts';

const MAX_CHARACTERS = 300;

/** Text of a server as one line of bounded length, with control and bidirectional characters replaced. */
export function foreignText(text: string): string {
  const plain = text
    .slice(0, 4 * MAX_CHARACTERS)
    .replace(/\s+/g, ' ')
    .replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, '\uFFFD')
    .trim();
  return shorten(plain, MAX_CHARACTERS);
}
