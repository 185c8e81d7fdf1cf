import { quote } from '../../../json/index.ts';
import type { OverlaysComparison } from '../../../maps/index.ts';
import {
  type ChangedFeature,
  type ChangeRow,
  changeRows,
  type FeatureRef,
  type OverlaysDiff,
  valueRow,
} from '../../../overlays/index.ts';
import type { OverlaysDifference } from './overlays-difference.result.ts';

const MOST_SENTENCES = 12;
/** Of one feature. */
const MOST_CHANGES = 6;

/** A comparison as a result carries it: the counts, and the first differences as sentences. */
export function differenceOf({ same, sameText, diff, problem }: OverlaysComparison): OverlaysDifference {
  if (diff === null) return { same, sameText, counts: null, first: [], shapes: [], problem };
  const { from, to, changed, moved, reshaped, turned, recoded, otherwise, added, removed, reordered } = diff.counts;
  const members = diff.members.length;
  return {
    same,
    sameText,
    counts: { from, to, changed, moved, reshaped, turned, recoded, otherwise, added, removed, reordered, members },
    first: sentencesOf(diff),
    shapes: shapesOf(diff),
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
  add(diff.changed, (change) => `${nameOf(change.from)}: ${changesOf(change).join('; ')}`);
  add(diff.members, (change) => `the collection: ${rowText(valueRow(change))}`);
  add(
    diff.reordered,
    ({ from, to }) => `${nameOf(from)} stands at place ${to.index} of the list, and stood at ${from.index}`,
  );
  return sentences;
}

/** Place, form and size of the first features whose geometry is not the same, in numbers. */
function shapesOf({ changed }: OverlaysDiff): OverlaysDifference['shapes'] {
  return changed
    .flatMap(({ from, shape }) => (shape === null ? [] : [{ id: from.id, name: from.name, kind: from.kind, ...shape }]))
    .slice(0, MOST_SENTENCES);
}

/** Name and id: several features may have one name, and an id alone says nothing to a person. */
function nameOf({ index, id, name, kind }: FeatureRef): string {
  const what = kind === 'no-feature' ? 'entry' : kind;
  if (name === null && id === null) return `${what} at place ${index}`;
  const called = name === null ? '' : ` ${quote(name)}`;
  return `${what}${called}${id === null ? ' without id' : ` (id ${quote(id)})`}`;
}

function changesOf(change: ChangedFeature): string[] {
  const rows = changeRows(change).map(rowText);
  return rows.length <= MOST_CHANGES
    ? rows
    : [...rows.slice(0, MOST_CHANGES), `and ${rows.length - MOST_CHANGES} more`];
}

/** JSON text of a feature stands in it: what breaks a line or turns the direction of writing is spelled out. */
function rowText({ what, before, after }: ChangeRow): string {
  return `${what}: ${before} → ${after}`.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, (character) => {
    return /\s/u.test(character) ? ' ' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
