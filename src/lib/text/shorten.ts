/** Code units that are looked at for one character that a person sees: an emoji of a family takes eleven. */
const UNITS_A_CHARACTER = 16;

let segmenter: Intl.Segmenter | undefined;

/**
 * The text, or its beginning and an ellipsis where it has more than `most` characters as a person counts them: letters
 * keep their accents, and emoji their parts.
 */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  const looked = text.slice(0, UNITS_A_CHARACTER * most + UNITS_A_CHARACTER);
  const characters: string[] = [];
  for (const { segment } of segmenter.segment(looked)) {
    characters.push(segment);
    if (characters.length > most) break;
  }
  if (looked.length === text.length && characters.length <= most) return text;
  return `${characters.slice(0, Math.min(most, characters.length) - 1).join('')}…`;
}
