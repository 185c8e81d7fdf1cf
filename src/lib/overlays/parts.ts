import { isUtf8 } from 'node:buffer';
import { isRecord } from '../json/index.ts';
import { createDrawingReader } from './drawing.ts';
import { walkCollection } from './feature-texts.ts';
import type { Drawing, FeaturePlaces, Overlays, RawFeature } from './model.ts';

/** So many features are parsed at once: few enough to be forgotten young, many enough to be quick. */
const FEATURES_A_PART = 50;
/** About what a feature takes. */
const BYTES_A_FEATURE = 300;

export interface ReadInParts {
  /** The collection, with one empty object for all of its features. */
  readonly collection: Readonly<Record<string, unknown>>;
  readonly drawings: readonly Drawing[];
  readonly members: Overlays['members'];
  readonly rawOf: Overlays['rawOf'];
  readonly places: FeaturePlaces;
}

/**
 * Reads the JSON text of a bare collection a few features at a time, so that a large one never stands in memory as
 * parsed values, which would be moved about by the engine for a third of the time that reading takes.
 *
 * What is read this way is JSON as JSON.parse has it: the text around the features is parsed with an empty object in
 * their place, every part as a list of as many objects as it should hold, and between two parts stands a comma. null
 * when any of it does not hold (no JSON, no bare collection, no text in UTF-8, an entry that is no object, a key written
 * with escapes, nesting deeper than `deepest`): who reads the text as a whole then finds out why.
 */
export function readInParts(bytes: Buffer, deepest: number): ReadInParts | null {
  const walk = walkCollection(bytes, bytes.length / BYTES_A_FEATURE);
  const { bounds, count } = walk.places;
  if (count === 0 || walk.deepest > deepest || !isUtf8(bytes)) return null;
  const begin = (nth: number) => bounds[nth * 2] ?? 0;
  const end = (nth: number) => bounds[nth * 2 + 1] ?? 0;
  const collection = parse(`${textOf(bytes, markOf(bytes), begin(0))}{}${textOf(bytes, end(count - 1), bytes.length)}`);
  if (!isRecord(collection) || !Array.isArray(collection.features) || collection.features.length !== 1) return null;

  const reader = createDrawingReader();
  const drawings: Drawing[] = [];
  for (let from = 0; from < count; from += FEATURES_A_PART) {
    const to = Math.min(from + FEATURES_A_PART, count);
    if (from > 0 && !isComma(textOf(bytes, end(from - 1), begin(from)))) return null;
    const part = parse(`[${textOf(bytes, begin(from), end(to - 1))}]`);
    if (!Array.isArray(part) || part.length !== to - from) return null;
    for (const feature of part) {
      if (!isRecord(feature)) return null;
      drawings.push(reader.read(feature, drawings.length));
    }
  }
  return {
    collection,
    drawings,
    members: reader.members(),
    rawOf: ({ index }) => parse(textOf(bytes, begin(index), end(index))) as RawFeature,
    places: walk.places,
  };
}

/** Length of a byte order mark. */
function markOf(bytes: Buffer): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

function textOf(bytes: Buffer, from: number, to: number): string {
  return bytes.toString('utf8', from, to);
}

function isComma(between: string): boolean {
  return between === ',' || /^[ \t\r\n]*,[ \t\r\n]*$/.test(between);
}

/** undefined when it is no JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
