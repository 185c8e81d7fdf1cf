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
