import type { CodeBook, CodeMeaning, Overlays } from '../model.ts';
import { jsonOf, kindOf, type Members, membersOf, type Span, spanOf } from '../read/json-source.ts';
import { readOverlays } from '../read/read.ts';
import type { ChangedFeature, OverlaysDiff, ShapeChange, ValueChange } from '../schemas.ts';
import { changeOf, differing, type NotationNotes, refOf } from './feature-change.ts';
import { type Entry, type Pair, type Pairing, pairUp } from './pairing.ts';

/** Compares two collections, `a` being the old one, in O(n log n). */
export function diffOverlays(a: Overlays, b: Overlays): OverlaysDiff {
  const sameText = a.text === b.text;
  const found = sameText ? nothing : findChanges(a, b);
  const { members, pairing, changed, notation } = found;
  const removed = pairing.onlyA.map(refOf);
  const added = pairing.onlyB.map(refOf);
  const reordered = outOfOrder(pairing.pairs).map((pair) => ({ from: refOf(pair.a), to: refOf(pair.b) }));
  const from = a.features.length + a.notFeatures.length;
  const to = b.features.length + b.notFeatures.length;
  return {
    same: [members, changed, added, removed, reordered].every((list) => list.length === 0),
    sameText,
    counts: {
      from,
      to,
      unchanged: from - removed.length - changed.length,
      changed: changed.length,
      moved: changed.filter(isMoved).length,
      reshaped: changed.filter(isReshaped).length,
      turned: changed.filter(isTurned).length,
      recoded: changed.filter(isRecoded).length,
      otherwise: changed.filter(isChangedOtherwise).length,
      added: added.length,
      removed: removed.length,
      reordered: reordered.length,
    },
    changed,
    added,
    removed,
    reordered,
    members,
    notation,
  };
}

/**
 * Compares two overlay texts as read from or written to the chassis. Content around a collection is compared as well.
 * Throws OVERLAYS_INVALID where one holds no overlays.
 */
export function diffOverlaysTexts(aText: string, bText: string): OverlaysDiff {
  const a = readOverlays(aText, 'first text');
  const b = readOverlays(bText, 'second text');
  const diff = diffOverlays(a, b);
  const sameText = aText === bText;
  if (sameText || (a.form === 'collection' && b.form === 'collection')) return { ...diff, sameText };
  const notes = newNotes();
  const around = aroundChanges(spanOf(aText), spanOf(bText), notes);
  const same = diff.same && around.length === 0;
  return { ...diff, same, sameText, members: [...diff.members, ...around], notation: merged(diff.notation, notes) };
}

function isMoved({ shape }: ChangedFeature): boolean {
  return shape !== null && !isSameForm(shape);
}

function isReshaped(change: ChangedFeature): boolean {
  return isMoved(change) && change.shape?.isMovedAsWhole !== true;
}

/** A third coordinate, another member, or another start or closing of a ring moves nothing. */
function isSameForm({ fromType, toType, largestShiftM, isReversed }: ShapeChange): boolean {
  return fromType === toType && largestShiftM === 0 && !isReversed;
}

function isTurned({ turns }: ChangedFeature): boolean {
  return turns.some(({ turnedDeg }) => turnedDeg !== 0);
}

function isRecoded({ codes }: ChangedFeature): boolean {
  return codes.some(({ from, to }) => from === null || from !== to);
}

function isChangedOtherwise({ shape, turns, codes, values }: ChangedFeature): boolean {
  return (
    values.length > 0 ||
    (shape !== null && isSameForm(shape)) ||
    turns.some(({ turnedDeg }) => turnedDeg === 0) ||
    codes.some(({ from, to }) => from !== null && from === to)
  );
}

interface Found {
  readonly members: ValueChange[];
  readonly pairing: Pairing;
  readonly changed: ChangedFeature[];
  readonly notation: NotationNotes;
}

const nothing: Found = {
  members: [],
  pairing: { pairs: [], onlyA: [], onlyB: [] },
  changed: [],
  notation: { numbers: 0, examples: [] },
};

function findChanges(a: Overlays, b: Overlays): Found {
  const notation = newNotes();
  const [left, right] = [collectionOf(a), collectionOf(b)];
  const members = differing(left, right, 'collection', { index: null, path: [] }, notation, FEATURES);
  const before = entriesOf(a);
  const after = entriesOf(b);

  // A list and a single feature differ in the document, not in a member.
  if (members.length === 0 && a.container !== b.container) {
    const [fromJson, toJson] = [a, b].map(({ container }) => JSON.stringify(container)) as [string, string];
    members.push({ in: 'document', name: '', change: 'value', fromJson, toJson });
  }

  const inOrder = newNotes();
  if (isSameInOrder(before, after, inOrder)) {
    return { ...nothing, members, notation: merged(notation, inOrder) };
  }
  const pairing = pairUp(before, after);
  const changed: ChangedFeature[] = [];
  for (const pair of pairing.pairs) {
    const change = changeOf(pair, notation);
    if (change !== null) changed.push(change);
  }
  return { members, pairing, changed, notation };
}

