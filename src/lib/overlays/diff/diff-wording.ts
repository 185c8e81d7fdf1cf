import { plural, shorten } from '../../text/index.ts';
import { figure } from '../render/lines.ts';
import type { ChangedFeature, OverlaysDiff, ShapeChange, TurnChange, ValueChange } from '../schemas.ts';

/** One row of a table of changes. Foreign text in it is bounded but not escaped. */
export interface ChangeRow {
  /** The change without its values: `moved 0.5 m`. */
  readonly what: string;
  readonly before: string;
  readonly after: string;
}

/** Shown for a missing value. */
export const NOTHING = '—';
const MAX_CHARS = 60;

export const pairedByWords: Readonly<Record<ChangedFeature['pairedBy'], string>> = {
  id: 'id',
  geometry: 'same geometry',
  nearness: 'nearest within 1 m: a guess',
};

/** The first line: whether they differ, and in what. */
export function diffLine({
  same,
  sameText,
  counts,
  members,
}: Pick<OverlaysDiff, 'same' | 'sameText' | 'counts' | 'members'>): string {
  if (same) {
    const how = sameText ? 'identical text' : 'same content, written differently';
    return `The overlays are the same: ${plural(counts.to, 'feature')}, ${how}.`;
  }
  const parts: string[] = [];
  if (counts.changed > 0) {
    const kinds = [
      [counts.moved - counts.reshaped, 'in place'],
      [counts.reshaped, 'in form'],
      [counts.turned, 'in heading'],
      [counts.recoded, 'in code'],
      [counts.otherwise, 'otherwise'],
    ] as const;
    const how = kinds.flatMap(([count, word]) => (count > 0 ? [`${count} ${word}`] : []));
    parts.push(`${counts.changed} of ${counts.from} changed (${how.join(', ')})`);
  }
  if (counts.added > 0) parts.push(`${counts.added} added`);
  if (counts.removed > 0) parts.push(`${counts.removed} removed`);
  if (counts.reordered > 0) parts.push(`${counts.reordered} reordered`);
  if (members.length > 0) parts.push(`${plural(members.length, 'member')} of the collection`);
  return `The overlays differ: ${parts.join(', ')}.`;
}

/** All changes of one feature, the place first. */
export function changeRows({ from, to, shape, turns, codes, values }: ChangedFeature): ChangeRow[] {
  const place = ({ xM, yM }: ChangedFeature['from']) => (xM === null || yM === null ? null : placeWords(xM, yM));
  return [
    ...(shape === null ? [] : [shapeRow(shape, place(from), place(to))]),
    ...turns.map(turnRow),
    ...codes.map(({ field, from: was, to: is, fromJson, toJson }) => ({
      what: was !== null && was === is ? `${field}, JSON type only` : field,
      before: short(fromJson),
      after: short(toJson),
    })),
    ...values.map(valueRow),
  ];
}

/** The same in short, for a label. */
export function changeWords(change: ChangedFeature): string {
  const words = changeRows(change).map(({ what }) => what);
  return words.length <= 3 ? words.join(', ') : `${words.slice(0, 2).join(', ')} and ${words.length - 2} more`;
}

export function valueRow({ in: where, name, change, fromJson, toJson }: ValueChange): ChangeRow {
  const member =
    name === '' ? (where === 'document' ? 'container of the features' : 'the whole entry') : shorten(name, MAX_CHARS);
  const notes = { added: '', removed: '', value: '', type: ', JSON type', 'duplicate-key': ', duplicate key' };
  return { what: `${member}${notes[change]}`, before: short(fromJson), after: short(toJson) };
}

/** `#3`, or `#3 → #5` where the index changed. */
export function indexChange(from: number, to: number): string {
  return from === to ? `#${from}` : `#${from} → #${to}`;
}

export function placeWords(xM: number, yM: number): string {
  return `(${figure(xM, 3)}, ${figure(yM, 3)})`;
}

