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

const MAX_SENTENCES = 12;
/** Per feature. */
const MAX_CHANGES = 6;

/** A comparison in the form of a result: counts, and the first differences as sentences. */
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
    for (const entry of list.slice(0, Math.max(0, MAX_SENTENCES - sentences.length))) sentences.push(sentence(entry));
  };
  add(diff.removed, (ref) => `${nameOf(ref)} was removed`);
  add(diff.added, (ref) => `${nameOf(ref)} was added`);
  add(diff.changed, (change) => `${nameOf(change.from)}: ${changesOf(change).join('; ')}`);
  add(diff.members, (change) => `the collection: ${rowText(valueRow(change))}`);
  add(diff.reordered, ({ from, to }) => `${nameOf(from)} moved from index ${from.index} to ${to.index} of the list`);
  return sentences;
}

/** Position, shape and size of the first features with a changed geometry. */
function shapesOf({ changed }: OverlaysDiff): OverlaysDifference['shapes'] {
  return changed
    .flatMap(({ from, shape }) => (shape === null ? [] : [{ id: from.id, name: from.name, kind: from.kind, ...shape }]))
    .slice(0, MAX_SENTENCES);
}

/** Kind, name and id of a feature, since names are not unique and ids alone are not meaningful to a reader. */
function nameOf({ index, id, name, kind }: FeatureRef): string {
  const noun = kind === 'no-feature' ? 'entry' : kind;
  if (name === null && id === null) return `${noun} at index ${index}`;
  const label = name === null ? '' : ` ${quote(name)}`;
  return `${noun}${label}${id === null ? ' without id' : ` (id ${quote(id)})`}`;
}

function changesOf(change: ChangedFeature): string[] {
  const rows = changeRows(change).map(rowText);
  return rows.length <= MAX_CHANGES ? rows : [...rows.slice(0, MAX_CHANGES), `and ${rows.length - MAX_CHANGES} more`];
}

/** Escapes line breaks and bidirectional control characters of the foreign JSON text. */
function rowText({ what, before, after }: ChangeRow): string {
  return `${what}: ${before} → ${after}`.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, (character) => {
    return /\s/u.test(character) ? ' ' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
