import { GwError } from '../../../error/index.ts';
import type { ArchivedMap } from '../../../maps/index.ts';
import { readOverlays } from '../../../overlays/index.ts';
import type { MapOverlays } from './map.result.ts';

/** Counts the features of a map by kind. Unreadable overlays are a problem in the result, not an error. */
export function countFeatures({ data, overlays, overlaysForm: form }: ArchivedMap): MapOverlays {
  const count = { point: 0, lane: 0, zone: 0, other: 0 };
  if (overlays === null) return { form, bytes: 0, count, problem: null };
  const bytes = Buffer.byteLength(overlays);
  try {
    for (const { kind } of readOverlays(data, 'map').features) count[kind] += 1;
    return { form, bytes, count, problem: null };
  } catch (error) {
    if (!(error instanceof GwError) || error.code !== 'OVERLAYS_INVALID') throw error;
    return { form, bytes, count: null, problem: error.message };
  }
}
