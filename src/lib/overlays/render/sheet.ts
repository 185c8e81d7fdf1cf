import { extentOf } from '../frame.ts';
import { type Bounds, boundsOf } from '../geometry.ts';
import type { Feature, MapFrame } from '../model.ts';

/** Metres. A place farther out is on no floor, and its figures would spoil those of the others. */
const FARTHEST_M = 1_000_000;
/** How much paper there is around the features, as a part of their extent, and at least in metres. */
const MARGIN = 0.08;
const LEAST_MARGIN_M = 0.6;
/** No map is shown so large that one feature fills it: at least this many metres are on the sheet. */
const LEAST_EXTENT_M = 5;

/** Where metres come to lie on paper. Units of paper: y downwards, as pictures have it. */
export interface Sheet {
  readonly area: Bounds;
  readonly width: number;
  readonly height: number;
  readonly unitsPerM: number;
  x(xM: number): number;
  y(yM: number): number;
  /** Where the picture of the map lies on paper; null without one. */
  readonly picture: { readonly x: number; readonly y: number; readonly width: number; readonly height: number } | null;
  /** Features with a place that lies off the paper. */
  readonly beyond: readonly Feature[];
}

/** What is to be shown. `isPart`: a filter chose the features, so the sheet shows them and not the whole map. */
export interface Subject {
  readonly features: readonly Feature[];
  readonly frame: MapFrame | null;
  readonly isPart: boolean;
}

/**
 * Chooses the part of the map that is shown: the whole picture and what lies around it; only the features and some
 * paper around them where a filter chose some, or where there is no picture. A few features that lie far from all
 * others do not shrink the rest to a dot: they are listed as lying beyond the sheet.
 */
export function layOut(
  { features, frame, isPart }: Subject,
  most: { readonly longSide: number; readonly shortSide: number },
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
  const [width, height] = across >= up ? [most.longSide, most.shortSide] : [most.shortSide, most.longSide];
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
    // Features just outside the picture are shown where they lie; those farther out are listed.
    const reach = within(picture, 0.12 * Math.max(picture.maxXM - picture.minXM, picture.maxYM - picture.minYM));
    const near = boxes.filter((box) => contains(reach, box) && !contains(picture, box));
    if (near.length === 0) return picture;
    return join(picture, within(around(near), LEAST_MARGIN_M));
  }
  const usual = boxes.length === 0 ? { minXM: 0, minYM: 0, maxXM: 0, maxYM: 0 } : around(usualOf(boxes));
  const extent = Math.max(usual.maxXM - usual.minXM, usual.maxYM - usual.minYM);
  return atLeast(within(usual, Math.max(LEAST_MARGIN_M, MARGIN * extent)), LEAST_EXTENT_M);
}

/** The boxes without those far from the rest: beyond twice the span of the middle nine tenths. */
function usualOf(boxes: readonly Bounds[]): readonly Bounds[] {
  const span = (values: number[]) => {
    const sorted = Float64Array.from(values).sort();
    const low = sorted[Math.floor(0.05 * (sorted.length - 1))] ?? 0;
    const high = sorted[Math.ceil(0.95 * (sorted.length - 1))] ?? 0;
    const slack = 2 * (high - low) + LEAST_EXTENT_M;
    return { low: low - slack, high: high + slack };
  };
  if (boxes.length < 10) {
    // Too few to call one of them the odd one out, unless it is absurd.
    const sane = boxes.filter((box) => farthest(box) <= 10_000);
    return sane.length > 0 ? sane : boxes;
  }
  const across = span(boxes.map((box) => (box.minXM + box.maxXM) / 2));
  const up = span(boxes.map((box) => (box.minYM + box.maxYM) / 2));
  const usual = boxes.filter(
    (box) => box.minXM >= across.low && box.maxXM <= across.high && box.minYM >= up.low && box.maxYM <= up.high,
  );
  return usual.length > 0 ? usual : boxes;
}

/** The box around a feature; null when it has no places, or absurd ones. */
function boxOf({ shape }: Feature): Bounds | null {
  const box = boundsOf(shape);
  return box !== null && farthest(box) <= FARTHEST_M ? box : null;
}

function farthest({ minXM, minYM, maxXM, maxYM }: Bounds): number {
  return Math.max(Math.abs(minXM), Math.abs(minYM), Math.abs(maxXM), Math.abs(maxYM));
}

function around(boxes: readonly Bounds[]): Bounds {
  return boxes.reduce(join);
}

function join(a: Bounds, b: Bounds): Bounds {
  return {
    minXM: Math.min(a.minXM, b.minXM),
    minYM: Math.min(a.minYM, b.minYM),
    maxXM: Math.max(a.maxXM, b.maxXM),
    maxYM: Math.max(a.maxYM, b.maxYM),
  };
}

function within(area: Bounds, marginM: number): Bounds {
  return {
    minXM: area.minXM - marginM,
    minYM: area.minYM - marginM,
    maxXM: area.maxXM + marginM,
    maxYM: area.maxYM + marginM,
  };
}

/** Widened evenly until it is that large, and no thinner than a third of its length: a corridor keeps some paper. */
function atLeast(area: Bounds, leastM: number): Bounds {
  const [across, up] = [area.maxXM - area.minXM, area.maxYM - area.minYM];
  const addX = Math.max(0, leastM - across, up / 3 - across) / 2;
  const addY = Math.max(0, leastM - up, across / 3 - up) / 2;
  return { minXM: area.minXM - addX, minYM: area.minYM - addY, maxXM: area.maxXM + addX, maxYM: area.maxYM + addY };
}

function contains(a: Bounds, b: Bounds): boolean {
  return b.minXM >= a.minXM && b.maxXM <= a.maxXM && b.minYM >= a.minYM && b.maxYM <= a.maxYM;
}

function meets(a: Bounds, b: Bounds): boolean {
  return a.minXM <= b.maxXM && a.maxXM >= b.minXM && a.minYM <= b.maxYM && a.maxYM >= b.minYM;
}
