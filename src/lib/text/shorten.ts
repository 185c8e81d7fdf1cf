/** Code units scanned for each displayed character: a family emoji takes eleven. */
const CODE_UNITS_PER_CHARACTER = 16;

let segmenter: Intl.Segmenter | undefined;

/**
 * The text, or its beginning and an ellipsis where it has more than `most` characters as a reader counts them: letters
 * keep their accents, and emoji their parts.
 */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  const start = text.slice(0, CODE_UNITS_PER_CHARACTER * most + CODE_UNITS_PER_CHARACTER);
  const characters: string[] = [];
  for (const { segment } of segmenter.segment(start)) {
    characters.push(segment);
    if (characters.length > most) break;
  }
  if (start.length === text.length && characters.length <= most) return text;
  return `${characters.slice(0, Math.min(most, characters.length) - 1).join('')}…`;
}
