import { extentOf } from '../../frame.ts';
import { type Bounds, boundsOf, joinBounds } from '../../geometry.ts';
import type { Feature, MapFrame } from '../../model.ts';

/** In metres. Places farther out are not part of a building and are left out. */
const MAX_DISTANCE_M = 1_000_000;
/** Margin around the features as a fraction of their extent, and its minimum in metres. */
const MARGIN = 0.08;
const MIN_MARGIN_M = 0.6;
/** Minimum extent of the sheet in metres, so that one feature does not fill it. */
const MIN_EXTENT_M = 5;

/** The projection from metres to units of paper, with y downwards. */
export interface Sheet {
  readonly area: Bounds;
  readonly width: number;
  readonly height: number;
  readonly unitsPerM: number;
  x(xM: number): number;
  y(yM: number): number;
  /** Position of the map's picture on paper; null without one. */
  readonly picture: { readonly x: number; readonly y: number; readonly width: number; readonly height: number } | null;
  /** Features with a place outside the paper. */
  readonly beyond: readonly Feature[];
}

/** The features to show. `isPart`: selected by a filter, so the sheet shows their area and not the whole map. */
export interface Subject {
  readonly features: readonly Feature[];
  readonly frame: MapFrame | null;
  readonly isPart: boolean;
}

/**
 * Chooses the area of the map to show: the whole picture and its surroundings; only the features with a margin where a
 * filter selected them, or without a picture. A few outliers far from all others are listed as beyond the sheet instead
 * of shrinking the rest.
 */
export function layOut(
  { features, frame, isPart }: Subject,
  max: { readonly longSide: number; readonly shortSide: number },
): Sheet {
  const placed: Feature[] = [];
  const boxes: Bounds[] = [];
  for (const feature of features) {
    const box = boxOf(feature);
    if (box === null) continue;
    placed.push(feature);
    boxes.push(box);
  }
  const picture = extentOf(frame);
  const area = chooseArea(boxes, picture, isPart && boxes.length > 0);
  const [across, up] = [area.maxXM - area.minXM, area.maxYM - area.minYM];
  const [width, height] = across >= up ? [max.longSide, max.shortSide] : [max.shortSide, max.longSide];
  const unitsPerM = Math.min(width / across, height / up);
  const x = (xM: number) => (xM - area.minXM) * unitsPerM;
  const y = (yM: number) => (area.maxYM - yM) * unitsPerM;
  return {
    area,
    width: across * unitsPerM,
    height: up * unitsPerM,
    unitsPerM,
    x,
    y,
    picture: picture && {
      x: x(picture.minXM),
      y: y(picture.maxYM),
      width: (picture.maxXM - picture.minXM) * unitsPerM,
      height: (picture.maxYM - picture.minYM) * unitsPerM,
    },
    beyond: placed.filter((_, at) => {
      const box = boxes[at];
      return box !== undefined && !meets(box, area);
    }),
  };
}

function chooseArea(boxes: readonly Bounds[], picture: Bounds | null, isFiltered: boolean): Bounds {
  if (picture && !isFiltered) {
    // Features just outside the picture are shown, those farther out are listed.
    const reach = within(picture, 0.12 * Math.max(picture.maxXM - picture.minXM, picture.maxYM - picture.minYM));
    const near = boxes.filter((box) => contains(reach, box) && !contains(picture, box));
    if (near.length === 0) return picture;
    return joinBounds(picture, within(near.reduce(joinBounds), MIN_MARGIN_M));
  }
  const usual = boxes.length === 0 ? { minXM: 0, minYM: 0, maxXM: 0, maxYM: 0 } : usualOf(boxes).reduce(joinBounds);
  const extent = Math.max(usual.maxXM - usual.minXM, usual.maxYM - usual.minYM);
  return atLeast(within(usual, Math.max(MIN_MARGIN_M, MARGIN * extent)), MIN_EXTENT_M);
}

/** The boxes without outliers: beyond twice the span of the middle nine tenths. */
function usualOf(boxes: readonly Bounds[]): readonly Bounds[] {
  const span = (values: number[]) => {
    const sorted = Float64Array.from(values).sort();
    const low = sorted[Math.floor(0.05 * (sorted.length - 1))] ?? 0;
    const high = sorted[Math.ceil(0.95 * (sorted.length - 1))] ?? 0;
    const slack = 2 * (high - low) + MIN_EXTENT_M;
    return { low: low - slack, high: high + slack };
  };
  if (boxes.length < 10) {
    // Too few for outliers, apart from absurd values.
    const plausible = boxes.filter((box) => farthest(box) <= 10_000);
    return plausible.length > 0 ? plausible : boxes;
  }
  const across = span(boxes.map((box) => (box.minXM + box.maxXM) / 2));
  const up = span(boxes.map((box) => (box.minYM + box.maxYM) / 2));
  const usual = boxes.filter(
    (box) => box.minXM >= across.low && box.maxXM <= across.high && box.minYM >= up.low && box.maxYM <= up.high,
  );
  return usual.length > 0 ? usual : boxes;
}

/** The box around a feature; null without places or with absurd ones. */
function boxOf({ shape }: Feature): Bounds | null {
  const box = boundsOf(shape);
  return box !== null && farthest(box) <= MAX_DISTANCE_M ? box : null;
}

function farthest({ minXM, minYM, maxXM, maxYM }: Bounds): number {
  return Math.max(Math.abs(minXM), Math.abs(minYM), Math.abs(maxXM), Math.abs(maxYM));
}

function within(area: Bounds, marginM: number): Bounds {
  return {
    minXM: area.minXM - marginM,
    minYM: area.minYM - marginM,
    maxXM: area.maxXM + marginM,
    maxYM: area.maxYM + marginM,
  };
}

/** Widened evenly to a minimum size and an aspect ratio of at most 3 : 1. */
function atLeast(area: Bounds, minM: number): Bounds {
  const [across, up] = [area.maxXM - area.minXM, area.maxYM - area.minYM];
  const addX = Math.max(0, minM - across, up / 3 - across) / 2;
  const addY = Math.max(0, minM - up, across / 3 - up) / 2;
  return { minXM: area.minXM - addX, minYM: area.minYM - addY, maxXM: area.maxXM + addX, maxYM: area.maxYM + addY };
}

function contains(a: Bounds, b: Bounds): boolean {
  return b.minXM >= a.minXM && b.maxXM <= a.maxXM && b.minYM >= a.minYM && b.maxYM <= a.maxYM;
}

function meets(a: Bounds, b: Bounds): boolean {
  return a.minXM <= b.maxXM && a.maxXM >= b.minXM && a.minYM <= b.maxYM && a.maxYM >= b.minYM;
}
