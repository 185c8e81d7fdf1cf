const MOST = 300;

/** Text of a server on one line: control characters and turned direction taken out, and not endless. */
export function foreignText(text: string): string {
  const plain = text
    .slice(0, 4 * MOST)
    .replace(/\s+/g, ' ')
    .replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, '\uFFFD')
    .trim();
  return plain.length > MOST ? `${plain.slice(0, MOST)}…` : plain;
}
