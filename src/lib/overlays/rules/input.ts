import type { Basis, Mark } from '../../evidence/index.ts';
import type { ChargerPair, CodeBook, Feature, MapFrame, Overlays, Shape } from '../model.ts';
import type { OverlayRuleId } from './table.ts';

export type PointFeature = Feature & { readonly shape: Extract<Shape, { kind: 'point' }> };
export type ZoneFeature = Feature & { readonly shape: Extract<Shape, { kind: 'zone' }> };

/** The input of every rule. */
export interface RuleInput {
  readonly overlays: Overlays;
  /** The features with a valid geometry, by shape. */
  readonly points: readonly PointFeature[];
  readonly zones: readonly ZoneFeature[];
  readonly frame: MapFrame | null;
  readonly codeBook: CodeBook;
  readonly pairs: readonly ChargerPair[];
  /** Limit of steps of a check whose work can grow faster than the map. */
  readonly steps: number;
  readonly report: Report;
}

/** An evidence mark with its basis. */
export interface MarkWithBasis {
  readonly mark: Mark;
  readonly basis: Basis;
}

/**
 * Records one finding. `features` are indices in the collection. `detail` is called only when it is shown. `mark`
 * replaces the mark of the rule's fact.
 */
export type Report = (
  rule: OverlayRuleId,
  features: readonly number[],
  detail: () => string,
  mark?: MarkWithBasis | undefined,
) => void;

/** The features by shape, for rules that check some of them only. */
export function byShape(features: readonly Feature[]): Pick<RuleInput, 'points' | 'zones'> {
  const points: PointFeature[] = [];
  const zones: ZoneFeature[] = [];
  for (const feature of features) {
    if (feature.shape.kind === 'point') points.push(feature as PointFeature);
    else if (feature.shape.kind === 'zone') zones.push(feature as ZoneFeature);
  }
  return { points, zones };
}

/** The remaining steps of a check. */
export interface Budget {
  /** Subtracts steps; false once none are left. */
  spend(steps: number): boolean;
  readonly isSpent: boolean;
}

export function createBudget(steps: number): Budget {
  let left = steps;
  return {
    spend: (spent) => {
      left -= spent;
      return left >= 0;
    },
    get isSpent() {
      return left < 0;
    },
  };
}

/** The feature with an index in the collection. Entries that are not features leave gaps, so positions differ. */
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
