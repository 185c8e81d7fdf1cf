import { distanceBetweenM, isClosed, lengthOfLaneM, placesOf } from '../geometry.ts';
import type { Feature, Place, Shape } from '../model.ts';
import { itemsOf, jsonOf, kindOf, membersOf, type Span, sameValues } from '../read/json-source.ts';
import { areaOfZoneM2 } from '../rules/rings.ts';
import type { ShapeChange } from '../schemas.ts';

type FirstDifference = NonNullable<ShapeChange['first']>;

/** Deeper values are reported as a whole, since the search recurses. */
const MAX_DEPTH = 50;

type Part = readonly [key: string, was: Span | undefined, is: Span | undefined];

/** A geometry as parsed and as JSON source. */
export interface WrittenShape {
  readonly feature: Feature | null;
  /** The member `geometry`; undefined when missing. */
  readonly span: Span | undefined;
}

/**
 * The difference of two geometries: place, form, size, direction. Where none of these differs, `first` is the first
 * difference of the texts.
 */
export function shapeChange(from: WrittenShape, to: WrittenShape): ShapeChange {
  const [was, is] = [from.feature?.shape, to.feature?.shape];
  const corners = { was: was ? cornersOf(was) : [], is: is ? cornersOf(is) : [] };
  const match = was && is ? matchOf(was, is) : null;
  const middle = { was: middleOf(corners.was), is: middleOf(corners.is) };
  const largestShiftM = match === null || !Number.isFinite(match.shiftM) ? null : match.shiftM;
  const movedM =
    middle.was === null || middle.is === null
      ? null
      : // Sums of the same corners in another order differ by rounding.
        largestShiftM === 0
        ? 0
        : finite(distanceBetweenM(middle.was, middle.is));
  const isReversed = match?.isOppositeOrder === true && was?.kind === 'lane';
  const isExplained = isReversed || (largestShiftM ?? movedM ?? 0) > 0 || corners.was.length !== corners.is.length;
  return {
    fromType: geometryType(from.feature),
    toType: geometryType(to.feature),
    movedM,
    largestShiftM,
    isMovedAsWhole: match !== null && match.vector !== null && (movedM ?? 0) > 0,
    fromCorners: corners.was.length === 0 ? null : corners.was.length,
    toCorners: corners.is.length === 0 ? null : corners.is.length,
    fromLengthM: was?.kind === 'lane' ? finite(lengthOfLaneM(was)) : null,
    toLengthM: is?.kind === 'lane' ? finite(lengthOfLaneM(is)) : null,
    fromAreaM2: was?.kind === 'zone' ? finite(areaOfZoneM2(was)) : null,
    toAreaM2: is?.kind === 'zone' ? finite(areaOfZoneM2(is)) : null,
    isReversed,
    isRewound: match !== null && was?.kind === 'zone' && (match.isOppositeOrder || match.isShifted),
    first: isExplained || from.span === undefined || to.span === undefined ? null : firstDifference(from.span, to.span),
  };
}

