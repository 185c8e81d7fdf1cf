import type { Basis, Mark } from '../../evidence/index.ts';
import type { ChargerPair, CodeBook, Drawing, MapFrame, Overlays, Shape } from '../model.ts';
import type { OverlayRuleId } from './table.ts';

export type PointDrawing = Drawing & { readonly shape: Extract<Shape, { kind: 'point' }> };
export type ZoneDrawing = Drawing & { readonly shape: Extract<Shape, { kind: 'zone' }> };

/** What every rule is given. */
export interface RuleInput {
  readonly overlays: Overlays;
  /** Those of the drawings that have a place, by their shape. */
  readonly points: readonly PointDrawing[];
  readonly zones: readonly ZoneDrawing[];
  readonly frame: MapFrame | null;
  readonly codeBook: CodeBook;
  readonly pairs: readonly ChargerPair[];
  /** Steps that a check may take whose work can grow faster than the map. */
  readonly steps: number;
  readonly report: Report;
}

/** How well a thing is known, and on what that rests. */
export interface Standing {
  readonly mark: Mark;
  readonly basis: Basis;
}

/**
 * Takes one finding down. `drawings` are their places in the collection. `detail` is only asked for when it is shown.
 * `standing` where the finding knows better than the fact of its rule.
 */
export type Report = (
  rule: OverlayRuleId,
  drawings: readonly number[],
  detail: () => string,
  standing?: Standing | undefined,
) => void;

/** Sorts the drawings for rules that only look at some of them. */
export function byShape(drawings: readonly Drawing[]): Pick<RuleInput, 'points' | 'zones'> {
  const points: PointDrawing[] = [];
  const zones: ZoneDrawing[] = [];
  for (const drawing of drawings) {
    if (drawing.shape.kind === 'point') points.push(drawing as PointDrawing);
    else if (drawing.shape.kind === 'zone') zones.push(drawing as ZoneDrawing);
  }
  return { points, zones };
}

/** Counts the steps of a check down. */
export interface Budget {
  /** Takes steps; false when there are none left, and from then on. */
  take(steps: number): boolean;
  readonly isSpent: boolean;
}

export function createBudget(steps: number): Budget {
  let left = steps;
  return {
    take: (taken) => {
      left -= taken;
      return left >= 0;
    },
    get isSpent() {
      return left < 0;
    },
  };
}

/** The drawing at a place of the collection. Entries that are no drawings leave gaps, so it is not simply the n-th. */
export function drawingAt(drawings: readonly Drawing[], index: number): Drawing | undefined {
  let low = 0;
  let high = Math.min(index, drawings.length - 1);
  while (low <= high) {
    const middle = (low + high) >> 1;
    const drawing = drawings[middle];
    if (drawing === undefined || drawing.index === index) return drawing;
    if (drawing.index < index) low = middle + 1;
    else high = middle - 1;
  }
  return undefined;
}
