import type { DeviceEvidence } from '../../evidence/index.ts';
import { createCodeBook } from '../codes.ts';
import type { Inspection, MapFrame, Overlays } from '../model.ts';
import { findFaults } from '../rules/faults.ts';
import { chargerPairs } from './chargers.ts';
import { type FeatureFilter, isFiltering, selectFeatures, selectFindings } from './select.ts';
import { surveyOf } from './survey.ts';

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
