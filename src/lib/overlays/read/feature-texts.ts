import type { FeaturePlaces, Overlays } from '../model.ts';

const char = {
  quote: 0x22,
  bracketOpen: 0x5b,
  backslash: 0x5c,
  braceOpen: 0x7b,
  braceClose: 0x7d,
  /** The bit in which brackets differ from braces; with it set, both read as braces. */
  either: 0x20,
};

const KEY = Buffer.from('"features"');

type Source = Pick<Overlays, 'text' | 'drawings' | 'places' | 'container'>;

/**
 * Finds the source of every drawing: as it came, where parsed values have lost the last digits of large numbers. null
 * when the drawings are not found in the text (the key is written with escapes), or when UTF-8 cannot write it (half a
 * surrogate pair): then only the parsed values can be written.
 */
export function featurePlaces({ text, drawings, places, container }: Source): FeaturePlaces | null {
  if (places === undefined && !text.isWellFormed()) return null;
  if (container === 'single-feature') return placeOfWhole(Buffer.from(text));
  const found = places ?? walkCollection(Buffer.from(text), drawings.length).places;
  return found.count === drawings.length ? found : null;
}

function placeOfWhole(bytes: Buffer): FeaturePlaces {
  const bounds = Uint32Array.of(bytes.indexOf(char.braceOpen), bytes.lastIndexOf(char.braceClose) + 1);
  return { bytes, bounds, count: 1 };
}

/** The source of a drawing by its position in `drawings`, on one line. null as for `featurePlaces`. */
export function featureTexts(source: Source): ((position: number) => string) | null {
  const found = featurePlaces(source);
  if (found === null) return null;
  const { bytes, bounds } = found;
  return (position) => onOneLine(bytes.toString('utf8', bounds[position * 2], bounds[position * 2 + 1]));
}

/** In JSON line breaks stand between its tokens only, never inside of a text. */
export function onOneLine(json: string): string {
  return json.includes('\n') || json.includes('\r') ? json.replace(/[\r\n][ \t\r\n]*/g, ' ') : json;
}

/**
 * Goes once through the text of a collection, or of a list of features: where each object of its list begins and ends,
 * and how deep its deepest part is nested, the collection itself being the first level. Counting brackets is enough for a text that JSON.parse
 * accepts; no byte of a longer character is one of them. Of any other text the answer means nothing. `expected` is
 * about how many features there are.
 */
export function walkCollection(
  bytes: Buffer,
  expected: number,
): { readonly places: FeaturePlaces; readonly deepest: number } {
  let bounds = new Uint32Array(Math.max(Math.ceil(expected), 1) * 2);
  let count = 0;
  let depth = 0;
  let deepest = 0;
  let keyAt = -1;
  const { length } = bytes;
  const isList = bytes[afterBlanks(bytes)] === char.bracketOpen;
  let isInList = isList;
  const featureDepth = isList ? 2 : 3;
  for (let at = 0; at < length; at += 1) {
    const code = bytes[at] ?? 0;
    if (code === char.quote) {
      if (depth === 1) keyAt = at;
      at += 1;
      while (bytes[at] !== char.quote && at < length) at += bytes[at] === char.backslash ? 2 : 1;
    } else if (code < char.bracketOpen) {
      // Most bytes between texts are figures, signs and blanks.
    } else if ((code | char.either) === char.braceOpen) {
      depth += 1;
      if (depth > deepest) deepest = depth;
      if (depth === 2 && !isList) {
        isInList = code === char.bracketOpen && standsAt(KEY, bytes, keyAt);
        // Of two lists under the same key the last one counts, as for JSON.parse.
        if (isInList) count = 0;
      } else if (depth === featureDepth && isInList && code === char.braceOpen) {
        if (count * 2 >= bounds.length) bounds = longer(bounds);
        bounds[count * 2] = at;
      }
    } else if ((code | char.either) === char.braceClose) {
      if (depth === featureDepth && isInList && code === char.braceClose) {
        bounds[count * 2 + 1] = at + 1;
        count += 1;
      }
      depth -= 1;
    }
  }
  return { places: { bytes, bounds, count }, deepest };
}

/** Where the first token stands: behind a byte order mark and blanks. */
function afterBlanks(bytes: Buffer): number {
  let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  while (at < bytes.length && (bytes[at] ?? 0) <= 0x20) at += 1;
  return at;
}

function longer(bounds: Uint32Array): Uint32Array<ArrayBuffer> {
  const all = new Uint32Array(bounds.length * 2);
  all.set(bounds);
  return all;
}

function standsAt(part: Buffer, bytes: Buffer, at: number): boolean {
  return at >= 0 && at + part.length <= bytes.length && part.compare(bytes, at, at + part.length) === 0;
}