function shapeRow(shape: ShapeChange, was: string | null, is: string | null): ChangeRow {
  const { fromType, toType, fromCorners, toCorners, fromLengthM, toLengthM, fromAreaM2, toAreaM2, first } = shape;
  const clauses =
    fromType === toType
      ? shapeClauses(shape)
      : [`geometry, ${shorten(fromType ?? 'none', MAX_CHARS)} to ${shorten(toType ?? 'none', MAX_CHARS)}`];
  if (clauses.length === 0 && first !== null) {
    return {
      what: `geometry at ${shorten(first.path, MAX_CHARS)}`,
      before: short(first.fromJson),
      after: short(first.toJson),
    };
  }
  const form = (type: string | null, place: string | null, corners: number | null, size: string | null) => {
    if (place === null || corners === null) return type === null ? NOTHING : shorten(type, MAX_CHARS);
    if (corners === 1 && size === null) return place;
    return `${plural(corners, 'corner')} around ${place}${size === null ? '' : `, ${size}`}`;
  };
  return {
    what: clauses.length === 0 ? 'geometry' : clauses.join(', '),
    before: form(fromType, was, fromCorners, sizeWords(fromLengthM, fromAreaM2)),
    after: form(toType, is, toCorners, sizeWords(toLengthM, toAreaM2)),
  };
}

/** Displacement first, then direction, corners and size, since labels show the first only. */
function shapeClauses(shape: ShapeChange): string[] {
  const { movedM, largestShiftM, isMovedAsWhole, fromCorners, toCorners, isReversed, isRewound } = shape;
  const clauses: string[] = [];
  if (isMovedAsWhole && movedM !== null) clauses.push(`moved ${metres(movedM)}`);
  else if (largestShiftM !== null && largestShiftM > 0) clauses.push(`corners moved up to ${metres(largestShiftM)}`);
  else if (movedM !== null && movedM > 0) clauses.push(`middle moved ${metres(movedM)}`);
  if (isReversed) clauses.push('direction reversed');
  if (fromCorners !== toCorners) clauses.push(`corners ${fromCorners ?? 0} → ${toCorners ?? 0}`);
  const area = fromTo(shape.fromAreaM2, shape.toAreaM2);
  if (area !== null) clauses.push(`area ${area} m²`);
  const length = fromTo(shape.fromLengthM, shape.toLengthM);
  if (length !== null) clauses.push(`length ${length} m`);
  if (clauses.length === 0 && isRewound) clauses.push('same outline, other starting corner or orientation');
  return clauses;
}

function sizeWords(lengthM: number | null, areaM2: number | null): string | null {
  if (lengthM !== null) return `${size(lengthM)} m long`;
  return areaM2 === null ? null : `${size(areaM2)} m²`;
}

/** A size with enough digits for small values. */
function size(value: number): string {
  return figure(value, value >= 10 ? 2 : value >= 0.1 ? 3 : 6);
}

/** `100 → 4`; null where both are equal within rounding, or one is unknown. */
function fromTo(from: number | null, to: number | null): string | null {
  if (from === null || to === null || Math.abs(from - to) <= 1e-9 * Math.max(from, to)) return null;
  for (const decimals of [2, 4, 6, 9]) {
    const [was, is] = [figure(from, decimals), figure(to, decimals)];
    // A value other than 0 must not be shown as 0.
    if (was !== is && (was !== '0' || from === 0) && (is !== '0' || to === 0)) return `${was} → ${is}`;
  }
  return `${from.toPrecision(3)} → ${to.toPrecision(3)}`;
}

function turnRow({ field, turnedDeg, fromJson, toJson }: TurnChange): ChangeRow {
  const angle = turnedDeg === null || turnedDeg === 0 ? null : `${turnedDeg > 0 ? '+' : ''}${figure(turnedDeg, 2)}°`;
  // `iconYaw` is not a heading, so it is not called turned.
  const bare = turnedDeg === 0 ? `${field}, written differently` : field;
  const what = angle === null ? bare : field === 'yaw' ? `turned ${angle}` : `iconYaw ${angle}`;
  return { what, before: short(fromJson), after: short(toJson) };
}

function metres(value: number): string {
  return value < 0.001 ? 'less than 0.001 m' : `${figure(value, 3)} m`;
}

function short(json: string | null): string {
  return json === null ? NOTHING : shorten(json, MAX_CHARS);
}
