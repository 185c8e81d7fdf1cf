import { quote } from '../json/index.ts';
import type { DrawingsComparison } from '../maps/index.ts';
import type { ChangedDrawing, DrawingRef, OverlaysDiff, ValueChange } from '../overlays/index.ts';
import type { DrawingsDifference } from './drawings-difference.result.ts';

const MOST_SENTENCES = 12;

/** A comparison as a result carries it: the counts, and the first differences as sentences. */
export function differenceOf({ same, sameText, diff, problem }: DrawingsComparison): DrawingsDifference {
  if (diff === null) return { same, sameText, counts: null, first: [], problem };
  const { from, to, changed, moved, turned, recoded, otherwise, added, removed, reordered } = diff.counts;
  const members = diff.members.length;
  return {
    same,
    sameText,
    counts: { from, to, changed, moved, turned, recoded, otherwise, added, removed, reordered, members },
    first: sentencesOf(diff),
    problem,
  };
}

function sentencesOf(diff: OverlaysDiff): string[] {
  const sentences: string[] = [];
  const add = <T>(list: readonly T[], sentence: (entry: T) => string) => {
    for (const entry of list.slice(0, Math.max(0, MOST_SENTENCES - sentences.length))) sentences.push(sentence(entry));
  };
  add(diff.removed, (ref) => `${nameOf(ref)} is not there any more`);
  add(diff.added, (ref) => `${nameOf(ref)} is new`);
  add(diff.changed, (change) => `${nameOf(change.from)}: ${changesOf(change).join(', ')}`);
  add(diff.members, (change) => `the collection: ${valueText(change)}`);
  add(
    diff.reordered,
    ({ from, to }) => `${nameOf(from)} stands at place ${to.index} of the list, and stood at ${from.index}`,
  );
  return sentences;
}

function nameOf({ index, id, name, kind }: DrawingRef): string {
  const called = name ?? id;
  return `${kind === 'no-feature' ? 'entry' : kind} ${called === null ? `at place ${index}` : quote(called)}`;
}

function changesOf({ shape, turns, codes, values }: ChangedDrawing): string[] {
  return [
    ...(shape === null
      ? []
      : [shape.movedM === null ? 'its form is another one' : `moved by ${shape.movedM.toFixed(3)} m`]),
    ...turns.map(({ field, fromJson, toJson }) => `${field} ${jsonText(fromJson)} → ${jsonText(toJson)}`),
    ...codes.map(({ field, fromJson, toJson }) => `${field} ${jsonText(fromJson)} → ${jsonText(toJson)}`),
    ...values.slice(0, 4).map(valueText),
    ...(values.length > 4 ? [`and ${values.length - 4} more`] : []),
  ];
}

function valueText({ name, fromJson, toJson }: ValueChange): string {
  return `${quote(name).slice(1, -1)} ${jsonText(fromJson)} → ${jsonText(toJson)}`;
}

function jsonText(json: string | null): string {
  if (json === null) return 'none';
  return json.length > 40 ? `${json.slice(0, 40)}…` : json;
}
