/** So many characters of a token in a row count as a part of it. */
const PART_CHARACTERS = 8;
/** Nothing that a person has to read is one word of this length, but a token in another coding is. */
const LONG_WORD = /[^ ]{41,}/g;
const REMOVED = '[removed]';

/**
 * Makes foreign text fit for a log or a record: printable ASCII, at most `maxCharacters`, without any part of the tokens,
 * and without words so long that one could be a token in another coding.
 */
export function redacted(text: string, tokens: readonly string[], maxCharacters: number): string {
  const printable = withoutTokens(text, tokens).replace(/[^\x21-\x7e]+/g, ' ');
  const words = printable.replaceAll(LONG_WORD, REMOVED).trim();
  // What is cut off may leave the beginning of a word.
  return words.length <= maxCharacters ? words : `${words.slice(0, maxCharacters).replace(/ [^ ]*$/, '')} ...`;
}

/** Replaces every part of a token of eight characters or more. */
export function withoutTokens(text: string, tokens: readonly string[]): string {
  const secret = tokens.filter((token) => token !== '');
  if (secret.length === 0) return text;
  let clean = '';
  for (let at = 0; at < text.length; ) {
    const length = Math.max(...secret.map((token) => commonLength(text, at, token)));
    if (length === 0) {
      clean += text[at];
      at += 1;
    } else {
      clean += REMOVED;
      at += length;
    }
  }
  return clean;
}

/** Length of the longest part of the token at this place of the text; 0: none. */
function commonLength(text: string, at: number, token: string): number {
  const shortest = Math.min(PART_CHARACTERS, token.length);
  const begin = text.slice(at, at + shortest);
  if (begin.length < shortest || !token.includes(begin)) return 0;
  let length = shortest;
  while (at + length < text.length && token.includes(text.slice(at, at + length + 1))) length += 1;
  return length;
}
