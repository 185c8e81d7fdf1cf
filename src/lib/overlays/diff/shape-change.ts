import { distanceBetweenM, isClosed, lengthM, zoneAreaM2 } from '../geometry.ts';
import type { Feature, Place, Shape } from '../model.ts';
import type { Span } from '../read/json-source.ts';
import type { ShapeChange } from './diff-model.ts';
import { firstDifference } from './first-difference.ts';

/** A geometry as it is written and as it is understood. */
export interface WrittenShape {
  readonly feature: Feature | null;
  /** The member `geometry`; undefined when there is none. */
  readonly span: Span | undefined;
}

/**
 * What differs between two geometries that are written differently: place, form, size, direction. Where nothing of
 * these says it, `first` names the first place at which the texts differ.
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
      : // Sums of the same corners in another order differ in their last digit.
        largestShiftM === 0
        ? 0
        : finite(distanceBetweenM(middle.was, middle.is));
  const isReversed = match?.isTurnedRound === true && was?.kind === 'lane';
  const tells = isReversed || (largestShiftM ?? movedM ?? 0) > 0 || corners.was.length !== corners.is.length;
  return {
    fromType: geometryType(from.feature),
    toType: geometryType(to.feature),
    movedM,
    largestShiftM,
    isMovedAsWhole: match !== null && match.way !== null && (movedM ?? 0) > 0,
    fromCorners: corners.was.length === 0 ? null : corners.was.length,
    toCorners: corners.is.length === 0 ? null : corners.is.length,
    fromLengthM: was?.kind === 'lane' ? finite(lengthM(was.line)) : null,
    toLengthM: is?.kind === 'lane' ? finite(lengthM(is.line)) : null,
    fromAreaM2: was?.kind === 'zone' ? finite(zoneAreaM2(was.rings)) : null,
    toAreaM2: is?.kind === 'zone' ? finite(zoneAreaM2(is.rings)) : null,
    isReversed,
    isRewound: match !== null && was?.kind === 'zone' && (match.isTurnedRound || match.isShifted),
    first: tells || from.span === undefined || to.span === undefined ? null : firstDifference(from.span, to.span),
  };
}

const typeOfKind = { point: 'Point', lane: 'LineString', zone: 'Polygon' } as const;

function geometryType(feature: Feature | null): string | null {
  if (feature === null) return null;
  const { shape } = feature;
  if (shape.kind === 'other') return shape.type;
  return typeOfKind[shape.kind === 'broken' ? shape.expected : shape.kind];
}

/** The corners of a feature, rings without their repeated last corner. Empty when there are none to speak of. */
export function cornersOf(shape: Shape): readonly Place[] {
  switch (shape.kind) {
    case 'point':
      return [shape.at];
    case 'lane':
      return shape.line;
    case 'zone':
      return shape.rings.length === 1 ? withoutRepeat(shape.rings[0] ?? []) : shape.rings.flatMap(withoutRepeat);
    case 'other':
    case 'broken':
      return [];
  }
}

function withoutRepeat(ring: readonly Place[]): readonly Place[] {
  return isClosed(ring) ? ring.slice(0, -1) : ring;
}

/** The mean of the corners; null without corners, or where they are too far out for a mean. */
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

/** Which corner is which, and how far each has moved. */
interface Match {
  /** Of the corner that moved most; Infinity where it is too far for a number. */
  readonly shiftM: number;
  /** The corners run the other way. */
  readonly isTurnedRound: boolean;
  /** A ring begins at another corner. */
  readonly isShifted: boolean;
  /** The vector by which every corner moved; null when they moved by different ones. */
  readonly way: Place | null;
}

/** null when the corners of the two cannot be told one by one: another kind, or another number of corners. */
function matchOf(was: Shape, is: Shape): Match | null {
  if (was.kind === 'point' && is.kind === 'point') return matchRun([was.at], [is.at], null);
  if (was.kind === 'lane' && is.kind === 'lane') return matchRun(was.line, is.line, 'line');
  if (was.kind !== 'zone' || is.kind !== 'zone' || was.rings.length !== is.rings.length) return null;
  const matches: Match[] = [];
  for (const [i, ring] of was.rings.entries()) {
    const one = matchRun(withoutRepeat(ring), withoutRepeat(is.rings[i] ?? []), 'ring');
    if (one === null) return null;
    matches.push(one);
  }
  const [outline] = matches;
  if (outline === undefined) return null;
  return {
    shiftM: Math.max(...matches.map(({ shiftM }) => shiftM)),
    isTurnedRound: matches.some(({ isTurnedRound }) => isTurnedRound),
    isShifted: matches.some(({ isShifted }) => isShifted),
    // A hole that stayed where it was in a zone that moved is another form.
    way: matches.every(({ way }) => isSameWay(way, outline.way)) ? outline.way : null,
  };
}

/** Up to so many corners every beginning of a ring is tried. */
const MOST_TRIED = 64;

/**
 * The reading of two runs of corners in which the farthest corner moved least: a line may run the other way, a ring
 * may also begin elsewhere. As it is written wins a tie.
 */
function matchRun(was: readonly Place[], is: readonly Place[], kind: 'line' | 'ring' | null): Match | null {
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
      // Of a ring with very many corners only a beginning that did not move is found.
      if (count > MOST_TRIED && !isSamePlace(was[0], is[start])) continue;
      attempt(start, 1);
      attempt(start, -1);
    }
  }
  const { shiftM, start, step } = best;
  const turned = step === -1;
  return {
    shiftM,
    isTurnedRound: turned,
    isShifted: kind === 'ring' && start !== (turned ? count - 1 : 0),
    way: turned ? null : wayOf(was, is, start),
  };
}

/** Infinity as soon as a corner is not nearer than `most`. */
function shiftOf(was: readonly Place[], is: readonly Place[], start: number, step: number, most: number): number {
  const count = was.length;
  let largest = 0;
  let at = start;
  for (const corner of was) {
    const other = is[at];
    const shift = other === undefined ? Number.POSITIVE_INFINITY : distanceBetweenM(corner, other);
    if (!(shift < most)) return Number.POSITIVE_INFINITY;
    if (shift > largest) largest = shift;
    at = (at + step + count) % count;
  }
  return largest;
}

/** Noise of the subtraction of coordinates as a floor has them. */
const SAME_WAY_M = 1e-9;

function wayOf(was: readonly Place[], is: readonly Place[], start: number): Place | null {
  const [first, other] = [was[0], is[start]];
  if (first === undefined || other === undefined) return null;
  const way: Place = [other[0] - first[0], other[1] - first[1]];
  const isCommon = was.every(([xM, yM], i) => {
    const to = is[(start + i) % is.length];
    return to !== undefined && isSameWay([to[0] - xM, to[1] - yM], way);
  });
  return isCommon ? way : null;
}

function isSameWay(a: Place | null, b: Place | null): boolean {
  return a !== null && b !== null && distanceBetweenM(a, b) <= SAME_WAY_M;
}

function isSamePlace(a: Place | undefined, b: Place | undefined): boolean {
  return a !== undefined && b !== undefined && a[0] === b[0] && a[1] === b[1];
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
