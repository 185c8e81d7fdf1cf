import type { ChangedDrawing, OverlaysDiff, PairedBy, ShapeChange, TurnChange, ValueChange } from './diff-model.ts';
import { figure } from './draw/lines.ts';

/** One line of a table of changes. Texts hold what came from outside: bounded, but not escaped. */
export interface ChangeRow {
  /** In a few words, without before and after: `moved 0.5 m`. */
  readonly what: string;
  readonly before: string;
  readonly after: string;
}

/** A change as a result holds it, where an angle is any number: only read here, never passed on. */
type ToldTurn = Pick<TurnChange, 'field' | 'fromJson' | 'toJson'> & { readonly turnedDeg: number | null };
export type ToldChange = Omit<ChangedDrawing, 'turns'> & { readonly turns: readonly ToldTurn[] };

/** Stands where there is nothing. */
export const NOTHING = '—';
const MOST = 60;

export const pairedByWords: Readonly<Record<PairedBy, string>> = {
  id: 'id',
  geometry: 'same geometry',
  nearness: 'nearest within 1 m: a guess',
};

/** Answers the question in one line: whether they differ, and in what. */
export function diffLine({
  same,
  sameText,
  counts,
  members,
}: Pick<OverlaysDiff, 'same' | 'sameText' | 'counts' | 'members'>): string {
  if (same) {
    const how = sameText ? 'to the last character' : 'in everything that is said, though written differently';
    return `The drawings are the same: ${many(counts.to, 'drawing')}, ${how}.`;
  }
  const parts: string[] = [];
  if (counts.changed > 0) {
    const kinds = [
      [counts.moved, 'in place or form'],
      [counts.turned, 'in heading'],
      [counts.recoded, 'in code'],
      [counts.otherwise, 'otherwise'],
    ] as const;
    const how = kinds.flatMap(([count, word]) => (count > 0 ? [`${count} ${word}`] : []));
    parts.push(`${counts.changed} of ${counts.from} changed (${how.join(', ')})`);
  }
  if (counts.added > 0) parts.push(`${counts.added} added`);
  if (counts.removed > 0) parts.push(`${counts.removed} removed`);
  if (counts.reordered > 0) parts.push(`${counts.reordered} elsewhere in the order`);
  if (members.length > 0) parts.push(`${many(members.length, 'member')} of the collection`);
  return `The drawings differ: ${parts.join(', ')}.`;
}

/** Everything that changed of one drawing, the place first. */
export function changeRows({ from, to, shape, turns, codes, values }: ToldChange): ChangeRow[] {
  const place = ({ xM, yM }: ChangedDrawing['from']) => (xM === null || yM === null ? null : placeWords(xM, yM));
  return [
    ...(shape === null ? [] : [shapeRow(shape, place(from), place(to))]),
    ...turns.map(turnRow),
    ...codes.map(({ field, from: was, to: is, fromJson, toJson }) => ({
      what: was !== null && was === is ? `${field}, its JSON type only` : field,
      before: short(fromJson),
      after: short(toJson),
    })),
    ...values.map(valueRow),
  ];
}

/** The same in the fewest words, for a label. */
export function changeWords(change: ToldChange): string {
  const words = changeRows(change).map(({ what }) => what);
  return words.length <= 3 ? words.join(', ') : `${words.slice(0, 2).join(', ')} and ${words.length - 2} more`;
}

export function valueRow({ in: where, name, change, fromJson, toJson }: ValueChange): ChangeRow {
  const member = name === '' ? (where === 'document' ? 'how the drawings are packed' : 'the whole entry') : cut(name);
  const notes = { added: '', removed: '', value: '', type: ', its JSON type', doubled: ', a key that stands twice' };
  return { what: `${member}${notes[change]}`, before: short(fromJson), after: short(toJson) };
}

/** `#3`, or `#3 → #5` where the place in the list is another. */
export function placeInList(from: number, to: number): string {
  return from === to ? `#${from}` : `#${from} → #${to}`;
}

export function placeWords(xM: number, yM: number): string {
  return `(${figure(xM, 3)}, ${figure(yM, 3)})`;
}

function shapeRow(shape: ShapeChange, was: string | null, is: string | null): ChangeRow {
  const { fromType, toType, movedM, largestShiftM, fromCorners, toCorners } = shape;
  const form = (type: string | null, place: string | null, corners: number | null) => {
    if (place === null || corners === null) return type === null ? NOTHING : cut(type);
    return corners === 1 ? place : `${many(corners, 'corner')} around ${place}`;
  };
  return { what: shapeWords(), before: form(fromType, was, fromCorners), after: form(toType, is, toCorners) };

  function shapeWords(): string {
    if (fromType !== toType) return `geometry, ${cut(fromType ?? 'none')} to ${cut(toType ?? 'none')}`;
    if (movedM === null) return 'geometry';
    if (fromCorners === 1 && toCorners === 1) return movedM > 0 ? `moved ${metres(movedM)}` : 'geometry, not its place';
    const corners = largestShiftM === null ? 'other corners' : `a corner by ${metres(largestShiftM)}`;
    if (movedM > 0 && movedM !== largestShiftM) return `middle moved ${metres(movedM)}, ${corners}`;
    if (movedM > 0) return `moved ${metres(movedM)}`;
    return largestShiftM === 0 ? 'geometry, not its corners' : corners;
  }
}

function turnRow({ field, turnedDeg, fromJson, toJson }: ToldTurn): ChangeRow {
  const angle = turnedDeg === null || turnedDeg === 0 ? null : `${turnedDeg > 0 ? '+' : ''}${figure(turnedDeg, 2)}°`;
  // An icon that turns is no robot that turns.
  const bare = turnedDeg === 0 ? `${field}, written differently` : field;
  const what = angle === null ? bare : field === 'yaw' ? `turned ${angle}` : `iconYaw ${angle}`;
  return { what, before: short(fromJson), after: short(toJson) };
}

function metres(value: number): string {
  return value < 0.001 ? 'less than 0.001 m' : `${figure(value, 3)} m`;
}

function short(json: string | null): string {
  return json === null ? NOTHING : cut(json);
}

function cut(text: string): string {
  return text.length > MOST ? `${text.slice(0, MOST)}…` : text;
}

function many(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