/** The first difference of two JSON values, in the order of the first one; null when they are equal. */
function firstDifference(from: Span, to: Span): FirstDifference | null {
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

const typeOfKind = { point: 'Point', lane: 'LineString', zone: 'Polygon' } as const;

function geometryType(feature: Feature | null): string | null {
  if (feature === null) return null;
  const { shape } = feature;
  if (shape.kind === 'other') return shape.type;
  if (shape.kind === 'zone' && shape.parts !== undefined) return 'MultiPolygon';
  if (shape.kind === 'lane' && shape.isMulti === true) return 'MultiLineString';
  if (shape.kind === 'point' && shape.places !== undefined) return 'MultiPoint';
  return typeOfKind[shape.kind === 'broken' ? shape.expected : shape.kind];
}

/** The corners of a feature, rings without their closing corner; empty when it has none. */
export function cornersOf(shape: Shape): readonly Place[] {
  switch (shape.kind) {
    case 'point':
    case 'lane':
      return placesOf(shape);
    case 'zone':
      return shape.rings.length === 1 ? withoutClosing(shape.rings[0] ?? []) : shape.rings.flatMap(withoutClosing);
    case 'other':
    case 'broken':
      return [];
  }
}

function withoutClosing(ring: readonly Place[]): readonly Place[] {
  return isClosed(ring) ? ring.slice(0, -1) : ring;
}

/** The mean of the corners; null without corners, or when out of range. */
export function middleOf(corners: readonly Place[]): Place | null {
  let x = 0;
  let y = 0;
  for (const [xM, yM] of corners) {
    x += xM;
    y += yM;
  }
  const middle: Place = [x / corners.length, y / corners.length];
  return Number.isFinite(middle[0]) && Number.isFinite(middle[1]) ? middle : null;
}

/** An assignment of the corners of both sides, with their displacement. */
interface Match {
  /** Largest displacement; Infinity when out of range. */
  readonly shiftM: number;
  /** The corners are in opposite order. */
  readonly isOppositeOrder: boolean;
  /** A ring starts at another corner. */
  readonly isShifted: boolean;
  /** The common displacement vector; null when the corners moved differently. */
  readonly vector: Place | null;
}

/** null when the corners cannot be assigned one by one: another kind or number of corners. */
function matchOf(was: Shape, is: Shape): Match | null {
  if (was.kind === 'point' && is.kind === 'point') return matchSequence(placesOf(was), placesOf(is), null);
  if (was.kind === 'lane' && is.kind === 'lane') return matchParts(was.lines, is.lines, 'line');
  if (was.kind !== 'zone' || is.kind !== 'zone') return null;
  return matchParts(was.rings.map(withoutClosing), is.rings.map(withoutClosing), 'ring');
}

type Sequence = readonly Place[];

/** The lines or rings of both sides in their order. */
function matchParts(was: readonly Sequence[], is: readonly Sequence[], kind: 'line' | 'ring'): Match | null {
  if (was.length !== is.length) return null;
  const matches: Match[] = [];
  for (const [at, part] of was.entries()) {
    const one = matchSequence(part, is[at] ?? [], kind);
    if (one === null) return null;
    matches.push(one);
  }
  const [outline] = matches;
  if (outline === undefined) return null;
  return {
    shiftM: Math.max(...matches.map(({ shiftM }) => shiftM)),
    isOppositeOrder: matches.some(({ isOppositeOrder }) => isOppositeOrder),
    isShifted: matches.some(({ isShifted }) => isShifted),
    // A part that did not move with the others, such as a hole, changes the form.
    vector: matches.every(({ vector }) => isSameVector(vector, outline.vector)) ? outline.vector : null,
  };
}

/** Up to this number of corners every starting corner of a ring is tried. */
const MAX_TRIED_CORNERS = 64;

/**
 * The assignment of two sequences of corners with the smallest maximum displacement: a line may be reversed, a ring may
 * also start elsewhere. The written order wins a tie.
 */
function matchSequence(was: readonly Place[], is: readonly Place[], kind: 'line' | 'ring' | null): Match | null {
  const count = was.length;
  if (count !== is.length || count === 0) return null;
  let best = { shiftM: shiftOf(was, is, 0, 1, Number.POSITIVE_INFINITY), start: 0, step: 1 };
  const attempt = (start: number, step: 1 | -1) => {
    const shiftM = shiftOf(was, is, start, step, best.shiftM);
    if (shiftM < best.shiftM) best = { shiftM, start, step };
  };
  if (kind === 'line') attempt(count - 1, -1);
  if (kind === 'ring') {
    for (let start = 0; start < count && best.shiftM > 0; start += 1) {
      // For larger rings only a starting corner that did not move is tried.
      if (count > MAX_TRIED_CORNERS && !isSamePlace(was[0], is[start])) continue;
      attempt(start, 1);
      attempt(start, -1);
    }
  }
  const { shiftM, start, step } = best;
  const isOpposite = step === -1;
  return {
    shiftM,
    isOppositeOrder: isOpposite,
    isShifted: kind === 'ring' && start !== (isOpposite ? count - 1 : 0),
    vector: isOpposite ? null : vectorOf(was, is, start),
  };
}

/** Infinity as soon as a displacement reaches `limit`. */
function shiftOf(was: readonly Place[], is: readonly Place[], start: number, step: number, limit: number): number {
  const count = was.length;
  let largest = 0;
  let at = start;
  for (const corner of was) {
    const other = is[at];
    const shift = other === undefined ? Number.POSITIVE_INFINITY : distanceBetweenM(corner, other);
    if (!(shift < limit)) return Number.POSITIVE_INFINITY;
    if (shift > largest) largest = shift;
    at = (at + step + count) % count;
  }
  return largest;
}

/** Rounding noise of the subtraction of coordinates. */
const VECTOR_TOLERANCE_M = 1e-9;

function vectorOf(was: readonly Place[], is: readonly Place[], start: number): Place | null {
  const [first, other] = [was[0], is[start]];
  if (first === undefined || other === undefined) return null;
  const vector: Place = [other[0] - first[0], other[1] - first[1]];
  const isCommon = was.every(([xM, yM], i) => {
    const to = is[(start + i) % is.length];
    return to !== undefined && isSameVector([to[0] - xM, to[1] - yM], vector);
  });
  return isCommon ? vector : null;
}

function isSameVector(a: Place | null, b: Place | null): boolean {
  return a !== null && b !== null && distanceBetweenM(a, b) <= VECTOR_TOLERANCE_M;
}

function isSamePlace(a: Place | undefined, b: Place | undefined): boolean {
  return a !== undefined && b !== undefined && a[0] === b[0] && a[1] === b[1];
}

function finite(value: number | null): number | null {
  return Number.isFinite(value) ? value : null;
}
