import { itemsOf, jsonOf, kindOf, membersOf, type Span, sameValues } from '../read/json-source.ts';
import type { FirstDifference } from './diff-model.ts';

/** Deeper values are reported as a whole, since the search recurses. */
const MAX_DEPTH = 50;

/** The first difference of two JSON values, in the order of the first one; null when they are equal. */
export function firstDifference(from: Span, to: Span): FirstDifference | null {
  return sameValues(from, to, () => {}) ? null : differenceIn(from, to, []);
}

function differenceIn(from: Span, to: Span, path: readonly string[]): FirstDifference {
  const whole = { path: path.join('/'), fromJson: jsonOf(from), toJson: jsonOf(to) };
  if (kindOf(from) !== kindOf(to) || path.length >= MAX_DEPTH) return whole;
  for (const [key, was, is] of partsOf(from, to)) {
    const inner = [...path, key];
    if (was === undefined || is === undefined) {
      return { path: inner.join('/'), fromJson: was ? jsonOf(was) : null, toJson: is ? jsonOf(is) : null };
    }
    if (!sameValues(was, is, () => {})) return differenceIn(was, is, inner);
  }
  return whole;
}

type Part = readonly [key: string, was: Span | undefined, is: Span | undefined];

function partsOf(from: Span, to: Span): Part[] {
  const [ours, theirs] = [membersOf(from), membersOf(to)];
  if (ours && theirs) {
    // With duplicate keys the applicable value is undefined, so the object is reported as a whole.
    if (ours.duplicateKey !== null || theirs.duplicateKey !== null) return [];
    const keys = new Set([...ours.members.keys(), ...theirs.members.keys()]);
    return [...keys].map((key) => [key, ours.members.get(key), theirs.members.get(key)]);
  }
  const [before, after] = [itemsOf(from), itemsOf(to)];
  return Array.from({ length: Math.max(before.length, after.length) }, (_, i) => [String(i), before[i], after[i]]);
}
