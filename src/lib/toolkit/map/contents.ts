import { GwError } from '../../error/index.ts';
import { type Basis, citeFact, type FactId, type Mark } from '../../evidence/index.ts';
import { type ArchivedMap, damagedName, type UnreadMap } from '../../maps/index.ts';
import { readOverlays } from '../../overlays/index.ts';
import type { DamagedMapView, MapOverlays } from './map.result.ts';

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

export function viewDamaged(map: UnreadMap): DamagedMapView {
  const { entry, id, uid, name, why } = map;
  return { entry, id, uid, name, called: damagedName(map), why };
}

/** The fact behind each field of a map, and its unit. */
const readings = {
  serial: { fact: 'vendor.identity.device-info' },
  model: { fact: 'vendor.identity.device-info' },
  software: { fact: 'vendor.software-version' },
  id: { fact: 'overlays.map-id' },
  uid: { fact: 'vendor.map.list' },
  name: { fact: 'vendor.map.list' },
  mapVersion: { fact: 'vendor.map.list' },
  overlaysVersion: { fact: 'overlays.version' },
  isCurrent: { fact: 'vendor.current-map' },
  originXM: { fact: 'vendor.map.grid', unit: 'm' },
  originYM: { fact: 'vendor.map.grid', unit: 'm' },
  resolutionM: { fact: 'vendor.map.grid', unit: 'm per pixel' },
  data: { fact: 'overlays.map-data' },
  localisation: { fact: 'vendor.map.localisation' },
  picture: { fact: 'vendor.map.image', unit: 'pixels' },
  overlays: { fact: 'overlays.features' },
} as const satisfies Record<string, { readonly fact: FactId; readonly unit?: string }>;

type MapField = keyof typeof readings;

/** Fields of the list of maps and of the chassis. */
export const listedFields = [
  'serial',
  'software',
  'model',
  'id',
  'uid',
  'name',
  'mapVersion',
  'overlaysVersion',
  'isCurrent',
] as const satisfies readonly MapField[];

/** Evidence marks of these fields, once per table instead of per cell. */
export function evidenceOfFields(
  fields: readonly MapField[],
): Record<string, { readonly mark: Mark; readonly basis: Basis; readonly source: string; readonly unit?: string }> {
  return Object.fromEntries(
    fields.map((field) => {
      const reading: { readonly fact: FactId; readonly unit?: string } = readings[field];
      return [field, citeFact(reading.fact, reading.unit)];
    }),
  );
}
