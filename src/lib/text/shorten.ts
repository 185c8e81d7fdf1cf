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
