import { quote } from '../../json/index.ts';
import type { Feature, Place } from '../model.ts';
import { featureAt } from './input.ts';

const MAX_NAMED = 5;

/** `point #3 "Station A"`: kind, index, and name or else id. */
export function naming(feature: Feature): string {
  const kind = feature.kind === 'other' ? 'feature' : feature.kind;
  const name = feature.name ?? feature.id;
  return name === null ? `${kind} #${feature.index}` : `${kind} #${feature.index} ${quote(name)}`;
}

/** The first few features by name, and the number of others. */
export function namingAll(features: readonly Feature[], indexes: readonly number[]): string {
  const named = indexes.slice(0, MAX_NAMED).map((index) => {
    const feature = featureAt(features, index);
    return feature === undefined ? `#${index}` : naming(feature);
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
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

export function spot(place: Place): string {
  return `(${rounded(place[0], 3)}, ${rounded(place[1], 3)})`;
}

export function rounded(value: number, digits: number): string {
  // toFixed would write up to 300 digits.
  return Math.abs(value) >= 1e9 ? value.toExponential(3) : String(Number(value.toFixed(digits)));
}
