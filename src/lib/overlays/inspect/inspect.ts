import type { DeviceEvidence, Mark } from '../../evidence/index.ts';
import { createCodeBook } from '../codes.ts';
import type {
  ChargerPair,
  CodeBook,
  Feature,
  FeatureKind,
  Inspection,
  MapFrame,
  OverlayFinding,
  Overlays,
  Place,
} from '../model.ts';
import { findFaults } from '../rules/faults.ts';
import { distanceToM } from '../rules/rings.ts';
import type { OverlayRuleId } from '../rules/table.ts';
import { chargerPairs } from './chargers.ts';
import { surveyOf } from './survey.ts';

/** Selectable kinds: a kind by geometry, or the items of charging stations. */
export const selectableKinds = ['point', 'zone', 'lane', 'charger', 'other'] as const;
export type SelectableKind = FeatureKind | 'charger';

/** A feature must pass every filter that is set. */
export interface FeatureFilter {
  readonly kinds?: readonly SelectableKind[] | undefined;
  /** Features with a code whose meaning has this mark. A code that is not a number counts as OFFEN. */
  readonly mark?: Mark | undefined;
  /** Features that intersect this circle, including zones around it. Features without a place are left out. */
  readonly near?: { readonly at: Place; readonly radiusM: number } | undefined;
  /** Features with a finding. */
  readonly withFindings?: boolean | undefined;
}

interface SelectionContext {
  readonly codeBook: CodeBook;
  readonly pairs: readonly ChargerPair[];
  readonly findings: readonly OverlayFinding[];
}

export function isFiltering({ kinds, mark, near, withFindings }: FeatureFilter): boolean {
  return kinds !== undefined || mark !== undefined || near !== undefined || withFindings === true;
}

/** The features that pass, in their order. */
function selectFeatures(
  features: readonly Feature[],
  filter: FeatureFilter,
  { codeBook, pairs, findings }: SelectionContext,
): readonly Feature[] {
  if (!isFiltering(filter)) return features;
  const { kinds, mark, near, withFindings } = filter;
  const chargers = kinds?.includes('charger') ? itemsOf(pairs) : null;
  const withFinding = withFindings === true ? new Set(findings.flatMap((finding) => finding.features)) : null;
  return features.filter(
    (feature) =>
      (withFinding === null || withFinding.has(feature.index)) &&
      (kinds === undefined || kinds.includes(feature.kind) || chargers?.has(feature.index) === true) &&
      (mark === undefined || hasMark(feature, mark, codeBook)) &&
      (near === undefined || isNear(feature, near)),
  );
}

/** Findings on features of which no filter can be sure: their kind, their place or their number is unknown. */
const undecided: ReadonlySet<string> = new Set<OverlayRuleId>([
  ...(['broken-geometry', 'unknown-geometry', 'geometry-elsewhere', 'properties-unread'] as const),
]);

/**
 * The findings on these features. A finding on the map as a whole belongs to every selection where it is wrong or not
 * checked, and so does one on features that the filter may have left out unduly: a selection is no better than the map.
 */
function selectFindings(findings: readonly OverlayFinding[], selected: readonly Feature[]): readonly OverlayFinding[] {
  const indices = new Set(selected.map(({ index }) => index));
  return findings.filter(({ rule, severity, features }) => {
    if (undecided.has(rule) || features.some((index) => indices.has(index))) return true;
    return features.length === 0 && (severity === 'wrong' || severity === 'not-checked');
  });
}

/** Both items of every charging station, and items without a partner. */
function itemsOf(pairs: readonly ChargerPair[]): ReadonlySet<number> {
  return new Set(
    pairs.flatMap(({ charger, dockingPoint }) => [charger, dockingPoint].filter((index) => index !== null)),
  );
}

function hasMark({ codes }: Feature, mark: Mark, codeBook: CodeBook): boolean {
  return codes.some(({ field, number }) => (number === null ? 'OFFEN' : codeBook.meaning(field, number).mark) === mark);
}

function isNear({ shape }: Feature, { at, radiusM }: { readonly at: Place; readonly radiusM: number }): boolean {
  const distanceM = distanceToM(at, shape);
  return distanceM !== null && distanceM <= radiusM;
}

export interface InspectOptions {
  readonly frame: MapFrame | null;
  readonly device: DeviceEvidence | null;
  readonly filter?: FeatureFilter | undefined;
}

/**
 * Inspects a collection: meanings of its codes, charging stations, faults. The whole collection is checked; the filter
 * selects the features and findings shown.
 */
export function inspectOverlays(overlays: Overlays, { frame, device, filter = {} }: InspectOptions): Inspection {
  const codeBook = createCodeBook(device);
  const pairs = chargerPairs(overlays, codeBook);
  const findings = findFaults(overlays, { frame, codeBook, pairs });
  const selected = selectFeatures(overlays.features, filter, { codeBook, pairs, findings });
  return {
    overlays,
    frame,
    selected,
    findings: isFiltering(filter) ? selectFindings(findings, selected) : findings,
    codeBook,
    pairs,
    survey: surveyOf(overlays),
    device,
  };
}
