import type { Basis, Mark } from '../../evidence/index.ts';
import type { ChargerPair, CodeBook, Feature, MapFrame, Overlays, Shape } from '../model.ts';
import type { OverlayRuleId } from './table.ts';

export type PointFeature = Feature & { readonly shape: Extract<Shape, { kind: 'point' }> };
export type ZoneFeature = Feature & { readonly shape: Extract<Shape, { kind: 'zone' }> };

/** What every rule is given. */
export interface RuleInput {
  readonly overlays: Overlays;
  /** Those of the features that have a place, by their shape. */
  readonly points: readonly PointFeature[];
  readonly zones: readonly ZoneFeature[];
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
 * Takes one finding down. `features` are their places in the collection. `detail` is only asked for when it is shown.
 * `standing` where the finding knows better than the fact of its rule.
 */
export type Report = (
  rule: OverlayRuleId,
  features: readonly number[],
  detail: () => string,
  standing?: Standing | undefined,
) => void;

/** Sorts the features for rules that only look at some of them. */
export function byShape(features: readonly Feature[]): Pick<RuleInput, 'points' | 'zones'> {
  const points: PointFeature[] = [];
  const zones: ZoneFeature[] = [];
  for (const feature of features) {
    if (feature.shape.kind === 'point') points.push(feature as PointFeature);
    else if (feature.shape.kind === 'zone') zones.push(feature as ZoneFeature);
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

/** The feature at a place of the collection. Entries that are no features leave gaps, so it is not simply the n-th. */
export function featureAt(features: readonly Feature[], index: number): Feature | undefined {
  let low = 0;
  let high = Math.min(index, features.length - 1);
  while (low <= high) {
    const middle = (low + high) >> 1;
    const feature = features[middle];
    if (feature === undefined || feature.index === index) return feature;
    if (feature.index < index) low = middle + 1;
    else high = middle - 1;
  }
  return undefined;
}
