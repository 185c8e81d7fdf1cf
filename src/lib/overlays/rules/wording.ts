import { quote } from '../../json/index.ts';
import type { Drawing, Place } from '../model.ts';
import { drawingAt } from './input.ts';

const NAMED_AT_MOST = 5;

/** `point #3 "Station A"`: what it is, its place in the collection, and its name or else its id. */
export function naming(drawing: Drawing): string {
  const kind = drawing.kind === 'other' ? 'drawing' : drawing.kind;
  const name = drawing.name ?? drawing.id;
  return name === null ? `${kind} #${drawing.index}` : `${kind} #${drawing.index} ${quote(name)}`;
}

/** The first few drawings by name, and how many more. */
export function namingAll(drawings: readonly Drawing[], indexes: readonly number[]): string {
  const named = indexes.slice(0, NAMED_AT_MOST).map((index) => {
    const drawing = drawingAt(drawings, index);
    return drawing === undefined ? `#${index}` : naming(drawing);
  });
  return listing(named, indexes.length);
}

/** `a, b, c and 7 more`. */
export function listing(shown: readonly string[], total: number): string {
  const more = total - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}

/** A foreign value in a sentence: bounded, on one line. */
export function wording(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

export function spot(place: Place): string {
  return `(${rounded(place[0], 3)}, ${rounded(place[1], 3)})`;
}

export function rounded(value: number, digits: number): string {
  // Large numbers have no digits behind the point worth showing, and toFixed writes all of their 300 before it.
  return Math.abs(value) >= 1e9 ? value.toExponential(3) : String(Number(value.toFixed(digits)));
}