/** Identical features can be matched by order only, so the order is tried first. */
function isSameInOrder(before: readonly Entry[], after: readonly Entry[], notes: NotationNotes): boolean {
  return (
    before.length === after.length &&
    before.every((a, i) => {
      const b = after[i];
      return b !== undefined && changeOf({ a, b, by: 'geometry' }, notes) === null;
    })
  );
}

const FEATURES = 'features';

/**
 * A map without overlays has the text '', which differs from an empty collection. A list of features has no members, and
 * those of a single feature are its own.
 */
function collectionOf({ text, container }: Overlays): Members {
  const whole = spanOf(text === '' ? '{}' : text);
  const isObject = container === 'feature-collection' || container === 'object-with-features';
  return (isObject ? membersOf(whole) : null) ?? { whole, members: new Map(), duplicateKey: null };
}

function entriesOf({ features, entries }: Overlays): Entry[] {
  const byIndex = new Map(features.map((feature) => [feature.index, feature]));
  return entries.map((span, index) => ({ index, span, feature: byIndex.get(index) ?? null }));
}

/** The member of a map or a wrapper that holds the collection. */
const HOLDER = 'overlays';
/** Nesting of strings and wrappers. */
const MAX_FORM_DEPTH = 6;

/** Differences around the collection, in the forms that readOverlays accepts: a map object, a wrapper, a string. */
function aroundChanges(from: Span, to: Span, notes: NotationNotes, depth = 0): ValueChange[] {
  const place = { index: null, path: [] };
  const [ours, theirs] = [membersOf(from), membersOf(to)];
  if (depth < MAX_FORM_DEPTH) {
    if (kindOf(from) === 'text' && kindOf(to) === 'text') {
      return aroundChanges(contentOf(from), contentOf(to), notes, depth + 1);
    }
    if (holdsFeatures(from, ours) && holdsFeatures(to, theirs)) return [];
    const [inOurs, inTheirs] = [ours?.members.get(HOLDER), theirs?.members.get(HOLDER)];
    if (ours && theirs && inOurs && inTheirs) {
      const beside = differing(ours, theirs, 'document', place, notes, HOLDER);
      return [...beside, ...aroundChanges(inOurs, inTheirs, notes, depth + 1)];
    }
  }
  return differing(ours ?? from, theirs ?? to, 'document', place, notes);
}

/** Whether a text accepted by readOverlays holds the features at this level. */
function holdsFeatures(span: Span, object: Members | null): boolean {
  if (object === null) return kindOf(span) === 'array';
  const type = object.members.get('type');
  if (type !== undefined && JSON.parse(jsonOf(type)) === 'FeatureCollection') return true;
  return !object.members.has(HOLDER) && [FEATURES, 'geometry', 'type'].some((name) => object.members.has(name));
}

/** The JSON text inside a JSON string. */
function contentOf(span: Span): Span {
  return spanOf(String(JSON.parse(jsonOf(span))));
}

/** The pairs outside the longest increasing subsequence. */
function outOfOrder(pairs: readonly Pair[]): Pair[] {
  /** ends[n] is the last pair of the run of n + 1 pairs with the smallest end. */
  const ends: number[] = [];
  const previous: number[] = [];
  for (const [i, { b }] of pairs.entries()) {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[ends[middle] ?? 0]?.b.index ?? 0) < b.index) low = middle + 1;
      else high = middle;
    }
    previous.push(low > 0 ? (ends[low - 1] ?? -1) : -1);
    ends[low] = i;
  }
  const inOrder = new Set<number>();
  for (let i = ends.at(-1) ?? -1; i >= 0; i = previous[i] ?? -1) inOrder.add(i);
  return pairs.filter((_, i) => !inOrder.has(i));
}

function newNotes(): NotationNotes {
  return { numbers: 0, examples: [] };
}

function merged(one: OverlaysDiff['notation'], other: NotationNotes): NotationNotes {
  return { numbers: one.numbers + other.numbers, examples: [...one.examples, ...other.examples] };
}

/** Every number that a code was changed from or to, with all its readings. */
export function changedCodes({ changed }: OverlaysDiff, codeBook: CodeBook): CodeMeaning[] {
  const found = new Map<string, CodeMeaning>();
  for (const { codes } of changed) {
    for (const { field, from, to } of codes) {
      for (const number of [from, to]) {
        if (number === null || found.has(`${field} ${number}`)) continue;
        found.set(`${field} ${number}`, codeBook.meaning(field, number));
      }
    }
  }
  const order = (a: CodeMeaning, b: CodeMeaning) =>
    a.field === b.field ? a.number - b.number : a.field < b.field ? -1 : 1;
  return [...found.values()].sort(order);
}
